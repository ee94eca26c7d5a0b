import { expect, test } from "vitest";
import { ReadState } from "./read-state.ts";

function flags({ isReady, isBlocked, isSpent, isQueued }: ReadState): string[] {
  return Object.entries({ isReady, isBlocked, isSpent, isQueued }).flatMap(([name, is]) => (is ? [name] : []));
}

test("a connection that is held, choked and withheld is ready when the last of the three is over", () => {
  const state = new ReadState();
  state.hold();
  state.choke();
  state.withhold();
  const seen = [flags(state)];
  state.drain();
  seen.push(flags(state));
  state.release();
  seen.push(flags(state));
  state.resume();
  seen.push(flags(state));
  expect(seen).toEqual([["isBlocked"], ["isBlocked"], ["isBlocked"], ["isReady"]]);
});

test("a connection that has had its share is queued or spent, never both", () => {
  const state = new ReadState();
  state.spend();
  expect(flags(state)).toEqual(["isSpent"]);
  state.queue();
  expect(flags(state)).toEqual(["isQueued"]);
  state.dequeue();
  expect(flags(state)).toEqual(["isReady"]);
});

test("a queued connection may be blocked, and stays blocked when its turn comes", () => {
  const state = new ReadState();
  state.queue();
  state.hold();
  state.dequeue();
  expect(flags(state)).toEqual(["isBlocked"]);
});
