/**
 * HalfSipHash-1-3 (Aumasson and Bernstein, "SipHash: a fast short-input PRF", in the form that
 * Linux uses for its hash tables): a hash of bytes that strangers choose. Without the key a client
 * can choose neither two inputs that collide, nor many for one place of a table.
 */

/** 64 random bits, as two signed words. Drawn at the start of a process, and kept secret. */
export interface HashKey {
  readonly k0: number;
  readonly k1: number;
}

const INITIAL_2 = 0x6c796765;
const INITIAL_3 = 0x74656462;

/**
 * The hash of a word followed by a run of bytes, as a signed 32-bit number. The word is what the
 * bytes stand in: a parent's number, or the hash of what came before.
 */
export function keyedHash({ k0, k1 }: HashKey, word: number, bytes: Uint8Array, start: number, end: number): number {
  let v0 = k0 | 0;
  let v1 = k1 | 0;
  let v2 = INITIAL_2 ^ k0;
  let v3 = INITIAL_3 ^ k1;
  const whole = end - ((end - start) & 3);
  let m = word | 0;
  // One round for each word: the one that was handed in, those of the bytes, and the last one.
  for (let i = start; ; i += 4) {
    v3 ^= m;
    v0 = (v0 + v1) | 0;
    v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
    v0 = (v0 << 16) | (v0 >>> 16);
    v2 = (v2 + v3) | 0;
    v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
    v0 = (v0 + v3) | 0;
    v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
    v2 = (v2 + v1) | 0;
    v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
    v2 = (v2 << 16) | (v2 >>> 16);
    v0 ^= m;
    if (i < whole) {
      m =
        (bytes[i] as number) |
        ((bytes[i + 1] as number) << 8) |
        ((bytes[i + 2] as number) << 16) |
        ((bytes[i + 3] as number) << 24);
      continue;
    }
    if (i > whole) break;
    m = (end - start + 4) << 24;
    if (whole < end) m |= bytes[whole] as number;
    if (whole + 1 < end) m |= (bytes[whole + 1] as number) << 8;
    if (whole + 2 < end) m |= (bytes[whole + 2] as number) << 16;
  }
  v2 ^= 0xff;
  for (let round = 0; round < 3; round++) {
    v0 = (v0 + v1) | 0;
    v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
    v0 = (v0 << 16) | (v0 >>> 16);
    v2 = (v2 + v3) | 0;
    v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
    v0 = (v0 + v3) | 0;
    v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
    v2 = (v2 + v1) | 0;
    v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
    v2 = (v2 << 16) | (v2 >>> 16);
  }
  return v1 ^ v3;
}

/**
 * A key for another table, so that the visible order of one reveals nothing about the other. @param
 * purpose any number, distinct for each table
 */
export function derivedKey(key: HashKey, purpose: number): HashKey {
  return {
    k0: keyedHash(key, purpose, NO_BYTES, 0, 0),
    k1: keyedHash(key, ~purpose, NO_BYTES, 0, 0),
  };
}

const NO_BYTES = new Uint8Array(0);
