import { serverId, ZXID_NONE } from "@zooid/model";
import { expect, test } from "vitest";
import { looking, majorityOf, notification, TestElection, vote } from "./testing/elections.ts";

test("a quorum settles for 200 ms while no round trip is known, then decides", () => {
  const server = looking(5);
  server.hear(2, notification("looking", 1, vote(1, 5, 10)), 0);
  server.hear(3, notification("looking", 1, vote(1, 5, 10)), 5);
  server.election.tick(204);
  expect(server.decisions).toEqual([]);
  server.election.tick(205);
  expect(server.decisions).toEqual(["leading 1"]);
  expect([server.election.role, server.election.nextDueMs()]).toEqual(["leading", undefined]);
});

test("with a measured round trip it settles for four of them", () => {
  const server = looking(5);
  server.election.measured(serverId(4), 10);
  server.hear(2, notification("looking", 1, vote(2, 6, 1)), 0);
  server.hear(3, notification("looking", 1, vote(2, 6, 1)), 5);
  expect(server.election.nextDueMs()).toBe(45);
  server.election.tick(45);
  expect(server.decisions).toEqual(["following 2"]);
});

test("when every voter has voted equally it decides at once: nothing better can come", () => {
  const server = looking(3);
  server.hear(2, notification("looking", 1, vote(1, 5, 10)));
  expect(server.decisions).toEqual([]);
  server.hear(3, notification("looking", 1, vote(1, 5, 10)));
  expect(server.decisions).toEqual(["leading 1"]);
});

test("an ensemble of one has decided when it begins to look", () => {
  const server = new TestElection({ verifier: majorityOf(1) });
  server.election.look({ zxid: ZXID_NONE, currentEpoch: 0 }, 0);
  expect([server.decisions, server.take()]).toEqual([["leading 1"], []]);
});

test("a vote that moves away while settling stops it", () => {
  const server = looking(5);
  server.hear(2, notification("looking", 1, vote(1, 5, 10)), 0);
  server.hear(3, notification("looking", 1, vote(1, 5, 10)), 0);
  server.hear(3, notification("looking", 1, vote(3, 5, 9)), 100);
  server.election.tick(300);
  expect(server.decisions).toEqual([]);
});

test("a better vote that has its quorum at once settles again, and is repeated no sooner than others", () => {
  const server = looking(3);
  server.hear(2, notification("looking", 1, vote(1, 5, 10)), 0);
  expect(server.election.nextDueMs()).toBe(200);
  server.hear(3, notification("looking", 1, vote(3, 6, 1)), 100);
  expect(server.election.nextDueMs()).toBe(300);
  server.election.tick(299);
  expect([server.take(), server.decisions]).toEqual([[], []]);
  server.election.tick(300);
  expect(server.decisions).toEqual(["following 3"]);
});

test("settling is not prolonged by votes that change nothing", () => {
  const server = looking(5);
  for (const [sid, nowMs] of [
    [2, 0],
    [3, 50],
    [4, 150],
  ] as const) {
    server.hear(sid, notification("looking", 1, vote(1, 5, 10)), nowMs);
  }
  server.election.tick(250);
  expect(server.decisions).toEqual(["leading 1"]);
});

test("while settling a better vote is adopted, and settles again", () => {
  const server = looking(5);
  for (const sid of [2, 3]) server.hear(sid, notification("looking", 1, vote(1, 5, 10)), 0);
  expect(server.hear(4, notification("looking", 1, vote(4, 6, 1)), 100)).toHaveLength(4);
  for (const sid of [2, 3]) server.hear(sid, notification("looking", 1, vote(4, 6, 1)), 150);
  server.election.tick(349);
  expect(server.decisions).toEqual([]);
  server.election.tick(350);
  expect(server.decisions).toEqual(["following 4"]);
});

test("while settling a higher round is joined", () => {
  const server = looking(5);
  for (const sid of [2, 3]) server.hear(sid, notification("looking", 1, vote(1, 5, 10)), 0);
  expect(server.hear(4, notification("looking", 2, vote(4, 5, 1)), 100)).toHaveLength(4);
  server.election.tick(1000);
  expect([server.election.round, server.decisions]).toEqual([2, []]);
});

test("while settling a leader that a quorum follows is found", () => {
  const server = looking(5);
  for (const sid of [2, 3]) server.hear(sid, notification("looking", 1, vote(1, 5, 10)), 0);
  for (const sid of [2, 3]) server.hear(sid, notification("following", 4, vote(5, 5, 9)), 100);
  server.hear(5, notification("leading", 4, vote(5, 5, 9)), 100);
  expect([server.decisions, server.election.round]).toEqual([["following 5"], 4]);
});
