import { expect, test } from "vitest";
import { ClosingQueue } from "./closing-queue.ts";

/** @param closeMs how long closing one takes */
function queueOf(
  count: number,
  closeMs = 0,
): { readonly queue: ClosingQueue<{ closeSocket(): void }>; readonly closed: number[] } {
  const closed: number[] = [];
  let nowMs = 0;
  const queue = new ClosingQueue<{ closeSocket(): void }>(() => nowMs);
  const closeSocket = (i: number) => (): void => {
    closed.push(i);
    nowMs += closeMs;
  };
  for (let i = 0; i < count; i++) queue.add({ closeSocket: closeSocket(i) });
  return { queue, closed };
}

test("connections that end at the same moment are closed some a turn, in order", () => {
  const { queue, closed } = queueOf(130);
  expect([queue.closeSome(), closed.length]).toEqual([true, 64]);
  queue.add({ closeSocket: () => closed.push(130) });
  expect([queue.closeSome(), closed.length]).toEqual([true, 128]);
  expect([queue.closeSome(), closed.length]).toEqual([false, 131]);
  expect(closed).toEqual(Array.from({ length: 131 }, (_, i) => i));
  expect([queue.closeSome(), closed.length]).toEqual([false, 131]);
});

test("connections that take long to close are closed for a millisecond a turn", () => {
  const { queue, closed } = queueOf(10, 0.25);
  expect([queue.closeSome(), closed.length]).toEqual([true, 4]);
  expect([queue.closeSome(), closed.length]).toEqual([true, 8]);
  expect([queue.closeSome(), closed.length]).toEqual([false, 10]);
});

test("a server that stops closes all of them", () => {
  const { queue, closed } = queueOf(200);
  queue.closeAll();
  expect(closed).toHaveLength(200);
});
