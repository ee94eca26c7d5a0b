import { formatsAt } from "@zooid/model";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Chain } from "../log/chain.ts";
import { StoreError } from "../store/store-error.ts";
import { Z } from "../testing/append-batches.ts";
import {
  decodeHeader,
  decodeTrailer,
  encodeHeader,
  encodeTrailer,
  openChunk,
  type SnapshotHeader,
  type SnapshotTrailer,
  sealChunk,
} from "./snapshot-format.ts";

const HEADER: SnapshotHeader = {
  format: formatsAt(2).snapshot,
  ensembleId: "e",
  position: { zxid: Z(2, 5), chain: 0xabcn as Chain },
  epochs: [{ epoch: 1, first: 1, last: 9 }],
  digestHigh: -1,
  digestLow: 2 ** 31 - 1,
  nextNodeId: 7,
  level: 2,
  nodeCount: 4,
  sessionCount: 1,
};
const TRAILER: SnapshotTrailer = { nodeCount: 4, sessionCount: 1, digestHigh: 5, digestLow: -6, sum: 2 ** 32 - 1 };

const NO_COUNTS: readonly unknown[] = [undefined, null, -1, 0.5, 2 ** 53, "4", [4]];
/** Each half of a digest is one of 32 bits, with a sign. */
const NO_DIGESTS: readonly unknown[] = [
  undefined,
  null,
  "00",
  [],
  [1],
  ...[2 ** 31, -(2 ** 31) - 1, 0.5, "1", null].flatMap((half) => [
    [half, 1],
    [1, half],
  ]),
];
const NO_EPOCHS: readonly unknown[] = [
  undefined,
  null,
  "1",
  {},
  [1],
  [[]],
  [[1]],
  [[1, 1]],
  [["1", 1, 9]],
  [[1, 1, null]],
];

describe.each<
  readonly [part: string, whole: Buffer, decode: (body: Buffer) => unknown, fields: Record<string, readonly unknown[]>]
>([
  [
    "a header",
    encodeHeader(HEADER),
    decodeHeader,
    {
      format: [...NO_COUNTS, formatsAt(2).snapshot + 1, formatsAt(1).snapshot - 1],
      ensemble: [undefined, null, 1],
      zxid: NO_COUNTS,
      chain: [undefined, null, 1, "", "xyz", "-1", "0x1", "1".repeat(17)],
      epochs: NO_EPOCHS,
      digest: NO_DIGESTS,
      nextNode: NO_COUNTS,
      level: NO_COUNTS,
      nodes: NO_COUNTS,
      sessions: NO_COUNTS,
    },
  ],
  [
    "a trailer",
    encodeTrailer(TRAILER),
    decodeTrailer,
    { nodes: NO_COUNTS, sessions: NO_COUNTS, digest: NO_DIGESTS, sum: NO_COUNTS },
  ],
])("%s", (_, whole, decode, fields) => {
  const json = JSON.parse(whole.toString()) as Readonly<Record<string, unknown>>;

  test("has no field that is not looked at", () => {
    expect(Object.keys(fields).toSorted()).toEqual(Object.keys(json).toSorted());
  });

  test.each(Object.entries(fields))("with another kind of %s is refused", (field, values) => {
    for (const value of values) {
      const body = Buffer.from(JSON.stringify({ ...json, [field]: value }));
      expect(() => decode(body), JSON.stringify(value)).toThrow(StoreError);
    }
  });

  test("that is no JSON object is refused", () => {
    for (const text of ["", "null", "7", '"a"', whole.toString().slice(0, -1)]) {
      expect(() => decode(Buffer.from(text)), text).toThrow(StoreError);
    }
  });
});

test("headers and trailers come back as they were", () => {
  expect(decodeHeader(encodeHeader(HEADER))).toEqual(HEADER);
  expect(decodeTrailer(encodeTrailer(TRAILER))).toEqual(TRAILER);
});

test("a chunk is refused with another bit, at another place, cut off or longer", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), fc.nat(1000), fc.boolean(), (bytes, index, isLast) => {
      const chunk = Buffer.concat([Buffer.alloc(8), bytes]);
      sealChunk(chunk, index, isLast);
      expect(openChunk(chunk, index)).toEqual(Buffer.from(bytes));
      expect(() => openChunk(chunk, index + 1)).toThrow(StoreError);
      expect(() => openChunk(chunk.subarray(0, -1), index)).toThrow(StoreError);
      expect(() => openChunk(Buffer.concat([chunk, Buffer.alloc(1)]), index)).toThrow(StoreError);
      for (let bit = 0; bit < 8 * chunk.length; bit += 5) {
        const flipped = Buffer.from(chunk);
        flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
        expect(() => openChunk(flipped, index), `bit ${bit}`).toThrow(StoreError);
      }
    }),
    { numRuns: 30 },
  );
});
