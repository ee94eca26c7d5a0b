import { MajorityQuorum, serverId } from "@zooid/model";
import { expect, test } from "vitest";
import { looking, majorityOf, notification, observer, position, TestElection, vote } from "./testing/elections.ts";

test("a stranger that asks is answered with this server's state, and not counted", () => {
  const server = looking(3);
  expect(server.hear(9, notification("looking", 1, undefined))).toEqual(["9: looking 1 1/5.10"]);
  server.hear(9, notification("looking", 5, vote(2, 9, 9)));
  server.hear(9, notification("following", 1, vote(1, 5, 10)));
  server.election.tick(1000);
  expect([server.election.round, server.election.vote, server.decisions]).toEqual([1, vote(1, 5, 10), []]);
});

test("two servers that each think the other is no voter do not answer each other indefinitely", () => {
  const one = looking(3);
  const other = new TestElection({ verifier: new MajorityQuorum([4, 5, 6].map(serverId)) }, 4);
  other.election.look(position(5, 10), 0);
  let words: readonly string[] = ["first"];
  for (let turn = 0; turn < 4 && words.length > 0; turn++) {
    words = [
      ...one.hear(4, notification("looking", 1, other.election.vote)),
      ...other.hear(1, notification("looking", 1, one.election.vote)),
    ];
  }
  expect(words).toEqual([]);
});

test.each(["leading 2", "following 2"])(
  "a server that decided (%s) answers servers that look, and no other",
  (role) => {
    const server = looking(3);
    for (const sid of [2, 3]) server.hear(sid, notification("looking", 1, vote(2, 6, 1)));
    expect(server.decisions).toEqual(["following 2"]);
    if (role === "leading 2") server.election.adopt("leading", vote(1, 6, 1));
    const answer = role === "leading 2" ? "leading 1 1/6.1" : "following 1 2/6.1";
    expect(server.hear(3, notification("looking", 1, vote(3, 9, 9)))).toEqual([`3: ${answer}`]);
    expect(server.hear(9, notification("looking", 7, undefined))).toEqual([`9: ${answer}`]);
    expect(server.hear(2, notification("leading", 1, vote(2, 6, 1)))).toEqual([]);
    expect(server.hear(3, notification("following", 1, vote(2, 6, 1)))).toEqual([]);
    server.election.linkUp(serverId(3), 10);
    server.election.tick(100_000);
    expect([server.take(), server.election.round]).toEqual([[], 1]);
  },
);

test("an observer asks without a vote and finds the leader that others have", () => {
  const server = new TestElection({ verifier: majorityOf(3) }, 9);
  server.election.look(position(5, 10), 0);
  expect(server.take()).toEqual([1, 2, 3].map((sid) => `${sid}: looking 1 none`));
  server.hear(1, notification("following", 4, vote(2, 5, 3)));
  server.hear(2, notification("leading", 4, vote(2, 5, 3)));
  expect([server.decisions, server.election.role, server.election.round]).toEqual([["observing 2"], "observing", 4]);
});

test("an observer takes no part in an election: votes make it neither change, nor answer, nor decide", () => {
  const server = observer();
  for (const sid of [1, 2, 3]) {
    expect(server.hear(sid, notification("looking", 0, vote(2, 5, 3)))).toEqual([]);
    expect(server.hear(sid, notification("looking", 7, vote(2, 5, 3)))).toEqual([]);
  }
  expect(server.hear(8, notification("looking", 1, undefined))).toEqual([]);
  server.election.tick(199);
  expect([server.decisions, server.election.round, server.election.vote]).toEqual([[], 1, undefined]);
});

test("an observer repeats its question", () => {
  const server = observer();
  server.election.tick(200);
  expect(server.take()).toEqual([1, 2, 3].map((sid) => `${sid}: looking 1 none`));
});

test("an observer that lost its leader waits a little before it asks", () => {
  const server = observer();
  server.election.look(undefined, 1000);
  expect([server.take(), server.election.nextDueMs()]).toEqual([[], 1100]);
  server.election.tick(1100);
  expect(server.take()).toHaveLength(3);
});

test("a voter that lost its storage has no vote, and is answered with the others' states", () => {
  const wiped = new TestElection({ verifier: majorityOf(3) });
  wiped.election.look(undefined, 0);
  expect(wiped.take()).toEqual(["2: looking 1 none", "3: looking 1 none"]);
  const server = looking(3);
  expect(server.hear(2, notification("looking", 1, undefined))).toEqual(["2: looking 1 1/5.10"]);
});

test("what a voter said before it lost its storage counts no longer", () => {
  const server = looking(3);
  server.hear(2, notification("looking", 1, vote(1, 5, 10)), 0);
  server.hear(2, notification("looking", 1, undefined), 10);
  server.election.tick(1000);
  expect(server.decisions).toEqual([]);
});

test("a leader that lost its storage does not lead because others still follow it", () => {
  const server = new TestElection({ verifier: majorityOf(3) });
  server.election.look(undefined, 0);
  for (const sid of [2, 3]) server.hear(sid, notification("following", 1, vote(1, 5, 10)));
  expect(server.decisions).toEqual([]);
});

test("a server that is its own voter's stranger hears nothing from itself", () => {
  const server = looking(3);
  expect(server.hear(1, notification("looking", 9, vote(3, 9, 9)))).toEqual([]);
  expect(server.election.round).toBe(1);
});

test("messages of the other algorithm are ignored", () => {
  const server = looking(3);
  expect(server.hear(2, { kind: "poll", number: 1 })).toEqual([]);
  expect(server.hear(2, { kind: "poll-answer", number: 1, role: "leading", vote: vote(2, 5, 1) })).toEqual([]);
});
