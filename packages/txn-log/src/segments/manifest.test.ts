import { describe, expect, test } from "vitest";
import { CHAIN_NONE } from "../log/chain.ts";
import { range, Z } from "../testing/append-batches.ts";
import { manifestUpTo, purgeCount } from "./manifest.ts";
import type { SealedSegment } from "./sealed-segment.ts";

const at = (counter: number): SealedSegment["end"] => ({ zxid: Z(1, counter), chain: CHAIN_NONE });
/** Ten entries and 100 bytes each, sealed at 1, 2, 3 ... */
const manifest: SealedSegment[] = range(1, 4).map((_, i) => ({
  sequence: i + 1,
  after: at(10 * i),
  end: at(10 * i + 10),
  bytes: 100,
  sealedMs: i + 1,
}));

test("a manifest up to a position drops what lies above and shortens the segment that holds it", () => {
  expect(manifestUpTo(manifest, at(40))).toEqual(manifest);
  expect(manifestUpTo(manifest, at(25)).map(({ end }) => end)).toEqual([at(10), at(20), at(25)]);
  expect(manifestUpTo(manifest, at(20)).map(({ sequence }) => sequence)).toEqual([1, 2]);
  expect(manifestUpTo(manifest, at(0))).toEqual([]);
});

describe("purgeCount", () => {
  const keep = { limit: Z(1, 40), newestBytes: 50, keepBytes: 0, olderThanMs: 9 };

  test("keeps what is not in the state, is too young, or is needed for the bytes to keep", () => {
    expect(purgeCount(manifest, keep)).toBe(4);
    expect(purgeCount(manifest, { ...keep, limit: Z(1, 29) })).toBe(2);
    expect(purgeCount(manifest, { ...keep, olderThanMs: 1 })).toBe(1);
    expect(purgeCount(manifest, { ...keep, keepBytes: 150 })).toBe(3);
    expect(purgeCount(manifest, { ...keep, keepBytes: 1000 })).toBe(0);
  });

  test("nothing goes above a young segment, whatever lies behind it", () => {
    expect(purgeCount([], keep)).toBe(0);
    expect(purgeCount(manifest, { ...keep, olderThanMs: 0 })).toBe(0);
  });
});
