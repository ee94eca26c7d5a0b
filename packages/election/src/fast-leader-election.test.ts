import { composeZxid, serverId } from "@zooid/model";
import { expect, test } from "vitest";
import { looking, majorityOf, notification, position, TestElection, vote } from "./testing/elections.ts";

test("a server that begins to look votes for itself in the next round, and sends that to every voter but itself", () => {
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

test("before the first look nothing is heard, sent or due", () => {
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

test("over a new link the vote is sent again, to a voter", () => {
  const server = looking();
  server.election.linkUp(serverId(3), 5);
  expect(server.take()).toEqual(["3: looking 1 1/5.10"]);
  server.election.linkUp(serverId(9), 6);
  server.election.linkUp(serverId(1), 6);
  expect(server.take()).toEqual([]);
});

test("a better vote of the same round is adopted and sent to all", () => {
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

test("a vote of an earlier round is answered at once, and not counted", () => {
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

test("the last round that there is continues: elections end after a server has named it", () => {
  const last = Number.MAX_SAFE_INTEGER;
  const server = looking(3);
  server.hear(2, notification("looking", last, vote(2, 6, 1)));
  server.election.look(position(5, 11), 1);
  expect(server.election.round).toBe(last);
  server.hear(3, notification("looking", last, vote(1, 5, 11)), 2);
  server.election.tick(1000);
  expect(server.decisions).toEqual(["leading 1"]);
});
