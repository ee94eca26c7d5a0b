import { ErrorCode, type ErrorName } from "@zooid/model";
import { expect, test } from "vitest";
import {
  isZkError,
  refusalError,
  TransactionError,
  ZkConnectionError,
  ZkNodeError,
  ZkServerError,
  zkError,
} from "./errors.ts";

test("every code of the protocol makes an error with its number and a sentence", () => {
  for (const name of Object.keys(ErrorCode) as ErrorName[]) {
    const error = refusalError(ErrorCode[name], "get", "/a");
    expect([error.code, error.errno]).toEqual([name, ErrorCode[name]]);
    expect(error.message).toMatch(/^get \/a: .+/);
  }
});

test("a code that the table does not know keeps its number", () => {
  expect(refusalError(-77, "get")).toMatchObject({
    code: "ERROR_-77",
    errno: -77,
    message: expect.stringContaining("-77"),
  });
});

test("the class gives the kind of fault, and isZkError accepts errors of another copy of the package", () => {
  expect(refusalError(ErrorCode.NO_NODE, "get")).toBeInstanceOf(ZkNodeError);
  expect(refusalError(ErrorCode.SYSTEM_ERROR, "get")).toBeInstanceOf(ZkServerError);
  const lost = zkError({ code: "CONNECTION_LOSS", op: "set", path: "/a", outcome: "unknown" });
  expect(lost).toBeInstanceOf(ZkConnectionError);
  expect(lost.message).toContain("may or may not have been carried out");
  const read = zkError({ code: "CONNECTION_LOSS", op: "get", path: "/a", outcome: "unknown", isRead: true });
  expect(read.message).not.toContain("may or may not");
  const copied = Object.assign(new Error("x"), { code: "NO_NODE", errno: -101, outcome: "rejected" });
  expect([isZkError(copied, "NO_NODE"), isZkError(copied, "NO_AUTH"), isZkError(new Error("x"))]).toEqual([
    true,
    false,
    false,
  ]);
});

test("a failed transaction names the step that was refused", () => {
  const error = new TransactionError([
    { op: "create", path: "/a", code: "OK" },
    { op: "delete", path: "/b", code: "NO_NODE" },
    { op: "set", path: "/c", code: "RUNTIME_INCONSISTENCY" },
  ]);
  expect(error).toMatchObject({ failedIndex: 1, code: "NO_NODE", path: "/b", errno: -101 });
  expect(error.message).toBe("the transaction was refused at op 2 of 3, delete /b: there is no such node (NO_NODE)");
});
