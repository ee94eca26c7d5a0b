/**
 * Each key of zoo.cfg that states a range is taken to both ends of it, and one beyond. Keys and
 * ranges come from the server's own sentences, so that a new key is tried without a line here.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HOST } from "@zooid/embedded-server/testing/certificates";
import { afterAll, expect, test } from "vitest";
import { problemsOf, type RangePlace, statedRanges } from "../testing/stated-ranges.ts";

const folder = mkdtempSync(join(tmpdir(), "zooid-ranges-"));
const PLACE: RangePlace = {
  dataDir: join(folder, "data"),
  backupDir: join(folder, "backup"),
  keyStore: join(folder, "store.pem"),
};
for (const directory of [PLACE.dataDir, PLACE.backupDir]) mkdirSync(directory);
writeFileSync(PLACE.keyStore, HOST.cert + HOST.key, { mode: 0o600 });
writeFileSync(join(PLACE.dataDir, "myid"), "1\n");
afterAll(() => rmSync(folder, { recursive: true }));

const RANGES = statedRanges(PLACE);

test("the ranges of all keys with numbers are found", () => {
  expect(RANGES.length).toBeGreaterThan(55);
  expect(RANGES.filter(({ least }) => least === "unstated")).toEqual([]);
});

test.each(RANGES)("$key takes $least and $most", ({ key, least, most }) => {
  expect(problemsOf(key, least, PLACE)).toEqual([]);
  expect(problemsOf(key, most, PLACE)).toEqual([]);
});

test.each(RANGES)("$key refuses what is below $least or above $most, in a sentence that names the end", (range) => {
  const { key, least, most } = range;
  for (const [value, end] of [
    [below(least), least],
    [above(most), most],
  ] as const) {
    const problems = problemsOf(key, value, PLACE);
    expect(problems, `${key}=${value}`).toHaveLength(1);
    expect(problems[0]).toContain(key);
    expect(problems[0]).toMatch(endPattern(end));
  }
});

function below(least: string): string {
  return String(BigInt(least) - 1n);
}

function above(most: string): string {
  return String(BigInt(most) + 1n);
}

function endPattern(end: string): RegExp {
  return new RegExp(`\\b(?:from |port, )${end} |${end} or more|(?:to|up to) ${end}\\b`);
}
