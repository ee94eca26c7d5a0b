/** The table of README.md is complete, and the tests that it names exist. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "../..");
const PACKAGES = ["client", "console", "recipes", "server", "txn-log"];
/** A field that holds a map, a set or an array. */
const KEPT = /^ +(?:readonly )?#\w+(?:: [^=\n]*)? = (?:new (?:Map|Set|WeakMap|WeakSet|Array)\b|\[)/m;

const page = readFileSync(join(import.meta.dirname, "README.md"), "utf8");

/** The rows of the table whose first column has this name, without its head. */
function rowsOf(name: string): readonly (readonly string[])[] {
  const lines = page.split("\n");
  const from = lines.findIndex((line) => line.startsWith(`| ${name} |`)) + 2;
  const end = lines.findIndex((line, i) => i > from && !line.startsWith("|"));
  return lines.slice(from, end).map((line) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim().replaceAll("`", "")),
  );
}

const registries = rowsOf("registry");
const tests = rowsOf("number");
const others = rowsOf("file");

/** The sources of a package that keep entries in a field, without those that tests alone use. */
function keepingSources(name: string): readonly string[] {
  const folder = `packages/${name}/src`;
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .filter((file) => /(?<!\.test)\.ts$/.test(file) && !/(?:^|\/)(?:testing|fault-injection)\//.test(file))
    .map((file) => `${folder}/${file}`)
    .filter((file) => KEPT.test(readFileSync(join(ROOT, file), "utf8")));
}

test("every class that keeps entries has a row, and every row has a file", () => {
  const listed = [...registries, ...others].map(([file = ""]) => file);
  expect(PACKAGES.flatMap(keepingSources).filter((file) => !listed.includes(file))).toEqual([]);
  expect(listed.filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
  expect(listed.filter((file, i) => listed.indexOf(file) !== i)).toEqual([]);
});

test("every change is tried by a test of its file, does not happen, or is named as not tried", () => {
  const used = registries.flatMap(([, ...cells]) => cells.flatMap((cell) => cell.split(", ")));
  const numbers = tests.map(([number = ""]) => number);
  expect(used.filter((one) => one !== "-" && one !== "no" && !numbers.includes(one))).toEqual([]);
  expect(numbers.filter((number) => !used.includes(number))).toEqual([]);
  expect(registries.filter(({ length }) => length !== registries[0]?.length)).toEqual([]);
  for (const [, file = "", name = ""] of tests) {
    expect([readFileSync(join(ROOT, file), "utf8").includes(name), file, name]).toEqual([true, file, name]);
  }
});

test("the page says how many there are", () => {
  const changes = registries.flatMap(([, ...cells]) => cells.filter((cell) => cell !== "-"));
  const counts = `${registries.length} registries, ${changes.length} changes, each of which is tried by at least one of ${tests.length} tests.`;
  expect(page).toContain(counts);
  expect(changes).not.toContain("no");
});

test.each([
  ["  readonly #byName = new Map<string, Entry>();", true],
  ["  #entries: Entry[] = [];", true],
  ["  #entries: readonly Entry[] = new Array(8);", true],
  ["  readonly #names = new WeakSet();", true],
  ["  readonly #names = [FIRST];", true],
  ["  #count = 0;", false],
  ["    const entries = [];", false],
])("of %j a row is %j", (line, isKept) => {
  expect(KEPT.test(line)).toBe(isKept);
});
