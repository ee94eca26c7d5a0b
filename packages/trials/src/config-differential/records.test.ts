import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { compare } from "./comparison.ts";
import { DIFFERENCE_CLASSES } from "./difference-classes.ts";
import { readRecords } from "./records.ts";

const DIFFERENCES = readFileSync(join(import.meta.dirname, "../../../../docs/differences.md"), "utf8");

test("Zooid reads a hundred recorded files as Apache's server does, but for the intended differences", () => {
  const root = mkdtempSync(join(tmpdir(), "config-records-"));
  try {
    const { unexplained } = compare(readRecords(), root);
    expect(unexplained.map(({ configuration, difference }) => [configuration.seed, difference])).toEqual([]);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
});

test("each class of differences is a row of docs/differences.md", () => {
  const rows = new Set([...DIFFERENCES.matchAll(/^\| (.+?) \|/gm)].map(([, first]) => first));
  expect(DIFFERENCE_CLASSES.map(({ row }) => row).filter((row) => !rows.has(row))).toEqual([]);
});
