import { readFileSync } from "node:fs";
import { makeImage } from "../disk/database.ts";
import { PAGE_SIZES } from "./page-size.ts";
import { createSegmentTables } from "./segment-schema.ts";

/**
 * The main file of a segment without entries, as bytes: the same for each segment of one page size,
 * so that a flipped bit in a spare shows before the log uses it. SQLite would not see all of them:
 * two tables with one root page, for instance.
 *
 * Files differ in a part of SQLite's header alone: the count of changes (24 and 92) and the version
 * of their writer (96).
 */
const PAGE_BYTES_AT = 16;
/** The journal's form: 2 for a WAL, in a database in memory 1. */
const FORM_AT = [18, 19];
const FORM_WAL = 2;
const VARYING = [24, 25, 26, 27, ...Array.from({ length: 8 }, (_, i) => 92 + i)];

const images = new Map<number, Buffer>();

/** Whether a main file is byte for byte that of a segment without entries. */
export function isEmptySegment(file: string): boolean {
  const found = readFileSync(file);
  if (found.length < PAGE_BYTES_AT + 2) return false;
  const pageBytes = found.readUInt16BE(PAGE_BYTES_AT);
  if (!PAGE_SIZES.includes(pageBytes)) return false;
  const expected = imageOf(pageBytes);
  if (found.length !== expected.length) return false;
  for (const at of VARYING) found[at] = expected[at] ?? 0;
  return found.equals(expected);
}

function imageOf(pageBytes: number): Buffer {
  const known = images.get(pageBytes);
  if (known !== undefined) return known;
  const made = makeImage(pageBytes, createSegmentTables);
  for (const at of FORM_AT) made[at] = FORM_WAL;
  images.set(pageBytes, made);
  return made;
}
