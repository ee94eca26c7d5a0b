import { OpCode, serverId } from "@zooid/model";
import { expect, test } from "vitest";
import { TEST_TICK_MS, TestEnsemble, type TestMember } from "./testing/ensemble.ts";
import { create, read } from "./testing/requests.ts";
import { UnreachedLeaders } from "./unreached-leaders.ts";

const ENOUGH_MS = 100 * TEST_TICK_MS;

function leaderOf(ensemble: TestEnsemble): number | undefined {
  ensemble.advance(ENOUGH_MS);
  return ensemble.members.find(({ replica }) => replica.isLeading && replica.isServing)?.sid;
}

test.each([3, 4, 5])("of %i servers the others elect a leader while the best one's quorum port is blocked", (count) => {
  // They begin with equal histories, so that the highest id is the best vote.
  const ensemble = new TestEnsemble(count, { blocked: count });
  expect(leaderOf(ensemble)).toBe(count - 1);
  expect(ensemble.followers).toHaveLength(count - 1);
  const { leader } = ensemble;
  expect(leader.ask(leader.open(), OpCode.CREATE, create("/kept"))).toBe("path /kept");
  const [follower] = ensemble.followers as [TestMember];
  expect(follower.ask(follower.open(), OpCode.EXISTS, read("/kept"))).toMatch(/^stat/);
});

test("a server that is not reached votes for the other one of the quorum, if their histories are equal", () => {
  const ensemble = new TestEnsemble(3);
  const [first, second, third] = ensemble.members as [TestMember, TestMember, TestMember];
  ensemble.blockPort(third);
  ensemble.cutOff(second);
  // S1 and S3 are connected for elections alone: S3 still leads over the link that there was.
  ensemble.cutOff(third);
  ensemble.rejoin(third);
  expect(leaderOf(ensemble)).toBe(first.sid);
  expect(ensemble.followers).toEqual([third]);
});

test("a leader whose port is open again is elected as before", () => {
  const ensemble = new TestEnsemble(3);
  const [first, second, third] = ensemble.members as [TestMember, TestMember, TestMember];
  ensemble.blockPort(third);
  ensemble.cutOff(third);
  ensemble.rejoin(third);
  expect(leaderOf(ensemble)).toBe(second.sid);
  ensemble.openPort(third);
  ensemble.cutOff(second);
  expect(leaderOf(ensemble)).toBe(third.sid);
  expect(ensemble.followers).toEqual([first]);
});

test("a learner that reconnects to the others joins their leader at once", () => {
  const ensemble = new TestEnsemble(3);
  const [first, , third] = ensemble.members as [TestMember, TestMember, TestMember];
  ensemble.blockPort(third);
  ensemble.cutOff(first);
  ensemble.rejoin(first);
  ensemble.advance(2 * TEST_TICK_MS);
  expect(ensemble.followers).not.toContain(first);
  ensemble.openPort(third);
  ensemble.cutOff(first);
  ensemble.rejoin(first);
  ensemble.advance(TEST_TICK_MS);
  expect(ensemble.followers).toContain(first);
});

test("a leader is avoided after three elections in a row, for a time, and no longer than it is not heard of again", () => {
  const s3 = serverId(3);
  const unreached = new UnreachedLeaders(50);
  expect([unreached.failed(s3, 0), unreached.failed(s3, 1)]).toEqual([false, false]);
  expect(unreached.isAvoided(s3, 1)).toBe(false);
  expect(unreached.failed(s3, 2)).toBe(true);
  expect([unreached.isAvoided(s3, 51), unreached.isAvoided(s3, 52)]).toEqual([true, false]);
  expect([unreached.failed(s3, 53), unreached.failed(s3, 54)]).toEqual([false, false]);
  unreached.clear();
  for (let i = 0; i < 3; i++) unreached.failed(s3, 56);
  expect([unreached.forget(s3), unreached.forget(s3), unreached.isAvoided(s3, 57)]).toEqual([true, false, false]);
});
