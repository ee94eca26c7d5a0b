import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { SNAPPY_HEADER, snappyBlock, snappyStream } from "../../testing/snappy.ts";
import { unpackSnappy } from "./snappy-stream.ts";

async function unpacked(bytes: Buffer, pieceBytes = 1000): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of unpackSnappy(inPieces(bytes, pieceBytes))) pieces.push(piece);
  return Buffer.concat(pieces);
}

async function* inPieces(bytes: Buffer, pieceBytes: number): AsyncGenerator<Buffer, void, undefined> {
  for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes);
}

test("a stream comes to its bytes, in pieces of any size", async () => {
  const content = fc.tuple(fc.uint8Array({ maxLength: 300 }), fc.nat(400), fc.integer({ min: 1, max: 100_000 }));
  await fc.assert(
    fc.asyncProperty(content, async ([unit, count, pieceBytes]) => {
      const bytes = Buffer.concat(Array.from({ length: count }, () => Buffer.from(unit)));
      expect(await unpacked(snappyStream(bytes), pieceBytes)).toEqual(bytes);
    }),
    { numRuns: 50 },
  );
});

test("streams that were joined come to all of their bytes", async () => {
  const [one, other] = [Buffer.from("one"), Buffer.from("other")];
  expect(String(await unpacked(Buffer.concat([snappyStream(one), snappyStream(other)]), 1))).toBe("oneother");
});

/** A block that says that it unpacks to 4 GB. */
const BOMB = Buffer.from([0, 0, 0, 6, 0xff, 0xff, 0xff, 0xff, 0x0f, 0]);
const BLOCK = snappyBlock(Buffer.from("a block".repeat(100)));

describe("what is no stream is refused with its place", () => {
  test.each<[string, Buffer, string]>([
    ["nothing", Buffer.alloc(0), "it ends within what begins at byte 0"],
    ["another format", Buffer.alloc(100, "x"), "no header of snappy-java at byte 0"],
    ["a part of a header", SNAPPY_HEADER.subarray(0, 10), "it ends within what begins at byte 0"],
    [
      "a part of a length",
      Buffer.concat([SNAPPY_HEADER, BLOCK.subarray(0, 3)]),
      "it ends within what begins at byte 16",
    ],
    [
      "a part of a block",
      Buffer.concat([SNAPPY_HEADER, BLOCK.subarray(0, -1)]),
      "it ends within what begins at byte 16",
    ],
    ["a later version", Buffer.from(SNAPPY_HEADER).fill(2, 15), "version 2 at byte 0, where 1 is known"],
    [
      "a negative length",
      Buffer.concat([SNAPPY_HEADER, Buffer.from([0xff, 0, 0, 0])]),
      "a block of -16777216 bytes at byte 16",
    ],
    [
      "a length that is too large",
      Buffer.concat([SNAPPY_HEADER, Buffer.from([0, 0x10, 0, 1])]),
      "a block of 1048577 bytes",
    ],
    ["a bomb", Buffer.concat([SNAPPY_HEADER, BOMB]), "no block at byte 16: "],
    ["no block", Buffer.concat([SNAPPY_HEADER, BLOCK, Buffer.from([0, 0, 0, 3, 8, 1, 0])]), "no block at byte "],
    ["a block of nothing", Buffer.concat([SNAPPY_HEADER, Buffer.alloc(4)]), "no block at byte 16: "],
  ])("%s", async (_, bytes, text) => {
    await expect(unpacked(bytes)).rejects.toThrow(text);
    await expect(unpacked(bytes, 1)).rejects.toThrow(text);
  });
});
