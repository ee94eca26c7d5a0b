import type { ByteSlice } from "@zooid/model";

const SLASH = 0x2f;
/** What a shorter path takes is part of what its request takes. */
const LONG_BYTES = 128;
/** To count the names of a longer one takes more than to look it up: it has no node, or one that is there from before paths were bounded. */
const COUNTED_BYTES = 16 * 1024;
const NAMES_PER_UNIT_LOG2 = 4;
const BYTES_PER_UNIT_LOG2 = 7;

/** Each name of a path is looked up by itself. */
export function nameCount({ bytes, start, end }: Readonly<ByteSlice>): number {
  let count = 0;
  for (let i = start; i < end; i++) if (bytes[i] === SLASH) count++;
  return count;
}

/**
 * What looking up a path takes beside what a short one takes, in units of about a microsecond: each name is hashed and looked up by itself,
 * and each byte is read several times.
 */
export function pathWork(path: Readonly<ByteSlice>): number {
  const bytes = path.end - path.start;
  if (bytes < LONG_BYTES) return 0;
  const names = bytes > COUNTED_BYTES ? 0 : nameCount(path);
  return (names >> NAMES_PER_UNIT_LOG2) + (bytes >> BYTES_PER_UNIT_LOG2);
}
