/**
 * The hash of a path, or of a part of one, in the index of a file of the archive: MurmurHash3 with
 * the file's own seed, so that a client that chooses paths cannot choose their hashes.
 */
export function pathHash(bytes: Uint8Array, start: number, end: number, seed: number): number {
  let h = seed | 0;
  let at = start;
  for (; at + 4 <= end; at += 4) {
    h ^= mixed(
      byte(bytes, at) | (byte(bytes, at + 1) << 8) | (byte(bytes, at + 2) << 16) | (byte(bytes, at + 3) << 24),
    );
    h = (Math.imul((h << 13) | (h >>> 19), 5) + 0xe6546b64) | 0;
  }
  let tail = 0;
  for (let shift = 0; at < end; at++, shift += 8) tail |= byte(bytes, at) << shift;
  if (tail !== 0) h ^= mixed(tail);
  h ^= end - start;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

function mixed(word: number): number {
  const k = Math.imul(word, 0xcc9e2d51);
  return Math.imul((k << 15) | (k >>> 17), 0x1b873593);
}

function byte(bytes: Uint8Array, at: number): number {
  return bytes[at] ?? 0;
}
