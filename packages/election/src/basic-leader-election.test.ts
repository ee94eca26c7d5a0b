import type { PeerRole, Vote } from "@zooid/model";
import { HierarchicalQuorum, serverId } from "@zooid/model";
import { expect, test } from "vitest";
import { majorityOf, notification, position, TestElection, vote } from "./testing/elections.ts";

type Options = Partial<ConstructorParameters<typeof TestElection>[0]>;

/** Server 1 of `voters`, looking at time 0 with the log 5.10; its first question is not kept. */
function looking(voters = 3, options: Options = {}): TestElection {
  const server = new TestElection({ algorithm: 0, verifier: majorityOf(voters), ...options });
  server.election.look(position(5, 10), 0);
  return server;
}

/** Answers the newest question. */
function answer(server: TestElection, from: number, role: PeerRole, named: Vote | undefined, nowMs = 0): void {
  const polls = server.sent.filter(({ message }) => message.kind === "poll");
  const number = polls.at(-1)?.message;
  if (number?.kind !== "poll") throw new Error("nothing was asked");
  server.election.receive(serverId(from), { kind: "poll-answer", number: number.number, role, vote: named }, nowMs);
}

/** The next round begins when this has returned. */
function rest(server: TestElection): void {
  server.sent.length = 0;
  server.election.tick(server.election.nextDueMs() ?? Number.NaN);
}

// Asking and answering

test("a round asks every voter but itself", () => {
  const server = looking(3);
  expect([server.election.round, server.election.role, server.election.vote]).toEqual([1, "looking", vote(1, 5, 10)]);
  expect(server.take()).toEqual(["2: poll", "3: poll"]);
});

test.each<[string, (server: TestElection) => void, string]>([
  ["that looks: its vote", () => {}, "looking 1/5.10"],
  ["that follows: its leader", (server) => server.election.adopt("following", vote(2, 6, 1)), "following 2/6.1"],
  ["that leads: itself", (server) => server.election.adopt("leading", vote(1, 6, 1)), "leading 1/6.1"],
  ["that observes: nobody", (server) => server.election.adopt("observing", vote(2, 6, 1)), "observing none"],
  ["that lost its storage: nobody", (server) => server.election.look(undefined, 0), "looking none"],
])("a question is answered by a server %s", (_, become, expected) => {
  const server = looking(3);
  become(server);
  expect(server.hear(2, { kind: "poll", number: 77 })).toEqual([`2: ${expected}`]);
  expect(server.hear(9, { kind: "poll", number: 78 })).toEqual([`9: ${expected}`]);
});

test("a server neither answers nor asks itself", () => {
  const server = looking(3);
  expect(server.hear(1, { kind: "poll", number: 77 })).toEqual([]);
});

test("an answer carries the number of its question", () => {
  const server = looking(3);
  server.sent.length = 0;
  server.election.receive(serverId(2), { kind: "poll", number: 77 }, 0);
  expect(server.sent[0]?.message).toMatchObject({ kind: "poll-answer", number: 77 });
});

test("before the first look nothing is answered or due", () => {
  const server = new TestElection({ algorithm: 0, verifier: majorityOf(3) });
  expect(server.hear(2, { kind: "poll", number: 1 })).toEqual([]);
  server.election.linkUp(serverId(2), 0);
  server.election.tick(1000);
  expect([server.take(), server.election.nextDueMs(), server.election.vote]).toEqual([[], undefined, undefined]);
});

test("numbers of questions begin somewhere, so that an answer from before a restart answers nothing", () => {
  const numberOf = (random: number): unknown => looking(3, { random: () => random }).sent[0]?.message;
  expect(numberOf(0.25)).toEqual({ kind: "poll", number: 2 ** 29 + 1 });
  expect(numberOf(0.5)).toEqual({ kind: "poll", number: 2 ** 30 + 1 });
});

test("an answer to an earlier question, from a stranger, or that comes while it rests, is ignored", () => {
  const server = looking(3, { random: () => 0.25 });
  server.election.receive(
    serverId(2),
    { kind: "poll-answer", number: 2 ** 29, role: "looking", vote: vote(1, 5, 10) },
    0,
  );
  for (const sid of [1, 8, 9]) answer(server, sid, "looking", vote(1, 5, 10));
  expect(server.election.nextDueMs()).toBe(200);
  server.election.tick(200);
  answer(server, 2, "looking", vote(1, 5, 10));
  server.election.tick(200);
  expect(server.decisions).toEqual([]);
});

// A round

test("a round ends when all have answered, and the best vote is the next", () => {
  const server = looking(3);
  answer(server, 2, "looking", vote(2, 6, 1));
  expect(server.election.vote).toEqual(vote(1, 5, 10));
  answer(server, 3, "looking", vote(3, 5, 99));
  expect([server.election.vote, server.decisions]).toEqual([vote(2, 6, 1), []]);
});

test("a round ends after 200 ms if someone does not answer", () => {
  const server = looking(3);
  answer(server, 2, "looking", vote(2, 6, 1));
  server.election.tick(199);
  expect(server.election.vote).toEqual(vote(1, 5, 10));
  server.election.tick(200);
  expect(server.election.vote).toEqual(vote(2, 6, 1));
});

test.each([
  [0, 100],
  [0.5, 200],
  [0.999, 299],
])("between rounds it rests for about 200 ms (chance %d: %i ms)", (random, restMs) => {
  const server = looking(3, { random: () => random });
  server.election.tick(200);
  expect(server.election.nextDueMs()).toBe(200 + restMs);
  server.take();
  server.election.tick(200 + restMs - 1);
  expect(server.take()).toEqual([]);
  server.election.tick(200 + restMs);
  expect([server.take(), server.election.round]).toEqual([["2: poll", "3: poll"], 2]);
});

test("when a quorum names one candidate it is decided", () => {
  const server = looking(3);
  answer(server, 2, "looking", vote(2, 6, 1));
  server.election.tick(200);
  rest(server);
  answer(server, 2, "looking", vote(2, 6, 1));
  server.election.tick(1000);
  expect([server.decisions, server.election.role]).toEqual([["following 2"], "following"]);
  expect([new Set(server.election.supporters), server.election.nextDueMs()]).toEqual([
    new Set([1, 2].map(serverId)),
    undefined,
  ]);
});

test("a server that a quorum names leads", () => {
  const server = looking(3);
  answer(server, 2, "looking", vote(1, 5, 10));
  answer(server, 3, "looking", vote(3, 5, 1));
  expect(server.decisions).toEqual(["leading 1"]);
});

test("a server that others name leads, though its own vote had moved on", () => {
  const server = looking(3);
  answer(server, 2, "looking", vote(2, 6, 1));
  server.election.tick(200);
  rest(server);
  for (const sid of [2, 3]) answer(server, sid, "following", vote(1, 5, 10), 400);
  expect([server.decisions, new Set(server.election.supporters)]).toEqual([
    ["leading 1"],
    new Set([1, 2, 3].map(serverId)),
  ]);
});

test("an ensemble of one has decided when it begins to look", () => {
  expect(looking(1).decisions).toEqual(["leading 1"]);
});

test("six servers cut three and three decide nothing", () => {
  const server = looking(6);
  for (const sid of [2, 3]) answer(server, sid, "looking", vote(1, 5, 10));
  server.election.tick(200);
  expect(server.decisions).toEqual([]);
});

test("answers of different age count for one candidate, at its best position", () => {
  const server = looking(3);
  answer(server, 3, "looking", vote(2, 5, 3));
  answer(server, 2, "looking", vote(2, 5, 11));
  expect([server.decisions, server.election.vote]).toEqual([["following 2"], vote(2, 5, 11)]);
});

test("a dead leader is not elected again by hearsay", () => {
  const server = looking(3);
  for (const sid of [2]) answer(server, sid, "following", vote(3, 9, 9));
  server.election.tick(200);
  expect([server.decisions, server.election.vote]).toEqual([[], vote(1, 5, 10)]);

  const larger = looking(5);
  for (const sid of [2, 3, 4]) answer(larger, sid, "following", vote(5, 9, 9));
  larger.election.tick(200);
  expect([larger.decisions, larger.election.vote]).toEqual([[], vote(1, 5, 10)]);
});

test("a candidate that lost its storage is none, even if others still name it", () => {
  const server = looking(3);
  answer(server, 2, "following", vote(3, 9, 9));
  answer(server, 3, "looking", undefined);
  expect([server.decisions, server.election.vote]).toEqual([[], vote(1, 5, 10)]);
});

test("when its candidate is gone, a server never moves to one that is worse than itself", () => {
  const server = looking(5);
  answer(server, 5, "looking", vote(5, 9, 9));
  server.election.tick(200);
  expect(server.election.vote).toEqual(vote(5, 9, 9));
  rest(server);
  for (const sid of [2, 3]) answer(server, sid, "looking", vote(2, 1, 1));
  server.election.tick(10_000);
  expect([server.decisions, server.election.vote]).toEqual([[], vote(1, 5, 10)]);
});

test("a restarted voter finds the sitting leader, though it has logged more", () => {
  const server = looking(3);
  answer(server, 2, "following", vote(3, 5, 1));
  answer(server, 3, "leading", vote(3, 5, 1));
  expect(server.decisions).toEqual(["following 3"]);
});

test("a voter of weight 0 is no candidate, and gives its vote to any", () => {
  const verifier = new HierarchicalQuorum(
    [1, 2, 3].map((sid) => ({ sid: serverId(sid), group: 1, weight: sid === 1 ? 0 : 1 })),
  );
  const server = looking(3, { verifier, candidates: new Set([2, 3].map(serverId)) });
  for (const sid of [2, 3]) answer(server, sid, "looking", vote(1, 5, 10));
  expect(server.decisions).toEqual([]);
  rest(server);
  answer(server, 2, "looking", vote(2, 1, 1));
  answer(server, 3, "looking", vote(3, 1, 2));
  expect([server.decisions, server.election.vote]).toEqual([[], vote(3, 1, 2)]);
});

test("over a new link the question is asked again, of a voter that has not answered", () => {
  const server = looking(3);
  server.take();
  server.election.linkUp(serverId(2), 10);
  expect(server.take()).toEqual(["2: poll"]);
  for (const sid of [1, 9]) server.election.linkUp(serverId(sid), 10);
  expect(server.take()).toEqual([]);
  server.election.tick(200);
  server.election.linkUp(serverId(2), 210);
  expect(server.take()).toEqual([]);
});

test("over a new link nothing is asked of a voter that has answered", () => {
  const server = looking(3);
  answer(server, 2, "looking", vote(2, 5, 1));
  server.take();
  server.election.linkUp(serverId(2), 10);
  expect(server.take()).toEqual([]);
});

// Without a vote

test("an observer finds the leader that others have, and reports it to no server", () => {
  const server = new TestElection({ algorithm: 0, verifier: majorityOf(3) }, 9);
  server.election.look(undefined, 0);
  answer(server, 1, "following", vote(2, 5, 1));
  answer(server, 2, "leading", vote(2, 5, 1));
  answer(server, 3, "looking", vote(3, 5, 1));
  expect(server.decisions).toEqual(["observing 2"]);
});

test("an observer takes no part in an election", () => {
  const server = new TestElection({ algorithm: 0, verifier: majorityOf(3) }, 9);
  server.election.look(position(9, 9), 0);
  for (const sid of [1, 2, 3]) answer(server, sid, "looking", vote(2, 5, 1));
  expect([server.decisions, server.election.vote]).toEqual([[], undefined]);
});

test("a voter that lost its storage waits for the others only, and does not lead because they still follow it", () => {
  const server = new TestElection({ algorithm: 0, verifier: majorityOf(3) });
  server.election.look(undefined, 0);
  answer(server, 2, "following", vote(1, 5, 1));
  answer(server, 3, "following", vote(1, 5, 1));
  expect([server.decisions, server.election.nextDueMs()]).toEqual([[], 200]);
  rest(server);
  answer(server, 2, "following", vote(3, 5, 1), 200);
  answer(server, 3, "leading", vote(3, 5, 1), 200);
  expect(server.decisions).toEqual(["observing 3"]);
});

test("an observer that lost its leader waits a little before it asks", () => {
  const server = new TestElection({ algorithm: 0, verifier: majorityOf(3) }, 9);
  server.election.look(undefined, 0);
  server.take();
  server.election.look(undefined, 1000);
  expect([server.take(), server.election.nextDueMs()]).toEqual([[], 1100]);
  server.election.tick(1100);
  expect(server.take()).toHaveLength(3);
});

// After the decision

test("once the leader is established its members report its epoch", () => {
  const server = looking(3);
  expect(() => server.election.established(8)).toThrow("epoch 8 is established at a server that looks");
  answer(server, 2, "leading", vote(2, 5, 11));
  answer(server, 3, "following", vote(2, 5, 11));
  server.election.established(8);
  expect(server.hear(3, { kind: "poll", number: 1 })).toEqual(["3: following 2/8.11"]);
});

test("a named successor is adopted without an election, and nothing is decided", () => {
  const server = looking(3);
  server.election.adopt("leading", vote(1, 5, 10));
  expect([server.election.role, server.decisions, server.election.nextDueMs()]).toEqual(["leading", [], undefined]);
  expect(new Set(server.election.supporters)).toEqual(majorityOf(3).voters);
});

test("messages of the other algorithm are ignored", () => {
  const server = looking(3);
  expect(server.hear(2, notification("looking", 9, vote(2, 9, 9)))).toEqual([]);
  expect(server.election.round).toBe(1);
});

test("a leader that was refused is not followed again before its time", () => {
  const server = looking(3);
  const led = (nowMs: number): void => {
    answer(server, 2, "following", vote(3, 6, 1), nowMs);
    answer(server, 3, "leading", vote(3, 6, 1), nowMs);
  };
  led(0);
  expect(server.decisions).toEqual(["following 3"]);
  server.election.avoid(serverId(3), 1000);
  server.election.look(position(5, 10), 100);
  led(100);
  expect([server.decisions.length, server.election.role]).toEqual([1, "looking"]);
  server.election.look(position(5, 10), 1000);
  led(1000);
  expect(server.decisions).toEqual(["following 3", "following 3"]);
});

// Candidates that are no voters

function nominating(): TestElection {
  const four = [1, 4].map((sid) => serverId(sid));
  const options = { algorithm: 0, verifier: majorityOf(1), candidates: new Set(four), acquaintances: new Set(four) };
  const server = new TestElection(options);
  server.election.look(position(5, 10), 0, vote(4, 5, 11));
  return server;
}

test("a candidate that is no voter is elected when it answers", () => {
  const server = nominating();
  expect(server.decisions).toEqual([]);
  answer(server, 4, "looking", undefined);
  expect(server.decisions).toEqual(["following 4"]);
});

test("a candidate that is no voter and does not answer is given up", () => {
  const server = nominating();
  server.election.tick(server.election.nextDueMs() ?? Number.NaN);
  expect([server.election.vote, server.decisions]).toEqual([vote(1, 5, 10), []]);
  rest(server);
  expect(server.decisions).toEqual(["leading 1"]);
});

test("a server without a vote finds a leader that is no voter by its own word", () => {
  const four = new Set([1, 2, 3, 4].map(serverId));
  const options = { algorithm: 0, verifier: majorityOf(3), candidates: four, acquaintances: four };
  const server = new TestElection(options, 9);
  server.election.look(undefined, 0);
  for (const sid of [1, 2]) answer(server, sid, "following", vote(4, 5, 11));
  answer(server, 4, "looking", vote(4, 5, 11));
  answer(server, 3, "looking", undefined);
  expect(server.decisions).toEqual([]);
  rest(server);
  for (const sid of [1, 2]) answer(server, sid, "following", vote(4, 5, 11));
  answer(server, 4, "leading", vote(4, 5, 11));
  answer(server, 3, "looking", undefined);
  expect(server.decisions).toEqual(["observing 4"]);
});
