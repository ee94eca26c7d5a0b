import { type ServerId, serverId } from "@zooid/model";
import { seededRandom } from "@zooid/model/testing/seeded-random";
import { describe, expect, test } from "vitest";
import { majorityOf, position } from "./testing/elections.ts";
import { TestNetwork, type TestNetworkOptions } from "./testing/network.ts";

const sids = (...numbers: readonly number[]): ServerId[] => numbers.map(serverId);

/** Voters 1 to `count`, all up, that have chosen the last of them. */
function ensemble(
  count: number,
  options: Pick<TestNetworkOptions, "algorithm"> & Partial<TestNetworkOptions>,
): TestNetwork {
  const random = seededRandom(count);
  const delayMs = () => 1 + Math.floor(random() * 5);
  const network = new TestNetwork({ verifier: majorityOf(count), random, delayMs, roundTripMs: 6, ...options });
  for (let sid = 1; sid <= count; sid++) network.add(serverId(sid), position(1, sid));
  return network;
}

function elected(network: TestNetwork): ServerId | undefined {
  network.runUntil(() => network.leader() !== undefined, network.nowMs + 10_000);
  return network.leader();
}

function startAll(network: TestNetwork): TestNetwork {
  for (const sid of network.servers.keys()) network.start(sid);
  return network;
}

describe.each([3, 0])("algorithm %i", (algorithm) => {
  test("a restarted voter finds the sitting leader, though its own log is longer", () => {
    const network = startAll(ensemble(3, { algorithm }));
    expect(elected(network)).toBe(3);
    network.crash(serverId(1));
    network.server(serverId(1)).position = position(1, 99);
    network.run(network.nowMs + 2500);
    network.start(serverId(1));
    expect(elected(network)).toBe(3);
    expect(network.decisions.filter(({ role }) => role === "leading")).toHaveLength(1);
  });

  test("under one leader every member restarts in turn and finds it, whatever epoch and round they met it in", () => {
    const network = startAll(ensemble(5, { algorithm, establishes: true }));
    for (let turn = 0; turn < 3; turn++) {
      for (const sid of sids(1, 2, 3, 4)) {
        expect(elected(network)).toBe(5);
        network.run(network.nowMs + 1500);
        network.crash(sid);
        network.run(network.nowMs + 100);
        network.start(sid);
      }
    }
    expect(elected(network)).toBe(5);
    expect(network.decisions.filter(({ role }) => role === "leading")).toHaveLength(1);
  });

  test("while its followers have not noticed that the leader is dead, no server is talked into following it", () => {
    const network = startAll(ensemble(5, { algorithm, patienceMs: 5000 }));
    expect(elected(network)).toBe(5);
    network.crash(serverId(1));
    network.run(network.nowMs + 100);
    network.crash(serverId(5), "unnoticed");
    const before = network.decisions.length;
    network.start(serverId(1));
    network.run(network.nowMs + 3000);
    expect(network.decisions).toHaveLength(before);
    expect(elected(network)).toBe(4);
  });

  test("when the leader dies the next best leads, and observers find it", () => {
    const network = ensemble(5, { algorithm });
    network.add(serverId(9), undefined);
    expect(elected(startAll(network))).toBe(5);
    network.crash(serverId(5));
    expect(elected(network)).toBe(4);
    expect(network.server(serverId(9)).decision).toMatchObject({ role: "observing", leader: 4 });
  });

  test("an observer is never elected, whatever its log", () => {
    const network = ensemble(3, { algorithm });
    network.add(serverId(9), position(7, 7));
    expect(elected(startAll(network))).toBe(3);
    expect(network.server(serverId(9)).decision?.role).toBe("observing");
  });

  test("six servers cut three and three elect no leader, and one once they meet", () => {
    const network = ensemble(6, { algorithm });
    network.cut((sid) => sid % 2);
    startAll(network).run(30_000);
    expect(network.decisions).toEqual([]);
    network.heal();
    const healedMs = network.nowMs;
    expect(elected(network)).toBe(6);
    expect(network.nowMs - healedMs).toBeLessThan(3000);
  });

  test.each([2, 4, 6])("of %i servers half are not enough, and one more is", (count) => {
    const network = ensemble(count, { algorithm });
    for (let sid = 1; sid <= count / 2; sid++) network.start(serverId(sid));
    network.run(10_000);
    expect(network.decisions).toEqual([]);
    network.start(serverId(count));
    expect(elected(network)).toBe(count);
  });

  test("a server that was alone for long finds the others as soon as they are there", () => {
    const network = ensemble(3, { algorithm });
    network.start(serverId(1));
    network.run(120_000);
    startAll(network);
    expect(elected(network)).toBe(3);
    expect(network.nowMs - 120_000).toBeLessThan(1500);
  });

  test("a voter that lost its storage has no vote, and observes the leader that the others elect", () => {
    const network = ensemble(3, { algorithm });
    network.server(serverId(3)).position = undefined;
    network.start(serverId(1));
    network.start(serverId(3));
    network.run(5000);
    expect(network.decisions).toEqual([]);
    network.start(serverId(2));
    expect(elected(network)).toBe(2);
    expect(network.server(serverId(3)).decision?.role).toBe("observing");
  });

  test("a server that fails as leader again and again, its log unchanged, keeps no other from an election", () => {
    const network = startAll(ensemble(3, { algorithm }));
    for (let turn = 0; turn < 5; turn++) {
      expect(elected(network)).toBe(3);
      network.crash(serverId(3));
      expect(elected(network)).toBe(2);
      network.crash(serverId(2));
      network.run(network.nowMs + 1500);
      network.start(serverId(3));
      network.start(serverId(2));
    }
    expect(elected(network)).toBe(3);
  });
});

test("a winner whose supporters leave for a better vote looks again at once, not when its patience ends", () => {
  const network = ensemble(5, { algorithm: 3, patienceMs: 60_000 });
  network.server(serverId(4)).position = position(1, 50);
  network.cut((sid) => (sid <= 3 ? 0 : 1));
  startAll(network);
  // Only the winner takes the others to be near, and settles for less time than they do.
  for (const sid of sids(1, 2)) network.server(sid).election?.measured(serverId(5), 50);
  network.runUntil(() => network.decisions.length === 1, 1000);
  expect(network.decisions).toMatchObject([{ sid: 3, role: "leading" }]);
  // The others have not decided yet, and hear of server 4 just in time.
  network.heal();
  expect(elected(network)).toBe(4);
  expect(network.nowMs).toBeLessThan(1000);
});
