import { expect, test } from "vitest";
import { type RoleAt, RoleTimes } from "./role-times.ts";

const LOOKING: RoleAt = { state: "looking", phase: "election" };

function timesOf(...steps: readonly (readonly [nowMs: number, at: RoleAt])[]): RoleTimes {
  const times = new RoleTimes();
  for (const [nowMs, at] of steps) times.changed(at, nowMs);
  return times;
}

function sums({ elections, followerSyncs, observerSyncs, unavailable, leaderUnavailable }: RoleTimes) {
  return [elections, followerSyncs, observerSyncs, unavailable, leaderUnavailable].map(({ count, sum }) => [
    count,
    sum,
  ]);
}

const NONE = [0, 0];

test.each([
  ["leading", [[1, 200], NONE, NONE, [1, 250], [1, 250]]],
  ["following", [[1, 200], [1, 50], NONE, [1, 250], NONE]],
  ["observing", [NONE, NONE, [1, 50], [1, 250], NONE]],
] as const)("times of a server that looked, decided and is %s", (state, expected) => {
  const times = timesOf([100, LOOKING], [300, { state, phase: "discovery" }], [350, { state, phase: "broadcast" }]);
  expect(sums(times)).toEqual(expected);
  expect([times.lookingCount, times.sinceMs]).toEqual([1, 350]);
});

test("a failed election is counted too, and the server is unavailable until it has a role", () => {
  const times = timesOf(
    [0, LOOKING],
    [100, { state: "following", phase: "discovery" }],
    [150, LOOKING],
    [400, { state: "following", phase: "discovery" }],
    [500, { state: "following", phase: "broadcast" }],
  );
  expect(sums(times)).toEqual([[2, 500], [1, 100], NONE, [1, 500], NONE]);
  expect(times.lookingCount).toBe(2);
});

test("a role without a search, as a server alone has it, is counted nowhere", () => {
  expect(sums(timesOf([5, { state: "leading", phase: "broadcast" }]))).toEqual([NONE, NONE, NONE, NONE, NONE]);
});

test("a reset clears the counters and keeps the running search", () => {
  const times = timesOf([0, LOOKING]);
  times.resetCounts();
  times.changed({ state: "leading", phase: "broadcast" }, 70);
  expect(sums(times)).toEqual([[1, 70], NONE, NONE, [1, 70], [1, 70]]);
  expect(times.lookingCount).toBe(0);
});
