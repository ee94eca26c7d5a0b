/** A table whose delimiter row has another number of cells than its head is shown as plain text. */
import { globSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";

const ROOT = resolve(import.meta.dirname, "..");
const DELIMITERS = /^ *\|(?: *:?-+:? *\|)+ *$/;

function brokenTables(text: string): readonly string[] {
  const lines = text.split("\n");
  return lines.flatMap((line, i) => {
    const head = lines[i - 1] ?? "";
    return DELIMITERS.test(line) && cellCount(head) !== cellCount(line) ? [`line ${i}: ${head}`] : [];
  });
}

/** A bar behind a backslash is text. */
function cellCount(row: string): number {
  return row.trim().replaceAll("\\|", "").split("|").length - 2;
}

test("the delimiter row of each table has as many cells as its head", () => {
  const files = globSync(["*.md", "{docs,packages,apps,tools,.changeset}/**/*.md"], {
    cwd: ROOT,
    exclude: ["**/node_modules/**", "docs/{api,site}/**", "**/.cache/**", "**/dist/**"],
  });
  expect(files.length).toBeGreaterThan(50);
  const broken = files.flatMap((file) =>
    brokenTables(readFileSync(resolve(ROOT, file), "utf8")).map((place) => `${file}, ${place}`),
  );
  expect(broken).toEqual([]);
});

test("a table with another number of cells is found", () => {
  expect(brokenTables("| a | b |\n| --- | --- | --- |\n| 1 | 2 |")).toEqual(["line 1: | a | b |"]);
  expect(brokenTables("| a \\| b | c |\n| --- | ---: |")).toEqual([]);
});
