import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { referencePages } from "./pages.ts";
import { settingLines } from "./settings-table.ts";

describe("a page that is made from the code is what npm run tool -- reference-pages writes:", () => {
  test.each(referencePages())("docs/$file", ({ file, text }) => {
    expect(readFileSync(join(import.meta.dirname, "../../docs", file), "utf8")).toBe(text);
  });
});

test("every key that has an effect has a default", () => {
  const effective = settingLines().filter(({ note }) => note === "");
  expect(effective.filter(({ defaultValue }) => defaultValue === "")).toEqual([]);
});
