import { sliceOf, WatchEventType, type Zxid } from "@zooid/model";
import { expect, test } from "vitest";
import { WatchFanOut } from "./watch-fan-out.ts";

const { NODE_CREATED, NODE_DATA_CHANGED, NODE_DELETED, NODE_CHILDREN_CHANGED } = WatchEventType;
const one = 1 as Zxid;

test("notifications of one change are one value, however many changes a transaction makes", () => {
  const fanOut = new WatchFanOut();
  const [a, b] = [sliceOf("/a"), sliceOf("/b")];
  for (let i = 0; i < 5; i++) fanOut.note(one, NODE_DATA_CHANGED, a);
  for (let i = 0; i < 2; i++) fanOut.note(one, NODE_DATA_CHANGED, b);
  fanOut.note(one, NODE_CHILDREN_CHANGED, a);
  fanOut.note(one, NODE_CREATED, b);
  fanOut.note(2 as Zxid, NODE_DELETED, b);
  fanOut.note(-1, NODE_DELETED, b);
  fanOut.settle();
  fanOut.settle();
  expect([fanOut.changed.count, fanOut.changed.sum, fanOut.changed.max]).toEqual([2, 7, 5]);
  expect([fanOut.children, fanOut.created, fanOut.deleted].map(({ count, sum }) => [count, sum])).toEqual([
    [1, 1],
    [1, 1],
    [1, 1],
  ]);
});

test("a reset clears counted and pending notifications", () => {
  const fanOut = new WatchFanOut();
  fanOut.note(one, NODE_DELETED, sliceOf("/a"));
  fanOut.reset();
  fanOut.settle();
  expect(fanOut.deleted.count).toBe(0);
});
