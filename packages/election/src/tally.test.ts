import { composeZxid, serverId } from "@zooid/model";
import { expect, test } from "vitest";
import { Tally } from "./tally.ts";
import { vote } from "./testing/elections.ts";
import { isSameLeadership, isSameVote } from "./vote.ts";

const [one, two, three] = [serverId(1), serverId(2), serverId(3)];

test("a server has one ballot, its newest", () => {
  const tally = new Tally(isSameVote);
  tally.cast(one, { vote: vote(1, 5, 1), role: "looking" });
  tally.cast(two, { vote: vote(1, 5, 1), role: "looking" });
  tally.cast(one, { vote: vote(2, 5, 1), role: "looking" });
  expect([...tally.supporters(vote(1, 5, 1))]).toEqual([two]);
  expect([...tally.supporters(vote(2, 5, 1))]).toEqual([one]);
});

test("a withdrawn ballot supports no vote, and after clearing there is none", () => {
  const tally = new Tally(isSameVote);
  for (const sid of [one, two, three]) tally.cast(sid, { vote: vote(1, 5, 1), role: "looking" });
  tally.withdraw(two);
  expect([...tally.supporters(vote(1, 5, 1))]).toEqual([one, three]);
  tally.clear();
  expect(tally.supporters(vote(1, 5, 1)).size).toBe(0);
});

test("in a round agreement means equal in everything, outside leader and epoch are enough", () => {
  const other = { ...vote(3, 5, 1), zxid: composeZxid(4, 9) };
  const inRound = new Tally(isSameVote);
  const outside = new Tally(isSameLeadership);
  for (const tally of [inRound, outside]) {
    tally.cast(one, { vote: vote(3, 5, 1), role: "following" });
    tally.cast(two, { vote: other, role: "following" });
    tally.cast(three, { vote: { ...vote(3, 5, 1), peerEpoch: 6 }, role: "leading" });
  }
  expect([...inRound.supporters(vote(3, 5, 1))]).toEqual([one]);
  expect([...outside.supporters(vote(3, 5, 1))]).toEqual([one, two]);
});

test("a leader is one that says so itself", () => {
  const tally = new Tally(isSameLeadership);
  tally.cast(one, { vote: vote(2, 5, 1), role: "following" });
  tally.cast(two, { vote: vote(2, 5, 1), role: "leading" });
  expect([one, two, three].map((sid) => tally.saysItLeads(sid))).toEqual([false, true, false]);
});
