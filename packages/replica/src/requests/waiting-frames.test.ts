import { emptySlice, sliceText } from "@zooid/model";
import fc from "fast-check";
import { expect, test } from "vitest";
import { WaitingFrames } from "./waiting-frames.ts";

function released(frames: WaitingFrames, committed: number): [text: string, receivedMs: number][] {
  const frame = emptySlice();
  const all: [string, number][] = [];
  while (frames.isDue(committed)) {
    const receivedMs = frames.take(frame);
    all.push([sliceText(frame), receivedMs]);
  }
  return all;
}

function push(frames: WaitingFrames, after: number, text: string, receivedMs = 0): void {
  const bytes = Buffer.from(`..${text}..`);
  frames.push(after, receivedMs, text.length, { bytes, start: 2, end: bytes.length - 2 });
  bytes.fill(0);
}

test("a frame is due when the write before it has committed, and not before", () => {
  const frames = new WaitingFrames();
  push(frames, 3, "read", 1.25);
  push(frames, 3, "", 2);
  push(frames, 5, "later");
  expect(released(frames, 2)).toEqual([]);
  expect(released(frames, 4)).toEqual([
    ["read", 1.25],
    ["", 2],
  ]);
  expect([frames.count, released(frames, 5), frames.count, frames.sizeBytes]).toEqual([1, [["later", 0]], 0, 0]);
});

test("pushed and released in any turns, frames come out whole and in order", () => {
  const step = fc.oneof(fc.record({ push: fc.string({ maxLength: 600 }) }), fc.record({ release: fc.nat(20) }));
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
      const frames = new WaitingFrames();
      const model: { after: number; text: string }[] = [];
      let sequence = 0;
      let committed = 0;
      for (const one of steps) {
        if ("push" in one) {
          sequence++;
          push(frames, sequence, one.push);
          model.push({ after: sequence, text: one.push });
        } else {
          committed = Math.min(sequence, committed + one.release);
          const due = model.splice(0, model.filter(({ after }) => after <= committed).length);
          expect(released(frames, committed).map(([text]) => text)).toEqual(due.map(({ text }) => text));
        }
        expect(frames.count).toBe(model.length);
        expect(frames.answerBytes).toBe(model.reduce((sum, { text }) => sum + text.length, 0));
      }
    }),
  );
});
