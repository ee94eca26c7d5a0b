import { expect, test } from "vitest";
import { ReadQueue } from "./read-queue.ts";
import { TurnOrder } from "./turn-order.ts";

interface Named {
  readonly share: string;
  readonly isProxied: boolean;
  readLater(): void;
}

const begin = (): void => {};

function newQueue(): ReadQueue<Named> {
  return new ReadQueue(new TurnOrder({ now: () => 0, proxiesShare: 1 / 4 }));
}

/**
 * A queue with room for `roomPerTurn` connections a turn, and the names of those that were read.
 */
function queueOf(roomPerTurn: number): {
  readonly add: (names: string, hasHadShare: boolean) => void;
  readonly turn: () => string;
} {
  const queue = newQueue();
  const read: string[] = [];
  return {
    add(names, hasHadShare) {
      for (const name of names)
        queue.add({ share: name.toLowerCase(), isProxied: false, readLater: () => void read.push(name) }, hasHadShare);
    },
    turn() {
      let room = roomPerTurn;
      queue.serve(() => room-- > 0, begin);
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

test("one connection of each kind is read where there is no room", () => {
  const queue = queueOf(0);
  queue.add("XY", true);
  queue.add("ab", false);
  expect([queue.turn(), queue.turn()]).toEqual(["Xa", "Yb"]);
});

test("a client waits for one connection of another address, not for all of them", () => {
  const queue = newQueue();
  const read: string[] = [];
  const wait = (share: string, name: string): void =>
    queue.add({ share, isProxied: false, readLater: () => void read.push(name) }, false);
  for (let i = 0; i < 50; i++) wait("10.0.0.1", `attacker ${i}`);
  wait("10.0.0.2", "victim");
  let room = 4;
  queue.serve(() => room-- > 0, begin);
  expect(read).toEqual(["attacker 0", "victim", "attacker 1", "attacker 2"]);
});

test("those that came too late are known apart from those that had a share, until they are read", () => {
  const queue = newQueue();
  const named = (share: string): Named => ({ share, isProxied: false, readLater: () => {} });
  const facts = (): readonly boolean[] => [queue.isEmpty, queue.hasLate];
  expect(facts()).toEqual([true, false]);
  queue.add(named("a"), true);
  expect(facts()).toEqual([false, false]);
  queue.add(named("b"), false);
  expect(facts()).toEqual([false, true]);
  queue.serve(() => true, begin);
  expect(facts()).toEqual([true, false]);
});
