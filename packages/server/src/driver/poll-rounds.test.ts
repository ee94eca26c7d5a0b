import { expect, test } from "vitest";
import { PollRounds } from "./poll-rounds.ts";

/** An event loop whose polls are called one by one, and take `pollMs` each. */
function stagedLoop(pollMs = 0): {
  readonly polls: PollRounds;
  poll(): void;
  readonly done: string[];
  work(name: string): void;
} {
  let deferred: (() => void)[] = [];
  let nowMs = 0;
  const polls = new PollRounds({ now: () => nowMs, defer: (callback) => void deferred.push(callback) });
  const done: string[] = [];
  return {
    polls,
    done,
    work: (name) => polls.later(() => done.push(name)),
    poll() {
      const due = deferred;
      nowMs += pollMs;
      deferred = [];
      for (const callback of due) callback();
    },
  };
}

test("work is done after the next poll, in order", () => {
  const { poll, done, work } = stagedLoop();
  work("a");
  work("b");
  expect(done).toEqual([]);
  poll();
  expect(done).toEqual(["a", "b"]);
  poll();
  expect(done).toEqual(["a", "b"]);
});

test.each([
  [0, 17],
  [0.25, 5],
  [2, 2],
])("while connections arrive and a poll takes %d ms, %d are accepted before the work of one turn", (pollMs, count) => {
  const { polls, poll, done, work } = stagedLoop(pollMs);
  const acceptedPerTurn: number[] = [];
  for (let turn = 0, accepted = 0; turn < 3; accepted = 0) {
    const before = done.length;
    if (accepted === 0) work(`turn ${turn}`);
    while (done.length === before) {
      polls.arrived();
      accepted++;
      poll();
    }
    acceptedPerTurn.push(accepted);
    turn++;
  }
  expect(acceptedPerTurn).toEqual([count, count, count]);
});

test("the first poll without a connection is followed by the work", () => {
  const { polls, poll, done, work } = stagedLoop();
  work("a");
  for (let i = 0; i < 3; i++) {
    polls.arrived();
    poll();
  }
  expect(done).toEqual([]);
  poll();
  expect(done).toEqual(["a"]);
});

test("work that begins other work leaves that to a later poll", () => {
  const { polls, poll, done, work } = stagedLoop();
  polls.later(() => {
    done.push("first");
    work("second");
  });
  poll();
  expect(done).toEqual(["first"]);
  poll();
  expect(done).toEqual(["first", "second"]);
});
