import { ZkError, type ZkErrorCode } from "@zooid/client";
import { RecipeError } from "@zooid/recipes";
import { describe, expect, test } from "vitest";
import { CliError, usageError } from "./cli-error.ts";
import { errorJson, explainError } from "./explain-error.ts";
import { refusal as refusalOfChange } from "./members/refusal.ts";

function refusal(code: ZkErrorCode, path?: string): ZkError {
  return new ZkError({ code, op: "get", path, outcome: "rejected" });
}

describe("refusals with zkCli's messages, and both statuses", () => {
  test.each<[ZkErrorCode, string, number]>([
    ["NO_NODE", "Node does not exist: /a", 1],
    ["NODE_EXISTS", "Node already exists: /a", 5],
    ["NOT_EMPTY", "Node not empty: /a", 5],
    ["NO_CHILDREN_FOR_EPHEMERALS", "Ephemerals cannot have children: /a", 5],
    ["NO_AUTH", "Insufficient permission : /a", 4],
    ["BAD_VERSION", "version No is not valid : /a", 5],
    ["INVALID_ACL", "Acl is not valid : /a", 2],
    ["BAD_ARGUMENTS", "Arguments are not valid : /a", 2],
    ["NOT_READ_ONLY", "Not a read-only call: /a", 1],
    ["QUOTA_EXCEEDED", "Quota has exceeded : /a", 5],
    ["CONNECTION_LOSS", "KeeperErrorCode = ConnectionLoss for /a", 3],
    ["SESSION_EXPIRED", "KeeperErrorCode = Session expired for /a", 3],
    ["UNIMPLEMENTED", "KeeperErrorCode = Unimplemented for /a", 1],
    ["ERROR_-999", "KeeperErrorCode = ERROR_-999 for /a", 1],
  ])("%s", (code, text, fineStatus) => {
    expect(explainError(refusal(code, "/a"))).toMatchObject({ text, code, path: "/a", plainStatus: 1, fineStatus });
  });
});

test("a refusal without a path names none", () => {
  expect(explainError(refusal("RECONFIG_DISABLED")).text).toBe("KeeperErrorCode = Reconfig is disabled");
});

test("only a command that does not exist has a status of its own in zkCli", () => {
  expect(refusalOfChange("BAD_VERSION", "why", "what to do").message).toBe("why\nwhat to do");
  expect(new CliError("x", { code: "INVALID_PATH", path: "a" }).path).toBe("a");
  const unknown = new CliError("Command not found: Command not found x", { code: "COMMAND_UNKNOWN" });
  expect(explainError(unknown)).toMatchObject({ plainStatus: 127, fineStatus: 2 });
  expect(explainError(usageError("ls path"))).toMatchObject({ plainStatus: 1, fineStatus: 2 });
  expect(explainError(new TypeError("a defect"))).toMatchObject({ text: "a defect", plainStatus: 1, fineStatus: 1 });
});

test.each([
  ["LOCK_TIMEOUT", 124],
  ["LEASE_LOST", 125],
  ["NAME_TAKEN", 1],
] as const)("a recipe's %s ends with %i, with --json and without", (code, status) => {
  const explanation = explainError(new RecipeError(code, "a sentence"));
  expect(explanation).toMatchObject({ text: "a sentence", code, plainStatus: status, fineStatus: status });
});

test("a program that cannot be run and an unknown command are distinguished", () => {
  const missing = new CliError("x cannot be run", { code: "PROGRAM_MISSING" });
  expect(explainError(missing)).toMatchObject({ plainStatus: 127, fineStatus: 127 });
  const unusable = new CliError("x cannot be run", { code: "PROGRAM_UNUSABLE" });
  expect(explainError(unusable)).toMatchObject({ plainStatus: 126, fineStatus: 126 });
});

test("in JSON an error has its code, its path, our own message and what to do", () => {
  const error = refusal("NO_NODE", "/a");
  expect(errorJson(explainError(error))).toEqual({
    error: { code: "NO_NODE", path: "/a", message: error.message, hint: expect.any(String) },
  });
  const own = new CliError("zkCli's", { code: "USAGE", plain: "ours", hint: "another" });
  expect(errorJson(explainError(own))).toEqual({ error: { code: "USAGE", message: "ours", hint: "another" } });
  expect(errorJson(explainError(new TypeError("a defect")))).toEqual({
    error: { code: "FAILED", message: "a defect" },
  });
});
