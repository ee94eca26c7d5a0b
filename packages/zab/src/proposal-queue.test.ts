import { composeZxid, ZXID_NONE, type Zxid } from "@zooid/model";
import fc from "fast-check";
import { expect, test } from "vitest";
import { ProposalQueue } from "./proposal-queue.ts";
import { batchOf, RecordingSinks } from "./testing/batch.ts";

/** Applies at most `most` entries up to a zxid. @returns how many there were */
function deliver(queue: ProposalQueue, through: Zxid, most: number, sinks: RecordingSinks): number {
  const entry = { zxid: ZXID_NONE, bytes: new Uint8Array(0), start: 0, end: 0 };
  let count = 0;
  for (; count < most && queue.show(through, entry); count++) {
    sinks.apply(entry);
    queue.settle(sinks.application.release);
  }
  return count;
}

test("entries are delivered in order up to the one named, and a batch is released with its last", () => {
  const queue = new ProposalQueue(composeZxid(1, 0));
  const [first, second] = [batchOf(1, 1, 2, 3), batchOf(1, 4, 5)];
  queue.push(first);
  queue.push(second);
  expect([queue.count, queue.sizeBytes]).toEqual([5, first.end + second.end]);
  const sinks = new RecordingSinks();
  expect(deliver(queue, composeZxid(1, 2), 100, sinks)).toBe(2);
  expect([sinks.delivered, sinks.released]).toEqual([["entry 1", "entry 2"], []]);
  expect(deliver(queue, composeZxid(1, 4), 100, sinks)).toBe(2);
  expect([sinks.delivered.at(-1), sinks.released]).toEqual(["entry 4", [first]]);
  expect(deliver(queue, composeZxid(1, 5), 100, sinks)).toBe(1);
  expect([queue.count, queue.sizeBytes, sinks.released.length]).toEqual([0, 0, 2]);
});

test.each([
  ["one that reuses batches", new RecordingSinks().application.release],
  ["one that does not", undefined],
])("batches not delivered are given up, whether the application is %s", (_, release) => {
  const queue = new ProposalQueue(composeZxid(1, 0));
  for (const counter of [1, 2]) queue.push(batchOf(1, counter));
  queue.releaseAll(release);
  expect([queue.count, queue.sizeBytes, queue.hasUpTo(composeZxid(1, 2))]).toEqual([0, 0, false]);
});

test("an entry stays outstanding, and its batch unreleased, until it is settled", () => {
  const queue = new ProposalQueue(composeZxid(1, 0));
  queue.push(batchOf(1, 1));
  const { application, released } = new RecordingSinks();
  const entry = { zxid: ZXID_NONE, bytes: new Uint8Array(0), start: 0, end: 0 };
  expect([queue.show(composeZxid(1, 1), entry), queue.count, released.length]).toEqual([true, 1, 0]);
  queue.settle(application.release);
  queue.settle(application.release);
  expect([queue.count, released.length]).toEqual([0, 1]);
});

test("a batch is released once where the role ends while its entry is shown", () => {
  const queue = new ProposalQueue(composeZxid(1, 0));
  queue.push(batchOf(1, 1));
  const { application, released } = new RecordingSinks();
  queue.show(composeZxid(1, 1), { zxid: ZXID_NONE, bytes: new Uint8Array(0), start: 0, end: 0 });
  queue.releaseAll(application.release);
  queue.settle(application.release);
  expect([queue.count, released.length]).toEqual([0, 1]);
});

test("a proposal that does not go up is a defect", () => {
  const queue = new ProposalQueue(composeZxid(1, 0));
  queue.push(batchOf(1, 1, 2));
  expect(() => queue.push(batchOf(1, 2))).toThrow("proposals go up");
});

test("however much is allowed at a time, everything is delivered once and in order", () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 150 }),
      fc.infiniteStream(fc.integer({ min: 1, max: 9 })),
      (sizes, chance) => {
        const queue = new ProposalQueue(composeZxid(1, 0));
        const sinks = new RecordingSinks();
        let last = 0;
        for (const size of sizes) {
          queue.push(batchOf(1, ...Array.from({ length: size }, () => ++last)));
          deliver(queue, composeZxid(1, last - (last % 3)), chance.next().value ?? 1, sinks);
        }
        while (queue.count > 0) deliver(queue, composeZxid(1, last), chance.next().value ?? 1, sinks);
        expect(sinks.zxids).toEqual(Array.from({ length: last }, (_, i) => composeZxid(1, i + 1)));
        expect([sinks.released.length, queue.sizeBytes]).toEqual([sizes.length, 0]);
      },
    ),
  );
});
