import { expect, test } from "vitest";
import { FlushQueue } from "./flush-queue.ts";

/**
 * A queue of connections that take a millisecond each, and the order in which they were flushed.
 */
function slowQueue(): { readonly queue: FlushQueue<{ flush(): void }>; add(...names: string[]): void; sent: string[] } {
  let nowMs = 0;
  const sent: string[] = [];
  const queue = new FlushQueue<{ flush(): void }>(() => nowMs);
  return {
    queue,
    sent,
    add(...names) {
      for (const name of names) {
        queue.add({
          flush() {
            sent.push(name);
            nowMs++;
          },
        });
      }
    },
  };
}

test("a turn sends for some milliseconds, and the next one goes on", () => {
  const { queue, add, sent } = slowQueue();
  add(..."abcdefghij");
  expect([queue.flush(), sent.join("")]).toEqual([true, "abcd"]);
  expect([queue.flush(), sent.join("")]).toEqual([true, "abcdefgh"]);
  expect([queue.flush(), sent.join("")]).toEqual([false, "abcdefghij"]);
  expect([queue.flush(), sent.length]).toEqual([false, 10]);
});

test("answers of this turn are sent before those that are left, and both in every turn", () => {
  const { queue, add, sent } = slowQueue();
  add(..."abcdefghij");
  queue.flush();
  add(..."ABCDE");
  expect([queue.flush(), sent.join("")]).toEqual([true, "abcdABCDefgh"]);
  expect([queue.flush(), sent.join("")]).toEqual([false, "abcdABCDefghijE"]);
});
