import { expect, test } from "vitest";
import { globPattern } from "./name-glob.ts";

test.each([
  ["lock-*", "lock-0000000001", true],
  ["lock-*", "a-lock-1", false],
  ["*", "", true],
  ["?", "ab", false],
  ["n[0-9]", "n7", true],
  ["n[!0-9]", "n7", false],
  ["n[!0-9]", "nx", true],
  ["a.b", "axb", false],
  ["a.b", "a.b", true],
  ["[", "[", true],
  ["a\\*", "a*", true],
  ["a\\*", "ab", false],
  ["(x|y)+", "(x|y)+", true],
  ["[a^b]", "^", true],
  ["/app/*/config", "/app/x/y/config", true],
])("%s and %s: %s", (glob, name, expected) => {
  expect(globPattern(glob).test(name)).toBe(expected);
});
