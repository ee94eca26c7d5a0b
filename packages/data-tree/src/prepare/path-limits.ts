import type { ByteSlice } from "@zooid/model";

/** Limits to the path of a new node, without the suffix of a sequential one. */
const PATH_BYTES_MAX = 16 * 1024;
const PATH_NAMES_MAX = 1024;
/** Digits of a sequential node's number, and their sign. */
export const SUFFIX_BYTES_MAX = 11;
const SLASH = 0x2f;

/**
 * Whether a path is too long: work on a path costs as much as it has bytes, or names. Longer ones
 * that are there already are served.
 */
export function isTooLong({ bytes, start, end }: Readonly<ByteSlice>): boolean {
  if (end - start > PATH_BYTES_MAX) return true;
  let names = 0;
  for (let i = start; i < end; i++) if (bytes[i] === SLASH) names++;
  return names > PATH_NAMES_MAX;
}

/** Whether a node may be created at the path, as a sequential one too. */
export function mayBeCreated({ bytes, start, end }: Readonly<ByteSlice>): boolean {
  // A name takes two bytes at least.
  return end - start <= 2 * PATH_NAMES_MAX || !isTooLong({ bytes, start, end: end - SUFFIX_BYTES_MAX });
}
