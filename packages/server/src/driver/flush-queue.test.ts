import { expect, test } from "vitest";
import { FlushQueue } from "./flush-queue.ts";

interface Sender {
  readonly share: string;
  readonly isProxied: boolean;
  flush(): void;
}

/**
 * A queue of connections that take half a millisecond each, and the order in which they were
 * flushed.
 * Their first letter is their address.
 */
function slowQueue(): {
  readonly queue: FlushQueue<Sender>;
  answers(...names: string[]): void;
  events(...names: string[]): void;
  turn(): { readonly isLeft: boolean; readonly sent: string };
} {
  let nowMs = 0;
  let sent: string[] = [];
  const queue = new FlushQueue<Sender>({ now: () => nowMs, proxiesShare: 0.25 });
  const sender = (name: string, ms: number): Sender => ({
    share: name.slice(0, 1),
    isProxied: false,
    flush() {
      sent.push(name);
      nowMs += ms;
    },
  });
  return {
    queue,
    answers: (...names) => names.forEach((name) => void queue.add(sender(name, 0.5))),
    events: (...names) => names.forEach((name) => void queue.addEvents(sender(name, 0.5))),
    turn() {
      sent = [];
      const isLeft = queue.flush();
      return { isLeft, sent: sent.join(" ") };
    },
  };
}

test("a turn sends answers for some milliseconds, and the next ones continue", () => {
  const { answers, turn } = slowQueue();
  answers(..."abcdef");
  expect(turn()).toEqual({ isLeft: true, sent: "a b c d" });
  expect(turn()).toEqual({ isLeft: true, sent: "e" });
  expect(turn()).toEqual({ isLeft: false, sent: "f" });
  expect(turn()).toEqual({ isLeft: false, sent: "" });
});

test("answers of this turn are sent before those that are left, and both in every turn", () => {
  const { answers, turn } = slowQueue();
  answers(..."abcdef");
  turn();
  answers(..."ABCDE");
  expect(turn()).toEqual({ isLeft: true, sent: "A B C D e" });
  expect(turn()).toEqual({ isLeft: true, sent: "f" });
  expect(turn()).toEqual({ isLeft: false, sent: "E" });
});

test("events are sent after answers, some in each turn", () => {
  const { answers, events, turn } = slowQueue();
  events(..."abcdef");
  answers(..."ABCDE");
  expect(turn()).toEqual({ isLeft: true, sent: "A B C D a b" });
  answers("F");
  expect(turn()).toEqual({ isLeft: true, sent: "F E c d" });
  expect(turn()).toEqual({ isLeft: false, sent: "e f" });
});

test("addresses take turns with what was left, and with events", () => {
  const { answers, events, turn } = slowQueue();
  answers("a1", "a2", "a3", "a4", "a5", "a6", "a7", "b1");
  events("a1", "a2", "a3", "a4", "b1");
  expect(turn()).toEqual({ isLeft: true, sent: "a1 a2 a3 a4 a1 b1" });
  expect(turn()).toEqual({ isLeft: true, sent: "a5 a2 a3" });
  expect(turn()).toEqual({ isLeft: true, sent: "b1 a4" });
});
