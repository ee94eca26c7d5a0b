import {
  composeZxid,
  FRAME_HEADER_BYTES,
  type FrameBatch,
  frameLength,
  frameZxid,
  writeFrameHeader,
} from "@zooid/model";
import fc from "fast-check";
import { expect, test } from "vitest";
import { RecentEntries } from "./recent-entries.ts";

/** Entries of one epoch from a counter on, each with `bytes` bytes. */
function batch(counter: number, count: number, bytes: number): FrameBatch {
  const size = FRAME_HEADER_BYTES + bytes;
  const run = new Uint8Array(count * size);
  for (let i = 0; i < count; i++) writeFrameHeader(run, i * size, composeZxid(1, counter + i), bytes);
  return {
    first: composeZxid(1, counter),
    last: composeZxid(1, counter + count - 1),
    count,
    bytes: run,
    end: run.length,
  };
}

/** The counters of all that can be had behind one, piece by piece. */
function after(entries: RecentEntries, counter: number): number[] {
  const counters: number[] = [];
  let at = composeZxid(1, counter);
  while (entries.holdsAfter(at)) {
    const frames = entries.framesAfter(at);
    if (frames === undefined) throw new Error("it is held and cannot be had");
    for (let i = frames.start; i < frames.end; i += FRAME_HEADER_BYTES + frameLength(frames.bytes, i)) {
      at = frameZxid(frames.bytes, i);
      counters.push(at - composeZxid(1, 0));
    }
    expect(at).toBe(frames.last);
  }
  return counters;
}

function upTo(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, i) => first + i);
}

test("small batches come out as one run", () => {
  const entries = new RecentEntries();
  for (let i = 1; i <= 100; i++) entries.push(batch(i, 1, 50));
  const frames = entries.framesAfter(composeZxid(1, 40));
  expect(frames === undefined ? 0 : (frames.end - frames.start) / (FRAME_HEADER_BYTES + 50)).toBe(60);
});

test("behind whatever is held everything follows in order, and the oldest makes room", () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 30_000 })), { maxLength: 60 }),
      fc.nat(),
      (batches, from) => {
        const entries = new RecentEntries();
        let last = 0;
        for (const [count, bytes] of batches) {
          entries.push(batch(last + 1, count, bytes));
          last += count;
        }
        const counter = from % (last + 1);
        if (entries.holdsAfter(composeZxid(1, counter)))
          expect(after(entries, counter)).toEqual(upTo(counter + 1, last));
        else if (counter < last)
          expect(batches.reduce((sum, [n, bytes]) => sum + n * bytes, 0)).toBeGreaterThan(1_000_000);
      },
    ),
  );
});

test("what does not follow on what is there takes its place, and what is too large leaves nothing", () => {
  const entries = new RecentEntries();
  entries.push(batch(1, 3, 10));
  entries.push(batch(9, 2, 10));
  expect([entries.holdsAfter(composeZxid(1, 1)), after(entries, 8)]).toEqual([false, [9, 10]]);
  entries.push(batch(11, 1, 5_000_000));
  expect(entries.holdsAfter(composeZxid(1, 8))).toBe(false);
  entries.push(batch(12, 1, 10));
  expect(after(entries, 11)).toEqual([12]);
  expect(entries.holdsAfter(composeZxid(1, 12))).toBe(false);
});
