import { serverId } from "@zooid/model";
import { expect, test } from "vitest";
import { looking, majorityOf, notification, position, TestElection, vote } from "./testing/elections.ts";

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

test.each([0, 3] as const)(
  "a server whose connection has ended is no supporter any more (algorithm %i)",
  (algorithm) => {
    const server = new TestElection({ algorithm, verifier: majorityOf(3) });
    server.election.linkDown(serverId(3));
    server.election.adopt("leading", vote(1, 5, 10));
    server.election.linkDown(serverId(3));
    expect([...server.election.supporters]).toEqual([1, 2]);
    server.election.adopt("leading", vote(1, 5, 10));
    expect([...server.election.supporters]).toEqual([1, 2, 3]);
  },
);

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

test("a leader that was refused is not followed again before its time, and another one is", () => {
  const server = looking(3);
  const led = (leader: number, nowMs: number): void => {
    for (const sid of [2, 3]) {
      server.hear(sid, notification(sid === leader ? "leading" : "following", 4, vote(leader, 6, 1)), nowMs);
    }
  };
  led(3, 500);
  expect(server.decisions).toEqual(["following 3"]);
  server.election.avoid(serverId(3), 1500);
  server.election.look(position(5, 10), 1000);
  led(3, 1000);
  expect([server.decisions.length, server.election.role]).toEqual([1, "looking"]);
  led(2, 1000);
  expect(server.decisions).toEqual(["following 3", "following 2"]);
  server.election.look(position(5, 10), 1600);
  led(3, 1600);
  expect(server.decisions).toEqual(["following 3", "following 2", "following 3"]);
});
