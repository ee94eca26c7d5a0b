import { expect, test } from "vitest";
import { ClosingQueue } from "./closing-queue.ts";

function queueOf(count: number): { readonly queue: ClosingQueue<{ closeSocket(): void }>; readonly closed: number[] } {
  const closed: number[] = [];
  const queue = new ClosingQueue<{ closeSocket(): void }>();
  for (let i = 0; i < count; i++) queue.add({ closeSocket: () => closed.push(i) });
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

test("a server that stops closes all of them", () => {
  const { queue, closed } = queueOf(200);
  queue.closeAll();
  expect(closed).toHaveLength(200);
});
