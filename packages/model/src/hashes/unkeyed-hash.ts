/**
 * 32-bit MurmurHash3 (x86) of a run of bytes: for digests, whose values are compared between
 * servers and kept in files, so that they may depend on no server's key. It collides for chosen
 * bytes whatever the seed: tables that clients fill use {@link keyedHash}.
 */
export function unkeyedHash32(bytes: Uint8Array, start: number, end: number, seed: number): number {
  let h = seed | 0;
  const whole = end - ((end - start) & 3);
  let i = start;
  for (; i < whole; i += 4) {
    let k =
      (bytes[i] as number) |
      ((bytes[i + 1] as number) << 8) |
      ((bytes[i + 2] as number) << 16) |
      ((bytes[i + 3] as number) << 24);
    k = Math.imul(k, 0xcc9e2d51);
    k = (k << 15) | (k >>> 17);
    h ^= Math.imul(k, 0x1b873593);
    h = (h << 13) | (h >>> 19);
    h = (Math.imul(h, 5) + 0xe6546b64) | 0;
  }
  if (i < end) {
    let k = bytes[i] as number;
    if (i + 1 < end) k |= (bytes[i + 1] as number) << 8;
    if (i + 2 < end) k |= (bytes[i + 2] as number) << 16;
    k = Math.imul(k, 0xcc9e2d51);
    k = (k << 15) | (k >>> 17);
    h ^= Math.imul(k, 0x1b873593);
  }
  return mix32(h ^ (end - start));
}

/** Spreads every bit of the input over every bit of the output. */
export function mix32(value: number): number {
  let h = value | 0;
  h ^= h >>> 16;
  h = Math.imul(h, 0x85ebca6b);
  h ^= h >>> 13;
  h = Math.imul(h, 0xc2b2ae35);
  return h ^ (h >>> 16);
}
