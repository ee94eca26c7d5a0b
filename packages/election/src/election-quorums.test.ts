import { composeZxid, HierarchicalQuorum, jointVerifier, MajorityQuorum, serverId } from "@zooid/model";
import { expect, test } from "vitest";
import { looking, majorityOf, notification, position, TestElection, vote } from "./testing/elections.ts";

test("six servers cut three and three decide nothing", () => {
  const server = looking(6);
  for (const sid of [2, 3]) server.hear(sid, notification("looking", 1, vote(1, 5, 10)));
  server.election.tick(10_000);
  expect(server.decisions).toEqual([]);
  server.hear(4, notification("looking", 1, vote(1, 5, 10)), 10_000);
  server.election.tick(10_200);
  expect(server.decisions).toEqual(["leading 1"]);
});

test("a voter of weight 0 gives its vote to any candidate, and gets none", () => {
  const verifier = new HierarchicalQuorum(
    [1, 2, 3].map((sid) => ({ sid: serverId(sid), group: 1, weight: sid === 1 ? 0 : 1 })),
  );
  const candidates = new Set([2, 3].map(serverId));
  const weightless = looking(3, { verifier, candidates });
  expect(weightless.hear(2, notification("looking", 1, vote(2, 1, 1)))).toHaveLength(2);
  expect(weightless.election.vote).toEqual(vote(2, 1, 1));

  const other = new TestElection({ verifier, candidates }, 2);
  other.election.look(position(1, 1), 0);
  other.hear(1, notification("looking", 1, vote(1, 9, 9)));
  expect(other.election.vote).toEqual(vote(2, 1, 1));
  other.hear(1, notification("looking", 1, vote(2, 1, 1)), 0);
  other.election.tick(1000);
  expect(other.decisions).toEqual([]);
});

test("a server of weight 0 leads under no circumstances", () => {
  const verifier = majorityOf(3);
  const server = looking(3, { verifier, candidates: new Set([2, 3].map(serverId)) });
  for (const sid of [2, 3]) server.hear(sid, notification("looking", 1, vote(1, 5, 10)), 0);
  for (const sid of [2, 3]) server.hear(sid, notification("following", 1, vote(1, 5, 10)), 0);
  server.election.tick(1000);
  expect(server.decisions).toEqual([]);
});

test("two configurations in force both need their quorum", () => {
  const verifier = jointVerifier(majorityOf(3), new MajorityQuorum([3, 4, 5].map(serverId)));
  const server = looking(3, { verifier });
  for (const sid of [2, 3]) server.hear(sid, notification("looking", 1, vote(1, 5, 10)), 0);
  server.election.tick(1000);
  expect(server.decisions).toEqual([]);
  server.hear(4, notification("looking", 1, vote(1, 5, 10)), 1000);
  server.election.tick(1200);
  expect(server.decisions).toEqual(["leading 1"]);
});

test("an epoch's start marker is no position", () => {
  const server = new TestElection({ verifier: majorityOf(3) });
  expect(() => server.election.look({ zxid: composeZxid(5, 0), currentEpoch: 5 }, 0)).toThrow("start marker");
});

const withFour = { candidates: new Set([1, 2, 3, 4].map(serverId)) };

test("a server votes for a candidate without a vote that it has seen to be ahead, in one election", () => {
  const server = looking(3, withFour);
  server.election.look(position(5, 10), 0, vote(4, 5, 11));
  expect(server.election.vote).toEqual(vote(4, 5, 11));
  server.election.look(position(5, 10), 0, vote(4, 5, 9));
  expect(server.election.vote).toEqual(vote(1, 5, 10));
  server.election.look(undefined, 0, vote(4, 5, 11));
  expect(server.election.vote).toBeUndefined();
});

test("voters elect a candidate that is no voter, and one that comes later finds it by its own word", () => {
  const server = looking(3, withFour);
  server.hear(2, notification("looking", 1, vote(4, 5, 11)));
  expect(server.election.vote).toEqual(vote(4, 5, 11));
  server.hear(3, notification("looking", 1, vote(4, 5, 11)));
  expect(server.decisions).toEqual(["following 4"]);

  const late = looking(3, withFour);
  late.hear(2, notification("following", 7, vote(4, 5, 11)));
  late.hear(3, notification("following", 7, vote(4, 5, 11)));
  expect(late.decisions).toEqual([]);
  late.hear(4, notification("leading", 7, vote(4, 5, 11)));
  expect(late.decisions).toEqual(["following 4"]);
});

test("a server that is neither a voter nor a candidate is not elected", () => {
  const server = looking(3);
  for (const sid of [2, 3]) server.hear(sid, notification("looking", 1, vote(4, 5, 11)));
  for (const sid of [2, 3]) server.hear(sid, notification("following", 1, vote(4, 5, 11)));
  server.hear(4, notification("leading", 1, vote(4, 5, 11)));
  server.election.tick(10_000);
  expect([server.election.vote, server.decisions]).toEqual([vote(1, 5, 10), []]);
});
