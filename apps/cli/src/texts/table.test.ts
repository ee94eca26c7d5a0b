import { expect, test } from "vitest";
import { tableLines } from "./table.ts";

test("columns are as wide as their widest cell, numbers to the right, without blanks at the end", () => {
  const columns = [{ title: "SERVER" }, { title: "NODES", isNumber: true }, { title: "VERSION" }];
  expect(
    tableLines(columns, [
      ["a:1", "1000000", "3.9.5"],
      ["longer:2181", "7", ""],
    ]),
  ).toEqual(["SERVER         NODES  VERSION", "a:1          1000000  3.9.5", "longer:2181        7"]);
});
