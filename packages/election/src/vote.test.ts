import { composeZxid, serverId, type Vote } from "@zooid/model";
import { expect, test } from "vitest";
import { position, vote } from "./testing/elections.ts";
import { beats, better, compareVotes, isSameLeadership, isSameVote, ownVote } from "./vote.ts";

const ALL = new Set([1, 2, 3].map(serverId));

test.each([
  ["epoch before zxid and id", vote(1, 6, 1), vote(3, 5, 9)],
  ["zxid before id", vote(1, 5, 2), vote(3, 5, 1)],
  ["id where all else is equal", vote(3, 5, 1), vote(1, 5, 1)],
])("votes are ordered by %s", (_, higher, lower) => {
  expect(compareVotes(higher, lower)).toBeGreaterThan(0);
  expect(compareVotes(lower, higher)).toBeLessThan(0);
  expect(better(higher, lower, ALL)).toBe(higher);
  expect(better(lower, higher, ALL)).toBe(higher);
});

test("the epoch of the candidate decides, not the epoch of its last entry", () => {
  const behind: Vote = { leader: serverId(1), zxid: composeZxid(4, 9), peerEpoch: 6 };
  expect(beats(behind, vote(3, 5, 9), ALL)).toBe(true);
});

test("an equal vote does not beat", () => {
  expect(beats(vote(1, 5, 1), vote(1, 5, 1), ALL)).toBe(false);
});

test("a server that is no candidate beats none, and any candidate beats it", () => {
  const candidates = new Set([serverId(1)]);
  expect(beats(vote(2, 9, 9), vote(1, 1, 1), candidates)).toBe(false);
  expect(beats(vote(1, 1, 1), vote(2, 9, 9), candidates)).toBe(true);
  expect(beats(vote(3, 9, 9), vote(2, 1, 1), candidates)).toBe(false);
});

test("one vote is another when all is equal; one leadership is another in spite of the zxid", () => {
  const other = { ...vote(1, 5, 1), zxid: composeZxid(5, 2) };
  expect([isSameVote(vote(1, 5, 1), vote(1, 5, 1)), isSameVote(vote(1, 5, 1), other)]).toEqual([true, false]);
  expect([isSameVote(vote(1, 5, 1), vote(2, 5, 1)), isSameVote(vote(1, 5, 1), vote(1, 6, 1))]).toEqual([false, false]);
  expect(isSameLeadership(vote(1, 5, 1), other)).toBe(true);
  expect(isSameLeadership(vote(1, 5, 1), vote(2, 5, 1))).toBe(false);
  expect(isSameLeadership(vote(1, 5, 1), { ...vote(1, 5, 1), peerEpoch: 6 })).toBe(false);
});

test("a server's own vote is its position, and none without one", () => {
  expect(ownVote(serverId(2), position(5, 7))).toEqual(vote(2, 5, 7));
  expect(ownVote(serverId(2), position(0, 0))).toEqual(vote(2, 0, 0));
  expect(ownVote(serverId(2), undefined)).toBe(undefined);
  expect(() => ownVote(serverId(2), position(5, 0))).toThrow("start marker");
});
