import { expect, test } from "vitest";
import type { RightsJson } from "../../../src/api/node-fact-shapes.ts";
import { forbiddenBy, type NodeAction } from "./forbidden.ts";

function rights(verdicts: Partial<Record<NodeAction, "yes" | "no" | "likely" | "unknown">>): RightsJson {
  const all = Object.entries({ read: "yes", write: "yes", delete: "yes", ...verdicts } as const);
  return {
    path: "/a",
    identities: [],
    isSuperuser: false,
    everyone: [],
    rights: all.map(([action, verdict]) => ({ action, verdict, grants: [], node: "/a", permission: "write" })),
  } as RightsJson;
}

test("what the lists refuse for certain is not offered, and the rest is", () => {
  expect([...forbiddenBy(rights({ write: "no", "set-acl": "unknown", delete: "likely" }), true)]).toEqual(["write"]);
  expect(forbiddenBy(rights({}), true).size).toBe(0);
});

test("lists that would forbid a read that was answered are not what the servers go by", () => {
  expect(forbiddenBy(rights({ read: "no", write: "no" }), true).size).toBe(0);
  expect([...forbiddenBy(rights({ read: "no", write: "no" }), false)]).toEqual(["read", "write"]);
});
