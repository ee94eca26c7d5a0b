import fc from "fast-check";
import { expect, test } from "vitest";
import { unkeyedHash32 } from "./unkeyed-hash.ts";

/** Known values of MurmurHash3's 32-bit form. */
test.each([
  ["", 0, 0x00000000],
  ["", 1, 0x514e28b7],
  ["", 0xffffffff, 0x81f16f39],
  ["test", 0, 0xba6bd213],
  ["test", 0x9747b28c, 0x704b81dc],
  ["Hello, world!", 0, 0xc0363e43],
  ["Hello, world!", 0x9747b28c, 0x24884cba],
  ["The quick brown fox jumps over the lazy dog", 0x9747b28c, 0x2fa826cd],
])("%j with seed %i", (text, seed, hash) => {
  const bytes = new TextEncoder().encode(text);
  expect(unkeyedHash32(bytes, 0, bytes.length, seed) >>> 0).toBe(hash);
});

test("a range hashes as its bytes do by themselves", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), fc.nat(10), fc.integer(), (bytes, before, seed) => {
      const inside = Uint8Array.of(...new Uint8Array(before).fill(9), ...bytes, 7, 7, 7);
      expect(unkeyedHash32(inside, before, before + bytes.length, seed)).toBe(
        unkeyedHash32(bytes, 0, bytes.length, seed),
      );
    }),
  );
});
