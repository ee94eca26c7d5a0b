import { type EntriesMessage, frameZxid, writeFrameHeader, type Zxid } from "@zooid/model";
import fc from "fast-check";
import { expect, test } from "vitest";
import { HeldRuns, SentRuns } from "./relayed-runs.ts";

/** Frames of `count` zxids from `first` on, each with a distinct record of `recordBytes`. */
function frames(first: number, count: number, recordBytes: number): Buffer {
  const size = recordBytes + 12;
  const bytes = Buffer.alloc(count * size);
  for (let i = 0; i < count; i++) {
    writeFrameHeader(bytes, i * size, (first + i) as Zxid, recordBytes);
    bytes.fill(first + i, i * size + 12, (i + 1) * size);
  }
  return bytes;
}

function entries(first: number, count: number, recordBytes: number, previous: number = first - 1): EntriesMessage {
  const bytes = Buffer.concat([Buffer.from("before"), frames(first, count, recordBytes), Buffer.from("behind")]);
  const last = (first + count - 1) as Zxid;
  return {
    kind: "entries",
    epoch: 0,
    previous: previous as Zxid,
    first: first as Zxid,
    last,
    count,
    bytes,
    start: 6,
    end: bytes.length - 6,
    committed: last,
    check: 0,
  };
}

const span = (first: number, last: number) => ({ first: first as Zxid, last: last as Zxid });

test("a follower holds every entry that its leader assumes, byte for byte", () => {
  const step = fc.record({
    count: fc.integer({ min: 1, max: 4 }),
    kib: fc.constantFrom(1, 1, 1, 100, 700, 3000),
    // Behind another epoch zxids are not consecutive; behind a cut, the entries before were sent by
    // another way.
    behind: fc.constantFrom("the last", "the last", "the last", "another epoch", "a cut"),
  });
  const asked = fc.tuple(fc.nat(8), fc.nat(8));
  let coveredCount = 0;
  fc.assert(
    fc.property(
      fc.array(step, { minLength: 1, maxLength: 12 }),
      fc.array(asked, { maxLength: 20 }),
      (steps, wanted) => {
        const sent = new SentRuns();
        const held = new HeldRuns();
        const records: { readonly zxid: number; readonly size: number }[] = [];
        let last = 0;
        for (const { count, kib, behind } of steps) {
          const first = last + (behind === "the last" ? 1 : 3);
          const message = entries(first, count, kib * 1024, behind === "a cut" ? first - 1 : last);
          sent.sent(message);
          held.received(message);
          for (let i = 0; i < count; i++) records.push({ zxid: first + i, size: kib * 1024 });
          last = first + count - 1;
        }
        for (const [a, b] of wanted) {
          // As they are requested: of the last ones, the older first.
          const due = records.slice(-1 - Math.max(a, b), records.length - Math.min(a, b));
          const [oldest, newest] = [due[0], due.at(-1)];
          if (oldest === undefined || newest === undefined) continue;
          if (!sent.covers(span(oldest.zxid, newest.zxid))) continue;
          coveredCount++;
          const found = held.framesOf(span(oldest.zxid, newest.zxid));
          const bytes = found === undefined ? undefined : Buffer.from(found.bytes.subarray(found.start, found.end));
          expect(bytes?.equals(Buffer.concat(due.map(({ zxid, size }) => frames(zxid, 1, size))))).toBe(true);
        }
      },
    ),
    { numRuns: 60 },
  );
  expect(coveredCount).toBeGreaterThan(50);
});

test("a run larger than the assumed window is not assumed", () => {
  const sent = new SentRuns();
  sent.sent(entries(1, 1, 1024));
  sent.sent(entries(2, 1, 5 * 1024 * 1024));
  expect([sent.covers(span(1, 1)), sent.covers(span(2, 2))]).toEqual([false, false]);
  sent.sent(entries(3, 1, 1024));
  expect([sent.covers(span(2, 3)), sent.covers(span(3, 3))]).toEqual([false, true]);
});

test("a run that is missing or incomplete is not found, and neither is any after a clear", () => {
  const held = new HeldRuns();
  held.received(entries(5, 2, 10));
  held.received(entries(7, 2, 10));
  const isHeld = (first: number, last: number): boolean => held.framesOf(span(first, last)) !== undefined;
  expect([isHeld(4, 6), isHeld(5, 9), isHeld(9, 9), isHeld(1, 4)]).toEqual([false, false, false, false]);
  expect([isHeld(5, 8), isHeld(5, 7), isHeld(6, 6)]).toEqual([true, true, true]);
  held.clear();
  expect(isHeld(6, 6)).toBe(false);
});

test("several observers share an assembled run", () => {
  const held = new HeldRuns();
  held.received(entries(1, 1, 10));
  held.received(entries(2, 1, 10));
  const first = held.framesOf(span(1, 2));
  expect(held.framesOf(span(1, 2))?.bytes).toBe(first?.bytes);
  expect(frameZxid(first?.bytes ?? Buffer.alloc(12), first?.start ?? 0)).toBe(1);
});
