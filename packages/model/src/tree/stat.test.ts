import { expect, test } from "vitest";
import { nodeKind, TTL_MS_MAX, ttlMsOf } from "./stat.ts";

test.each([
  [0, 0, "persistent"],
  [-0x8000_0000, 0, "container"],
  [-0x8000_0000, 1, "ephemeral"],
  [0x0100_0000, 0, "ephemeral"],
  [0, 1, "ephemeral"],
  [0xff00_0000 | 0, 5000, "ttl"],
  [-1, -1, "ttl"],
  [0xfe00_0000 | 0, 0, "ephemeral"],
])("the owner %i, %i is that of a node that is %s", (high, low, kind) => {
  expect(nodeKind(high, low)).toBe(kind);
});

test.each([
  [0xff00_0000 | 0, 1, 1],
  [0xff00_0000 | 0, -1, 0xffff_ffff],
  [-1, -1, TTL_MS_MAX],
])("the owner %i, %i holds a time to live of %i ms", (high, low, ttlMs) => {
  expect(ttlMsOf(high, low)).toBe(ttlMs);
});
