import { type ByteSlice, PRICES } from "@zooid/model";

const SLASH = 0x2f;
/** The work of shorter paths is part of their requests' work. */
const LONG_BYTES = 128;
/** Names of a longer path are not counted: hardly any node has such a path. */
const COUNTED_BYTES = 16 * 1024;
const { pathNamesPerUsLog2, pathBytesPerUsLog2 } = PRICES;

/** Each name of a path takes a look-up. */
export function nameCount({ bytes, start, end }: Readonly<ByteSlice>): number {
  let count = 0;
  for (let i = start; i < end; i++) if (bytes[i] === SLASH) count++;
  return count;
}

/**
 * The work of looking up a path beyond that of a short one, in units of about a microsecond: each
 * name is hashed and looked up, and each byte is read several times.
 */
export function pathWork(path: Readonly<ByteSlice>): number {
  const bytes = path.end - path.start;
  if (bytes < LONG_BYTES) return 0;
  const names = bytes > COUNTED_BYTES ? 0 : nameCount(path);
  return (names >> pathNamesPerUsLog2) + (bytes >> pathBytesPerUsLog2);
}
