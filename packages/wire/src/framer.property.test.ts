import { WireError } from "@zooid/model";
import fc from "fast-check";
import { expect, test } from "vitest";
import { BufferPool } from "./buffer-pool.ts";
import { Framer, OVERSIZE_HEAD_BYTES } from "./framer.ts";

const FRAME_BYTES_MAX = 25_000;
/** By length and first byte: bytes at random would take minutes to shrink. */
const body = fc
  .tuple(fc.integer({ min: 1, max: 12_000 }), fc.nat(255))
  .map(([length, first]) => Uint8Array.from({ length }, (_, i) => first + i * 7));
const bodies = fc.array(body, { maxLength: 12 });

/** Others write into a buffer that was given back. */
class OverwritingPool extends BufferPool {
  override give(buffer: Buffer): void {
    buffer.fill(0xdd);
    super.give(buffer);
  }
}

function stream(all: readonly Uint8Array[]): Buffer {
  return Buffer.concat(
    all.flatMap((body) => {
      const length = Buffer.alloc(4);
      length.writeInt32BE(body.length);
      return [length, body];
    }),
  );
}

function chunks(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const places = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b);
  return [...places, bytes.length].map((end, i) => bytes.subarray(places[i - 1] ?? 0, end));
}

test("however a stream is cut into chunks, the same frames come out", () => {
  fc.assert(
    fc.property(bodies, fc.array(fc.nat(), { maxLength: 40 }), (all, cuts) => {
      const framer = new Framer(FRAME_BYTES_MAX, new OverwritingPool());
      const frames: string[] = [];
      for (const chunk of chunks(stream(all), cuts)) {
        framer.push(chunk, (bytes, start, end) => {
          frames.push(Buffer.from(bytes.subarray(start, end)).toString("hex"));
          return true;
        });
      }
      expect(frames).toEqual(all.map((body) => Buffer.from(body).toString("hex")));
      expect(framer.keptBytes).toBe(0);
    }),
  );
});

test("a sink that stops after any frame gets the rest, whole and in order, when it resumes", () => {
  fc.assert(
    fc.property(bodies, fc.array(fc.nat(), { maxLength: 20 }), fc.infiniteStream(fc.boolean()), (all, cuts, moods) => {
      const framer = new Framer(FRAME_BYTES_MAX, new OverwritingPool());
      const frames: string[] = [];
      const sink = (bytes: Uint8Array, start: number, end: number): boolean => {
        frames.push(Buffer.from(bytes.subarray(start, end)).toString("hex"));
        return moods.next().value === true;
      };
      for (const chunk of chunks(stream(all), cuts)) {
        framer.push(chunk, sink);
        if (moods.next().value === true) framer.resume(sink);
      }
      while (framer.keptBytes > 0) framer.resume(sink);
      expect(frames).toEqual(all.map((body) => Buffer.from(body).toString("hex")));
    }),
  );
});

test.each([0, -1, -(2 ** 31), FRAME_BYTES_MAX + 1, 2 ** 31 - 1])(
  "a frame of %i bytes is refused by its length alone",
  (length) => {
    const framer = new Framer(FRAME_BYTES_MAX);
    const claim = Buffer.alloc(4);
    claim.writeInt32BE(length);
    expect(() => framer.push(claim, () => true)).toThrow(WireError);
  },
);

test("a frame of exactly the limit is handed on, also byte by byte", () => {
  const framer = new Framer(FRAME_BYTES_MAX);
  const bytes = stream([new Uint8Array(FRAME_BYTES_MAX).fill(7)]);
  let seen = 0;
  for (const byte of bytes) {
    framer.push(Buffer.of(byte), (_, start, end) => {
      seen = end - start;
      return true;
    });
  }
  expect(seen).toBe(FRAME_BYTES_MAX);
});

test("however a stream is cut, frames above the limit are skipped where the sink agrees, and all others come out", () => {
  const limit = 6_000;
  fc.assert(
    fc.property(bodies, fc.array(fc.nat(), { maxLength: 40 }), (all, cuts) => {
      const framer = new Framer(limit, new OverwritingPool());
      const frames: string[] = [];
      const heads: string[] = [];
      framer.skipOversized((length, bytes, start, end) => {
        heads.push(`${length} ${Buffer.from(bytes.subarray(start, end)).toString("hex")}`);
        return true;
      });
      for (const chunk of chunks(stream(all), cuts)) {
        framer.push(chunk, (bytes, start, end) => {
          frames.push(Buffer.from(bytes.subarray(start, end)).toString("hex"));
          return true;
        });
      }
      const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");
      expect(frames).toEqual(all.filter(({ length }) => length <= limit).map(hex));
      const large = all.filter(({ length }) => length > limit);
      expect(heads).toEqual(large.map((one) => `${one.length} ${hex(one.subarray(0, OVERSIZE_HEAD_BYTES))}`));
      expect(framer.keptBytes).toBe(0);
    }),
  );
});

test("a frame above the limit that the sink does not skip ends the stream", () => {
  const framer = new Framer(100);
  framer.skipOversized(() => false);
  expect(() => framer.push(stream([new Uint8Array(200)]), () => true)).toThrow(WireError);
});
