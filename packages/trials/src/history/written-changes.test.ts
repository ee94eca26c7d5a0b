import type { Zxid } from "@zooid/model";
import { beforeEach, expect, test } from "vitest";
import { type Change, type SeenChange, WrittenChanges } from "./written-changes.ts";

const A: Change = { op: "create", path: "/a", value: "1" };
const B: Change = { op: "set", path: "/a", value: "2" };
const C: Change = { op: "delete", path: "/a", value: "" };
const UNANSWERED: Change = { op: "set", path: "/a", value: "3" };

let written: WrittenChanges;
beforeEach(() => {
  written = new WrittenChanges();
  written.begin(0, [A]).answered(1 as Zxid);
  written.begin(1, [UNANSWERED]);
  written.begin(0, [B]).answered(2 as Zxid);
  written.begin(0, [C]).answered(undefined);
});

function seen(...changes: readonly (readonly [Change, zxid: number])[]): readonly SeenChange[] {
  return changes.map(([change, zxid]) => ({ ...change, zxid }));
}

test.each<readonly [readonly SeenChange[], readonly string[]]>([
  [seen([A, 1], [B, 2], [C, 4]), []],
  [seen([A, 1], [B, 2], [UNANSWERED, 3], [C, 4]), []],
  [seen([A, 1], [C, 4]), ["set /a 2 was answered, and is missing"]],
  [seen([A, 1], [B, 2], [B, 2], [C, 4]), ["set /a 2 comes twice"]],
  [seen([A, 1], [B, 3], [C, 4]), ["set /a 2 is at 0x3, and was answered at 0x2"]],
  [seen([A, 1], [C, 2], [B, 2]), ["set /a 2 comes behind a later change of its writer"]],
  [seen([A, 1], [B, 2], [C, 4], [UNANSWERED, 3]), ["set /a 3, at 0x3, comes behind 0x4"]],
  [seen([A, 1], [B, 2], [C, 4], [{ ...B, value: "9" }, 5]), ["set /a 9 was never asked for"]],
])("of %j, it is said that %j", (changes, faults) => {
  expect(written.check(changes, "it")).toEqual(faults.map((fault) => `it: ${fault}`));
});

test("a write that cannot be refused, and was, is a fault", () => {
  written.refused(new Error("NO_NODE"));
  expect(written.check(seen([A, 1], [B, 2], [C, 4]), "it")).toEqual(["a write was refused: NO_NODE"]);
});
