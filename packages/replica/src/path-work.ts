import type { ByteSlice } from "@zooid/model";
import { nameCount } from "./txn-maker.ts";

/** What a shorter path takes is part of what its request takes. */
const LONG_BYTES = 128;
const NAMES_PER_UNIT_LOG2 = 4;
const BYTES_PER_UNIT_LOG2 = 7;

/**
 * What looking up a path takes beside what a short one takes, in units of about a microsecond: each name is hashed and looked up by itself,
 * and each byte is read several times.
 */
export function pathWork(path: Readonly<ByteSlice>): number {
  const bytes = path.end - path.start;
  if (bytes < LONG_BYTES) return 0;
  return (nameCount(path) >> NAMES_PER_UNIT_LOG2) + (bytes >> BYTES_PER_UNIT_LOG2);
}
