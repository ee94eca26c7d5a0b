import { expect, test } from "vitest";
import { ReadQueue } from "./read-queue.ts";

/** A queue with room for so many a turn, and the names of those that were read. */
function queueOf(roomPerTurn: number): {
  readonly add: (names: string, hasHadShare: boolean) => void;
  readonly turn: () => string;
} {
  const queue = new ReadQueue<{ readLater(): void }>();
  const read: string[] = [];
  return {
    add(names, hasHadShare) {
      for (const name of names) queue.add({ readLater: () => void read.push(name) }, hasHadShare);
    },
    turn() {
      let room = roomPerTurn;
      queue.serve(() => room-- > 0);
      return read.splice(0).join("");
    },
  };
}

test("connections that came too late are read in the order in which they came, as far as there is room", () => {
  const queue = queueOf(3);
  queue.add("abcde", false);
  expect([queue.turn(), queue.turn(), queue.turn()]).toEqual(["abc", "de", ""]);
});

test("a connection that has had its share is read in each turn, however many others come", () => {
  const queue = queueOf(3);
  queue.add("XY", true);
  queue.add("abcd", false);
  expect(queue.turn()).toBe("Xab");
  queue.add("efgh", false);
  expect([queue.turn(), queue.turn(), queue.turn()]).toEqual(["Ycd", "efg", "h"]);
});

test("one connection of each kind is read where there is no room at all", () => {
  const queue = queueOf(0);
  queue.add("XY", true);
  queue.add("ab", false);
  expect([queue.turn(), queue.turn()]).toEqual(["Xa", "Yb"]);
});
