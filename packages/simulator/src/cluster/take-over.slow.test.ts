import { parseMembers, type ServerId } from "@zooid/model";
import { expect, test } from "vitest";
import { memberLine } from "../seeds/draw-plan.ts";
import { Founding, S1, S2, S3 } from "../testing/founding.ts";
import type { SimServer } from "./server.ts";
import { type StateImage, stateImageOf } from "./state-image.ts";

/** An ensemble without clients takes a state over that its members have ready, and is opened. */

const ALL: readonly ServerId[] = [S1, S2, S3];
/** Longer than the timeout of any session. */
const EXPIRY_MS = 60_000;
/** Between two moments at which a server crashes. */
const STEP_MS = 5;
/** By then every member has the state. */
const UNTIL_MS = 150;
const LATE_MS = 20_000;

/** A state with a node and a session, of another ensemble. */
function otherState(): StateImage {
  const other = new Founding();
  other.start(...ALL);
  const server = other.cluster.server(S1);
  if (server === undefined) throw new Error("server 1 runs");
  expect(other.create(S1, "/taken")).toBe("/taken");
  other.run(100);
  const { tree } = server.replica;
  const chain = server.disk.log.chainNow(tree.applied);
  if (chain === undefined) throw new Error("the server has applied what its log holds");
  return stateImageOf(tree, { zxid: tree.applied, chain });
}

const image: StateImage = otherState();
const sessions = image.records.flatMap((record) => (record.kind === "session" ? [record] : []));
const TAKEN: readonly string[] = ALL.map(() => `${sessions.length} sessions, closed`);

function closedEnsemble(): Founding {
  const members = parseMembers(ALL.map((sid) => memberLine(sid, false)).join("\n"));
  const founding = new Founding({ members: { ...members, clients: "closed" } });
  founding.start(...ALL);
  return founding;
}

/** Gives the state to members; one that starts again has it from its disk. */
function makeReady({ cluster }: Founding, sids: readonly ServerId[] = ALL): void {
  for (const server of cluster.running()) if (sids.includes(server.sid)) server.ready = image;
}

function leaderOf({ cluster }: Founding): SimServer {
  for (let waitedMs = 0; cluster.leader?.isServing !== true; waitedMs += 100) {
    if (waitedMs > LATE_MS) throw new Error("no server leads");
    cluster.run(100);
  }
  const { leader } = cluster;
  if (leader === undefined) throw new Error("no server leads");
  return leader;
}

/** The state of each running server, and whether it takes clients. */
function standing({ cluster }: Founding): readonly string[] {
  return cluster.running().map(({ replica }) => {
    const { tree, zab } = replica;
    const content = tree.sessionCount === 0 ? "empty" : `${tree.sessionCount} sessions`;
    return `${content}, ${zab.members.areClientsClosed ? "closed" : "open"}`;
  });
}

/** Until all three are up and serve. */
function settle(founding: Founding): void {
  const { cluster } = founding;
  for (const sid of ALL) if (cluster.server(sid) === undefined) cluster.start(sid);
  leaderOf(founding);
  founding.run(5000);
  expect(founding.serving()).toEqual([...ALL]);
}

/** Crashes a server after a while, and starts it again. @param leader the one that began */
function crashAfter(founding: Founding, ms: number, victim: "leader" | "follower", leader: ServerId): void {
  const { cluster } = founding;
  founding.run(ms);
  const sid = victim === "leader" ? leader : ALL.find((other) => other !== leader);
  if (sid !== undefined && cluster.server(sid) !== undefined) cluster.crash(sid);
  founding.run(400);
  settle(founding);
}

test("members that have the state ready are sent no chunk of it", () => {
  const founding = closedEnsemble();
  makeReady(founding);
  const chunks: ServerId[] = [];
  for (const server of founding.cluster.running()) {
    const { putState } = server.disk;
    server.disk.putState = (name, state) => {
      if (name.startsWith("received")) chunks.push(server.sid);
      putState.call(server.disk, name, state);
    };
  }
  expect(leaderOf(founding).restore(image, "keep")).toBe(true);
  founding.run();
  expect([standing(founding), chunks]).toEqual([TAKEN, []]);
});

test.each(["leader", "follower"] as const)(
  "a crash of the %s at any moment of a take-over leaves all members alike, and closed",
  (victim) => {
    const outcomes = new Set<string>();
    for (let atMs = 0; atMs < UNTIL_MS; atMs += STEP_MS) {
      const founding = closedEnsemble();
      // One of them has to be sent the state.
      makeReady(founding, [S1, S2]);
      const leader = leaderOf(founding);
      expect(leader.restore(image, "keep")).toBe(true);
      crashAfter(founding, atMs, victim, leader.sid);
      const after = standing(founding);
      expect([atMs, new Set(after).size]).toEqual([atMs, 1]);
      expect(after[0]).toContain("closed");
      outcomes.add(after[0] ?? "");
      // A repeat is safe.
      if (after[0]?.startsWith("empty") === true) {
        makeReady(founding);
        expect(leaderOf(founding).restore(image, "keep")).toBe(true);
        founding.run();
      }
      expect(standing(founding)).toEqual(TAKEN);
      // However long clients stay out.
      founding.run(EXPIRY_MS);
      expect(standing(founding)).toEqual(TAKEN);
    }
    expect([...outcomes].toSorted()).toEqual(victim === "leader" ? [TAKEN[0], "empty, closed"] : [TAKEN[0]]);
  },
);

test.each(["leader", "follower"] as const)(
  "a crash of the %s at any moment of the opening leaves all members open, or all closed",
  (victim) => {
    for (let atMs = 0; atMs < 60; atMs += 3) {
      const founding = closedEnsemble();
      makeReady(founding);
      expect(leaderOf(founding).restore(image, "keep")).toBe(true);
      founding.run();
      const leader = leaderOf(founding);
      leader.input(() => expect(leader.replica.openClients()).toBe("proposed"));
      crashAfter(founding, atMs, victim, leader.sid);
      const after = new Set(standing(founding).map((text) => text.split(", ")[1]));
      expect([atMs, after.size]).toEqual([atMs, 1]);
      if (after.has("closed")) {
        const next = leaderOf(founding);
        next.input(() => expect(next.replica.openClients()).toBe("proposed"));
        founding.run(500);
      }
      for (const sid of ALL) expect(founding.read(sid, "/taken")).toBe("1");
      // A client that does not come back loses its session behind the opening, and not before.
      founding.run(EXPIRY_MS);
      const { tree } = leaderOf(founding).replica;
      expect(sessions.filter(({ high, low }) => tree.hasSession(high, low))).toEqual([]);
    }
  },
);

test("an empty tree takes the place of a state that was taken over", () => {
  const empty = closedEnsemble();
  const [first] = empty.cluster.running();
  if (first === undefined) throw new Error("three servers run");
  const { tree } = first.replica;
  const nothing = stateImageOf(tree, {
    zxid: tree.applied,
    chain: first.disk.log.chainNow(tree.applied) ?? image.position.chain,
  });
  const founding = closedEnsemble();
  makeReady(founding);
  expect(leaderOf(founding).restore(image, "keep")).toBe(true);
  founding.run();
  expect(leaderOf(founding).restore(nothing, "keep")).toBe(true);
  founding.run();
  expect(standing(founding)).toEqual(ALL.map(() => "empty, closed"));
});
