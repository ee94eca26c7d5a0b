import { expect, test } from "vitest";
import { COMMANDS, nearestCommand } from "./command-table.ts";

test.each([
  ["getacl", "getAcl"],
  ["gte", "get"],
  ["creat", "create"],
  ["remov", "removewatches"],
  ["statsu", "status"],
  ["frobnicate", undefined],
  ["x", undefined],
])("%s is taken for %s", (typed, nearest) => {
  expect(nearestCommand(typed)).toBe(nearest);
});

test("every name of a command is nearest to itself", () => {
  for (const { name } of COMMANDS) expect(nearestCommand(name)).toBe(name);
});
