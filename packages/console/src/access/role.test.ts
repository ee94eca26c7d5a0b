import { expect, test } from "vitest";
import { includesRole, ROLES, RoleTable } from "./role.ts";

const identity = (id: string): { readonly scheme: string; readonly id: string } => ({ scheme: "x509", id });
const TABLE = { viewers: ["x509:v", "x509:both"], editors: ["x509:e"], operators: ["x509:o", "x509:both"] };

test("each role includes those before it, and no other", () => {
  const included = ROLES.map((role) => ROLES.filter((needed) => includesRole(role, needed)));
  expect(included).toEqual([["viewer"], ["viewer", "editor"], ["viewer", "editor", "operator"]]);
});

test.each([
  { ids: [], role: undefined },
  { ids: ["unknown"], role: undefined },
  { ids: ["v"], role: "viewer" },
  { ids: ["both"], role: "operator" },
  { ids: ["v", "o", "e"], role: "operator" },
  { ids: ["e", "unknown"], role: "editor" },
  { ids: ["unknown", "v"], role: "viewer" },
])("with roles, the identities $ids have the role $role, near and far", ({ ids, role }) => {
  for (const isLoopback of [true, false]) {
    const table = new RoleTable(TABLE, isLoopback);
    expect([table.isConfigured, table.roleOf(ids.map(identity))]).toEqual([true, role]);
  }
});

test("the scheme belongs to the identity", () => {
  expect(new RoleTable(TABLE, true).roleOf([{ scheme: "digest", id: "o" }])).toBeUndefined();
});

test("without roles everyone is an operator where only this machine reaches the console, else a viewer", () => {
  for (const ids of [[], ["o"]]) {
    expect(new RoleTable({}, true).roleOf(ids.map(identity))).toBe("operator");
    expect(new RoleTable({}, false).roleOf(ids.map(identity))).toBe("viewer");
  }
});

test("no user has more than the highest role of the console", () => {
  for (const [highest, roles] of [
    ["viewer", ["viewer", "viewer", "viewer", undefined]],
    ["editor", ["viewer", "editor", "editor", undefined]],
  ] as const) {
    const table = new RoleTable(TABLE, true, highest);
    expect(["v", "e", "o", "unknown"].map((id) => table.roleOf([identity(id)]))).toEqual(roles);
  }
});
