import { composeZxid, everyVerifier, HierarchicalQuorum, MajorityQuorum, serverId, ZXID_NONE } from "@zooid/model";
import { expect, test } from "vitest";
import { majorityOf, notification, position, TestElection, vote } from "./testing/elections.ts";

/** Server 1 of `voters`, looking at time 0 in round 1 with the log 5.10; nothing said is kept. */
function looking(voters = 3, options: Partial<ConstructorParameters<typeof TestElection>[0]> = {}): TestElection {
  const server = new TestElection({ verifier: majorityOf(voters), ...options });
  server.election.look(position(5, 10), 0);
  server.take();
  return server;
}

/** An observer, number 9, looking at time 0 in round 1. */
function observer(voters = 3): TestElection {
  const server = new TestElection({ verifier: majorityOf(voters) }, 9);
  server.election.look(undefined, 0);
  server.take();
  return server;
}

// Entering, and the resend timer

test("a server that begins to look votes for itself in the next round, and tells every voter but itself", () => {
  const server = new TestElection({ verifier: majorityOf(3) });
  server.election.look(position(5, 10), 0);
  expect(server.take()).toEqual(["2: looking 1 1/5.10", "3: looking 1 1/5.10"]);
  expect([server.election.role, server.election.round, server.election.vote]).toEqual(["looking", 1, vote(1, 5, 10)]);
  server.election.look(position(5, 11), 1);
  expect(server.take()).toEqual(["2: looking 2 1/5.11", "3: looking 2 1/5.11"]);
});

test("a notification carries the sender's own log beside its vote", () => {
  const server = looking();
  server.election.receive(serverId(2), notification("looking", 1, vote(2, 6, 1)), 0);
  expect(server.sent[0]?.message).toMatchObject({ selfZxid: composeZxid(5, 10), selfEpoch: 5 });
});

test("before the first look nothing is heard, told or due", () => {
  const server = new TestElection({ verifier: majorityOf(3) });
  expect(server.hear(2, notification("leading", 1, vote(2, 5, 10)))).toEqual([]);
  expect(server.hear(3, notification("following", 1, vote(2, 5, 10)))).toEqual([]);
  server.election.linkUp(serverId(2), 0);
  server.election.tick(10_000);
  expect([server.take(), server.decisions, server.election.nextDueMs(), server.election.vote]).toEqual([
    [],
    [],
    undefined,
    undefined,
  ]);
});

test("in silence a vote is repeated after 200 ms, then after twice as long each time, at most 5 s", () => {
  const server = looking();
  const gaps: number[] = [];
  let nowMs = 0;
  for (let repeat = 0; repeat < 8; repeat++) {
    const dueMs = server.election.nextDueMs() ?? Number.NaN;
    server.election.tick(dueMs - 1);
    expect(server.take()).toEqual([]);
    server.election.tick(dueMs);
    expect(server.take()).toEqual(["2: looking 1 1/5.10", "3: looking 1 1/5.10"]);
    gaps.push(dueMs - nowMs);
    nowMs = dueMs;
  }
  expect(gaps).toEqual([200, 400, 800, 1600, 3200, 5000, 5000, 5000]);
});

test.each([
  ["a notification", (server: TestElection) => server.hear(2, notification("looking", 1, vote(2, 5, 1)), 3000)],
  ["an observer's question", (server: TestElection) => server.hear(9, notification("looking", 1, undefined), 3000)],
  ["a link", (server: TestElection) => server.election.linkUp(serverId(2), 3000)],
])("%s makes repeating quick again", (_, happen) => {
  const server = looking();
  for (const nowMs of [200, 600, 1400]) server.election.tick(nowMs);
  expect(server.election.nextDueMs()).toBe(3000);
  server.election.tick(3000);
  expect(server.election.nextDueMs()).toBe(6200);
  happen(server);
  expect(server.election.nextDueMs()).toBe(3200);
});

test("a crowd that asks all the time does not keep a vote from being repeated", () => {
  const server = looking();
  for (let nowMs = 10; nowMs < 200; nowMs += 10) server.hear(9, notification("looking", 1, undefined), nowMs);
  server.election.tick(200);
  expect(server.take()).toEqual(["2: looking 1 1/5.10", "3: looking 1 1/5.10"]);
});

test("over a new link the vote is told again, to a voter", () => {
  const server = looking();
  server.election.linkUp(serverId(3), 5);
  expect(server.take()).toEqual(["3: looking 1 1/5.10"]);
  server.election.linkUp(serverId(9), 6);
  server.election.linkUp(serverId(1), 6);
  expect(server.take()).toEqual([]);
});

// Votes of the same round, of later and earlier ones

test("a better vote of the same round is adopted and told to all", () => {
  const server = looking(5);
  expect(server.hear(2, notification("looking", 1, vote(4, 5, 11)))).toEqual(
    [2, 3, 4, 5].map((sid) => `${sid}: looking 1 4/5.11`),
  );
});

test.each([
  ["a lower epoch though a higher zxid and id", vote(5, 4, 99)],
  ["a lower zxid though a higher id", vote(5, 5, 9)],
  ["an equal vote", vote(1, 5, 10)],
])("a vote that is no better is counted and not adopted: %s", (_, named) => {
  const server = looking(5);
  expect(server.hear(2, notification("looking", 1, named))).toEqual([]);
  expect(server.election.vote).toEqual(vote(1, 5, 10));
});

test.each([
  ["the better of the vote that brought it", vote(2, 5, 11), "2/5.11"],
  ["its own, if that is better", vote(2, 5, 9), "1/5.10"],
])("a later round is joined with %s", (_, named, chosen) => {
  const server = looking(3);
  expect(server.hear(2, notification("looking", 7, named))).toEqual([
    `2: looking 7 ${chosen}`,
    `3: looking 7 ${chosen}`,
  ]);
  expect(server.election.round).toBe(7);
});

test("a later round starts from the server's own vote, not from one it had adopted", () => {
  const server = looking(5);
  server.hear(2, notification("looking", 1, vote(3, 9, 9)));
  expect(server.hear(4, notification("looking", 2, vote(4, 5, 1)))[0]).toBe("2: looking 2 1/5.10");
});

test("a later round forgets the votes of the earlier one", () => {
  const server = looking(5);
  server.hear(2, notification("looking", 1, vote(1, 5, 10)));
  server.hear(3, notification("looking", 1, vote(1, 5, 10)));
  expect(server.election.nextDueMs()).toBe(200);
  server.election.measured(serverId(2), 0);
  server.hear(4, notification("looking", 2, vote(4, 5, 1)), 10);
  server.election.tick(199);
  server.election.tick(1000);
  expect(server.decisions).toEqual([]);
});

test("who votes in an earlier round is told at once, and not counted", () => {
  const server = looking(3);
  server.election.look(position(5, 10), 0);
  expect(server.hear(2, notification("looking", 1, vote(2, 9, 9)))).toEqual(["2: looking 2 1/5.10"]);
  server.hear(2, notification("looking", 1, vote(1, 5, 10)));
  server.election.tick(1000);
  expect([server.election.vote, server.decisions]).toEqual([vote(1, 5, 10), []]);
});

test("a later vote of a server takes the place of its earlier one", () => {
  const server = looking(3);
  server.hear(2, notification("looking", 1, vote(1, 5, 10)), 0);
  server.hear(2, notification("looking", 1, vote(2, 5, 9)), 100);
  server.election.tick(1000);
  expect(server.decisions).toEqual([]);
});

test("a vote for a server that is no voter is ignored", () => {
  const server = looking(3);
  expect(server.hear(2, notification("looking", 3, vote(9, 9, 9)))).toEqual([]);
  expect(server.hear(2, notification("looking", 1, vote(9, 9, 9)))).toEqual([]);
  for (const sid of [2, 3]) server.hear(sid, notification(sid === 2 ? "leading" : "following", 1, vote(9, 9, 9)));
  expect([server.election.round, server.election.vote, server.decisions]).toEqual([1, vote(1, 5, 10), []]);
});

test("a server's vote ends with its restart, before it votes again", () => {
  const server = looking(3);
  server.election.look(position(5, 10), 0);
  server.hear(2, notification("looking", 2, vote(1, 5, 10)), 0);
  server.hear(2, notification("looking", 1, vote(2, 5, 9)), 10);
  server.election.tick(1000);
  expect(server.decisions).toEqual([]);
});

// Settling

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

test("a better vote that has its quorum at once settles anew, and is repeated no sooner than others", () => {
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

// T1: everything counts while it settles

test("while settling a better vote is adopted, and settles anew", () => {
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

// Servers that have decided

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

test("a deposed leader that does not know it captures nobody", () => {
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

// Strangers, and servers without a voice

test("a stranger that asks is told where this server stands, and not counted", () => {
  const server = looking(3);
  expect(server.hear(9, notification("looking", 1, undefined))).toEqual(["9: looking 1 1/5.10"]);
  server.hear(9, notification("looking", 5, vote(2, 9, 9)));
  server.hear(9, notification("following", 1, vote(1, 5, 10)));
  server.election.tick(1000);
  expect([server.election.round, server.election.vote, server.decisions]).toEqual([1, vote(1, 5, 10), []]);
});

test("two servers that each think the other is no voter do not answer each other for ever", () => {
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

test.each(["leading 2", "following 2"])("a server that decided (%s) answers whoever looks, and nobody else", (role) => {
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
});

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

test("a voter that lost its storage votes for nobody, and is told where others stand", () => {
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

// After the decision

test("once the leader is established its members report its epoch", () => {
  const server = looking(3);
  for (const sid of [2, 3]) server.hear(sid, notification("looking", 1, vote(2, 6, 1)));
  server.election.established(8);
  expect(server.hear(3, notification("looking", 1, vote(3, 5, 5)))).toEqual(["3: following 1 2/8.1"]);
});

test("an epoch is established only where a leader was found", () => {
  expect(() => looking(3).election.established(8)).toThrow("epoch 8 is established at a server that looks");
});

test("a named successor is adopted without an election, and nothing is decided", () => {
  const server = looking(3);
  server.election.adopt("following", vote(3, 5, 10));
  expect([server.election.role, server.election.vote, server.decisions, server.election.nextDueMs()]).toEqual([
    "following",
    vote(3, 5, 10),
    [],
    undefined,
  ]);
  expect([...server.election.supporters]).toEqual([1, 2, 3]);
  expect(server.hear(2, notification("looking", 9, undefined))).toEqual(["2: following 1 3/5.10"]);
});

test("each look decides once, though more is heard", () => {
  const server = looking(3);
  for (const sid of [2, 3, 2, 3]) server.hear(sid, notification("looking", 1, vote(2, 6, 1)));
  server.election.tick(10_000);
  expect(server.decisions).toEqual(["following 2"]);
  server.election.look(position(6, 1), 10_000);
  for (const sid of [2, 3]) server.hear(sid, notification("looking", 2, vote(2, 6, 1)), 10_000);
  expect(server.decisions).toEqual(["following 2", "following 2"]);
});

test("a decision may be refused from within, and looked for again", () => {
  const server = new TestElection({ verifier: majorityOf(1) });
  server.onDecided = () => {
    if (server.decisions.length < 3) server.election.look(position(1, 1), 0);
  };
  server.election.look(position(1, 1), 0);
  expect([server.decisions, server.election.role, server.election.round]).toEqual([
    ["leading 1", "leading 1", "leading 1"],
    "leading",
    3,
  ]);
});

test("votes of those that noticed earlier that the leader is gone are not forgotten when this server begins to look", () => {
  const server = looking(3);
  for (const sid of [2, 3]) server.hear(sid, notification("looking", 1, vote(3, 6, 1)), 0);
  server.hear(2, notification("looking", 2, vote(2, 5, 11)), 1000);
  server.election.look(position(5, 10), 1200);
  expect(server.election.vote).toEqual(vote(2, 5, 11));
  expect(server.election.nextDueMs()).toBe(1400);
  server.election.tick(1400);
  expect(server.decisions).toEqual(["following 3", "following 2"]);
});

test.each<[string, (server: TestElection) => void]>([
  ["long ago", (server) => server.hear(2, notification("looking", 2, vote(2, 5, 11)), 999)],
  ["in an earlier round", (server) => server.hear(2, notification("looking", 1, vote(2, 5, 11)), 1200)],
  [
    "before it found the leader",
    (server) => {
      server.hear(2, notification("looking", 2, vote(2, 5, 11)), 1200);
      server.hear(2, notification("following", 2, vote(3, 6, 1)), 1200);
    },
  ],
])("what a voter said %s is forgotten", (_, say) => {
  const server = looking(3);
  for (const sid of [2, 3]) server.hear(sid, notification("looking", 1, vote(3, 6, 1)), 0);
  say(server);
  server.take();
  server.election.look(position(5, 10), 1200);
  expect(server.take()).toEqual(["2: looking 2 1/5.10", "3: looking 2 1/5.10"]);
  expect([server.election.vote, server.election.round]).toEqual([vote(1, 5, 10), 2]);
});

test("a server that finds itself outvoted while it remembers what was said decides once", () => {
  const server = looking(3);
  for (const sid of [2, 3]) server.hear(sid, notification("looking", 1, vote(3, 6, 1)), 0);
  for (const sid of [2, 3]) server.hear(sid, notification("looking", 2, vote(2, 6, 2)), 1000);
  server.hear(2, notification("looking", 2, vote(2, 6, 2)), 1000);
  server.election.look(position(5, 10), 1000);
  expect(server.decisions).toEqual(["following 3", "following 2"]);
});

// T2: what a leader needs to know of those that changed their mind

test("a supporter that looks elsewhere is no supporter any more; one that is about to follow is", () => {
  const server = looking(5);
  for (const sid of [2, 3]) server.hear(sid, notification("looking", 1, vote(1, 5, 10)), 0);
  server.election.tick(200);
  expect(new Set(server.election.supporters)).toEqual(new Set([1, 2, 3]));
  server.hear(2, notification("looking", 1, vote(4, 6, 1)));
  server.hear(3, notification("looking", 2, vote(1, 5, 10)));
  expect(new Set(server.election.supporters)).toEqual(new Set([1]));
  server.hear(4, notification("looking", 1, vote(1, 5, 10)));
  expect(new Set(server.election.supporters)).toEqual(new Set([1, 4]));
  server.election.look(position(5, 10), 300);
  expect(server.election.supporters.size).toBe(0);
});

// Quorums

test("six servers cut three and three decide nothing", () => {
  const server = looking(6);
  for (const sid of [2, 3]) server.hear(sid, notification("looking", 1, vote(1, 5, 10)));
  server.election.tick(10_000);
  expect(server.decisions).toEqual([]);
  server.hear(4, notification("looking", 1, vote(1, 5, 10)), 10_000);
  server.election.tick(10_200);
  expect(server.decisions).toEqual(["leading 1"]);
});

test("a voter of weight 0 gives its vote to any candidate, and nobody gives it theirs", () => {
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
  const verifier = everyVerifier([majorityOf(3), new MajorityQuorum([3, 4, 5].map(serverId))]);
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
