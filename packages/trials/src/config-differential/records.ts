import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Answered } from "./comparison.ts";

/** How many files are recorded with what Apache's parser says of them. */
export const RECORD_COUNT = 100;

const FILE = join(import.meta.dirname, "records.json");

export function readRecords(): readonly Answered[] {
  return JSON.parse(readFileSync(FILE, "utf8")) as readonly Answered[];
}

/** One line for each file, so that a change of a record is a line of a diff. */
export function writeRecords(records: readonly Answered[]): void {
  writeFileSync(FILE, `[\n${records.map((record) => JSON.stringify(record)).join(",\n")}\n]\n`);
}
