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
  ["rmr", "deleteall"],
  ["cat", "get"],
  ["exit", "quit"],
])("%s is taken for %s", (typed, nearest) => {
  expect(nearestCommand(typed)).toBe(nearest);
});

test("every word of another shell is one of no command", () => {
  for (const word of ["cat", "dir", "exit", "mkdir", "rm", "rmr", "touch"]) {
    expect(COMMANDS.map(({ name }) => name)).not.toContain(word);
    expect(COMMANDS.map(({ name }) => name)).toContain(nearestCommand(word));
  }
});

test("every name of a command is nearest to itself", () => {
  for (const { name } of COMMANDS) expect(nearestCommand(name)).toBe(name);
});
