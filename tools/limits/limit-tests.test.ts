/**
 * Each limit that docs/architecture.md states names the test that reaches it, and that test exists.
 * The limits of settings and options are not listed by hand: `ranges.test.ts` and
 * `option-ranges.test.ts` find them by asking.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { LIMIT_TESTS, UNTESTED } from "./limit-tests.ts";

const ROOT = join(import.meta.dirname, "../..");
/** May fall, and not rise. */
const UNTESTED_MAX = 8;

const PAGE = readFileSync(join(ROOT, "docs/architecture.md"), "utf8");
const [SECTION = ""] = (PAGE.split("\n## Limits\n")[1] ?? "").split("\n## ");
const ROWS = SECTION.split("\n")
  .filter((line) => line.startsWith("| ") && !/^\| (?:what \||---)/.test(line))
  .map((line) => line.slice(2));
const KEYS = [...Object.keys(LIMIT_TESTS), ...UNTESTED];

test("each limit of the page has a test", () => {
  expect(ROWS.length).toBeGreaterThan(90);
  expect(ROWS.filter((row) => !KEYS.some((key) => row.startsWith(key)))).toEqual([]);
});

test("each line of the table is a row of the page", () => {
  expect(KEYS.filter((key) => !ROWS.some((row) => row.startsWith(key)))).toEqual([]);
});

test("rows without a test become fewer", () => {
  expect(UNTESTED.length).toBeLessThanOrEqual(UNTESTED_MAX);
});

test.each(Object.entries(LIMIT_TESTS))("of %s the named tests exist", (_, tests) => {
  for (const { file, name } of tests) {
    expect(existsSync(join(ROOT, file)), file).toBe(true);
    expect(readFileSync(join(ROOT, file), "utf8")).toContain(name);
  }
});
