import { expect, test } from "vitest";
import { nearestOf } from "./nearest.ts";

const NAMES = [
  "ls",
  "get",
  "getAcl",
  "getAllChildrenNumber",
  "set",
  "setAcl",
  "delete",
  "deleteall",
  "--json",
  "--server",
];

test.each([
  ["get", "get"],
  ["GET", "get"],
  ["gt", "get"],
  ["gett", "get"],
  ["delte", "delete"],
  ["delet", "delete"],
  ["deletea", "deleteall"],
  ["geta", "getAcl"],
  ["setacl", "setAcl"],
  ["getall", "getAllChildrenNumber"],
  ["--jsn", "--json"],
  ["--serv", "--server"],
  ["--sever", "--server"],
  // Two letters may differ, of few letters one.
  ["sl", undefined],
  ["x", undefined],
  ["lx", "ls"],
  ["xy", undefined],
  ["dexxxe", undefined],
  ["dexxte", "delete"],
  ["", undefined],
  ["-", undefined],
])("the name nearest to %j is %s", (typed, name) => {
  expect(nearestOf(NAMES, typed)).toBe(name);
});

test("of no names there is none", () => {
  expect(nearestOf([], "get")).toBeUndefined();
});
