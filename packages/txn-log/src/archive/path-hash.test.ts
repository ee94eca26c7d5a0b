import { expect, test } from "vitest";
import { pathHash } from "./path-hash.ts";

// The published values of MurmurHash3_x86_32: the index of a file of the archive has such hashes.
test.each([
  ["", 0, 0],
  ["", 1, 0x514e28b7],
  ["", 0xffffffff, 0x81f16f39],
  ["a", 0x9747b28c, 0x7fa09ea6],
  ["aa", 0x9747b28c, 0x5d211726],
  ["aaa", 0x9747b28c, 0x283e0130],
  ["aaaa", 0x9747b28c, 0x5a97808a],
  ["abcd", 0x9747b28c, 0xf0478627],
  ["test", 0, 0xba6bd213],
  ["Hello, world!", 0x9747b28c, 0x24884cba],
  ["The quick brown fox jumps over the lazy dog", 0x9747b28c, 0x2fa826cd],
])("the hash of %j with the seed %i", (text, seed, hash) => {
  expect(pathHash(Buffer.from(text), 0, text.length, seed)).toBe(hash);
  expect(pathHash(Buffer.from(`/x${text}/y`), 2, 2 + text.length, seed)).toBe(hash);
});
