import fc from "fast-check";
import { expect, test } from "vitest";
import { derivedKey, keyedHash } from "./keyed-hash.ts";

const KEY = { k0: 0x03020100, k1: 0x07060504 };
const counting = (length: number) => Uint8Array.from({ length }, (_, i) => i);

// By an implementation in another language, which gives the published vectors of HalfSipHash-2-4
// with two and four rounds.
test.each([
  [0, 2128872280],
  [1, -618727970],
  [2, 239821566],
  [3, -749775950],
  [4, 522362740],
  [5, -501199808],
  [8, 2132620444],
  [13, 1539972117],
  [64, -1385470282],
  [260, -1247849230],
])("the hash of a word and %i bytes is that of HalfSipHash-1-3", (length, hash) => {
  expect(keyedHash(KEY, 0x01020304, counting(length), 0, length)).toBe(hash);
});

test("a hash depends on the bytes alone, wherever they lie, and on the whole key and word", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), fc.nat(9), fc.integer(), fc.nat(63), (bytes, offset, word, bit) => {
      const shifted = new Uint8Array(bytes.length + offset + 3).fill(7);
      shifted.set(bytes, offset);
      const hash = keyedHash(KEY, word, bytes, 0, bytes.length);
      expect(keyedHash(KEY, word, shifted, offset, offset + bytes.length)).toBe(hash);
      const other = bit < 32 ? { k0: KEY.k0 ^ (1 << bit), k1: KEY.k1 } : { k0: KEY.k0, k1: KEY.k1 ^ (1 << (bit - 32)) };
      expect(keyedHash(other, word, bytes, 0, bytes.length)).not.toBe(hash);
      expect(keyedHash(KEY, word ^ (1 << (bit & 31)), bytes, 0, bytes.length)).not.toBe(hash);
    }),
  );
});

test("derived keys differ by their purpose", () => {
  const keys = [1, 2, 3].map((purpose) => derivedKey(KEY, purpose));
  expect(new Set(keys.flatMap(({ k0, k1 }) => [k0, k1])).size).toBe(6);
  expect(derivedKey(KEY, 1)).toEqual(keys[0]);
});
