import { composeZxid, serverId } from "@zooid/model";
import { expect, test } from "vitest";
import { looking, notification, vote } from "./testing/elections.ts";

test("a server that decided in this round, and its leader, are enough with this server's own vote", () => {
  const server = looking(3);
  server.hear(2, notification("looking", 1, vote(2, 6, 1)), 0);
  server.hear(2, notification("leading", 1, vote(2, 6, 1)), 1);
  expect(server.decisions).toEqual(["following 2"]);
});

test("a restarted voter finds the sitting leader: a quorum names it, and it says so itself", () => {
  const server = looking(5);
  server.hear(3, notification("following", 8, vote(5, 5, 3)));
  server.hear(5, notification("leading", 8, vote(5, 5, 3)));
  expect(server.decisions).toEqual([]);
  server.hear(4, notification("following", 8, vote(5, 5, 3)));
  expect([server.decisions, server.election.round, server.election.vote]).toEqual([["following 5"], 8, vote(5, 5, 3)]);
});

test("members of one ensemble may report different rounds and zxids of their leader", () => {
  const server = looking(5);
  server.hear(3, notification("following", 2, { ...vote(5, 5, 3), zxid: composeZxid(4, 7) }));
  server.hear(4, notification("following", 9, vote(5, 5, 8)));
  server.hear(5, notification("leading", 7, vote(5, 5, 3)));
  expect(server.decisions).toEqual(["following 5"]);
});

test("members that report different epochs are no quorum together", () => {
  const server = looking(3);
  server.hear(2, notification("following", 4, vote(3, 4, 1)));
  server.hear(3, notification("leading", 4, vote(3, 5, 1)));
  expect(server.decisions).toEqual([]);
  server.hear(2, notification("following", 4, vote(3, 5, 1)));
  expect(server.decisions).toEqual(["following 3"]);
});

test.each([1, 4])("a dead leader is not elected again by hearsay, found in round %i", (round) => {
  const server = looking(5);
  for (const sid of [2, 3, 4]) server.hear(sid, notification("following", round, vote(5, 9, 9)));
  server.election.tick(1000);
  expect(server.decisions).toEqual([]);
});

test("a leader that looks itself leads no more", () => {
  const server = looking(5);
  server.hear(5, notification("leading", 4, vote(5, 5, 3)));
  server.hear(5, notification("looking", 1, vote(5, 5, 3)));
  for (const sid of [2, 3, 4]) server.hear(sid, notification("following", 4, vote(5, 5, 3)));
  expect(server.decisions).toEqual([]);
});

test("a deposed leader that does not know it captures no server", () => {
  const server = looking(5);
  server.hear(5, notification("leading", 4, vote(5, 5, 3)));
  server.hear(4, notification("following", 4, vote(5, 5, 3)));
  server.election.tick(1000);
  expect(server.decisions).toEqual([]);
});

test("a follower that looks again is no member any more", () => {
  const server = looking(5);
  server.hear(3, notification("following", 4, vote(5, 5, 3)));
  server.hear(3, notification("looking", 1, vote(3, 5, 3)));
  server.hear(4, notification("following", 4, vote(5, 5, 3)));
  server.hear(5, notification("leading", 4, vote(5, 5, 3)));
  expect(server.decisions).toEqual([]);
});

test("a voter that finds a leader of another round no longer supports this server's vote", () => {
  const server = looking(5);
  for (const sid of [2, 3]) server.hear(sid, notification("looking", 1, vote(1, 5, 10)), 0);
  server.hear(3, notification("following", 4, vote(5, 5, 3)), 100);
  server.election.tick(1000);
  expect(server.decisions).toEqual([]);
});

test("followers that remember another zxid of this server make it lead too, and with them it has a quorum", () => {
  const server = looking(3);
  for (const sid of [2, 3]) server.hear(sid, notification("following", 1, vote(1, 5, 9)));
  expect([server.decisions, new Set(server.election.supporters)]).toEqual([
    ["leading 1"],
    new Set([1, 2, 3].map(serverId)),
  ]);
});

test("others that were quicker to decide for this server make it lead, in the same round", () => {
  const server = looking(3);
  server.hear(2, notification("following", 1, vote(1, 5, 10)));
  expect(server.decisions).toEqual(["leading 1"]);
});

test("followers of the time before a restart do not make this server lead", () => {
  const server = looking(3);
  for (const sid of [2, 3]) server.hear(sid, notification("following", 6, vote(1, 5, 10)));
  server.election.tick(1000);
  expect(server.decisions).toEqual([]);
});

test("observers are not counted", () => {
  const server = looking(3);
  server.hear(2, notification("observing", 1, vote(3, 5, 10)));
  server.hear(3, notification("leading", 1, vote(3, 5, 10)));
  expect(server.decisions).toEqual([]);
});

test("a voter that came to observe no longer supports what it voted", () => {
  const server = looking(5);
  for (const sid of [2, 3]) server.hear(sid, notification("looking", 1, vote(1, 5, 10)), 0);
  server.hear(3, notification("observing", 1, vote(1, 5, 10)), 100);
  server.election.tick(1000);
  expect(server.decisions).toEqual([]);
});
