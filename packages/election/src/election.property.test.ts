import { composeZxid, MajorityQuorum, type ServerId, serverId } from "@zooid/model";
import { seededRandom } from "@zooid/model/testing/seeded-random";
import fc from "fast-check";
import { expect, test } from "vitest";
import { TestNetwork, type TestNetworkOptions } from "./testing/network.ts";
import { compareVotes, ownVote } from "./vote.ts";

const ALGORITHMS = [3, 0];

/** Voters 1 to `voterCount` with random logs, and observers from 100 on. */
function ensemble(
  { voterCount, observerCount = 0 }: { readonly voterCount: number; readonly observerCount?: number },
  random: () => number,
  options: Pick<TestNetworkOptions, "algorithm" | "delayMs"> & Partial<TestNetworkOptions>,
): { readonly network: TestNetwork; readonly voters: readonly ServerId[]; readonly isFit: (sid: ServerId) => boolean } {
  const voters = Array.from({ length: voterCount }, (_, index) => serverId(index + 1));
  const verifier = new MajorityQuorum(voters);
  const network = new TestNetwork({ verifier, random, ...options });
  const votes = voters.map((sid) => {
    // An epoch's logs end in it or before it, and equal logs are common.
    const currentEpoch = 1 + Math.floor(random() * 3);
    const epoch = 1 + Math.floor(random() * currentEpoch);
    const position = { currentEpoch, zxid: composeZxid(epoch, 1 + Math.floor(random() * 3)) };
    network.add(sid, position);
    return ownVote(sid, position);
  });
  for (let index = 0; index < observerCount; index++) network.add(serverId(100 + index), undefined);

  /** Its log is maximal among a quorum. Ids do not count. */
  const isFit = (sid: ServerId): boolean => {
    const own = votes[sid - 1];
    if (own === undefined) return false;
    const behind = votes.filter((other) => other !== undefined && compareVotes({ ...other, leader: sid }, own) <= 0);
    return behind.length * 2 > voterCount;
  };
  return { network, voters, isFit };
}

test.each(ALGORITHMS)(
  "algorithm %i: whatever the order and loss of messages, one leader is elected, fit to lead, and observers find it",
  (algorithm) => {
    fc.assert(
      fc.property(
        fc.record({
          seed: fc.integer(),
          voterCount: fc.integer({ min: 1, max: 7 }),
          observerCount: fc.integer({ min: 0, max: 2 }),
          // The basic election elects no leader where answers take longer than it waits for them.
          delayMsMax: algorithm === 0 ? fc.constantFrom(0, 5, 50) : fc.constantFrom(0, 5, 50, 300),
          lossChance: fc.constantFrom(0, 0.05, 0.3),
          roundTripMs: fc.constantFrom(0, 10, 100),
        }),
        ({ seed, voterCount, observerCount, delayMsMax, lossChance, roundTripMs }) => {
          const random = seededRandom(seed);
          const delayMs = () => Math.floor(random() * (delayMsMax + 1));
          const { network, isFit } = ensemble({ voterCount, observerCount }, random, {
            algorithm,
            delayMs,
            lossChance,
            roundTripMs,
          });
          for (const sid of network.servers.keys()) network.at(delayMs(), () => network.start(sid));
          const hasLeader = () => network.up().length === network.servers.size && network.leader() !== undefined;
          expect(network.runUntil(hasLeader, 120_000)).toBe(true);
          // Every server that ever came to lead, also those that soon gave up.
          for (const { sid, role } of network.decisions) if (role === "leading") expect(isFit(sid)).toBe(true);
        },
      ),
      { numRuns: 300 },
    );
  },
);

test.each(ALGORITHMS)(
  "algorithm %i: through crashes, restarts and cuts every leader is fit to lead, and afterwards there is one leader",
  (algorithm) => {
    fc.assert(
      fc.property(
        fc.record({
          seed: fc.integer(),
          voterCount: fc.integer({ min: 1, max: 7 }),
          lossChance: fc.constantFrom(0, 0.1),
          establishes: fc.boolean(),
          faults: fc.array(
            fc.record({
              kind: fc.constantFrom("crash", "unnoticed", "restart", "cut", "heal"),
              sid: fc.integer({ min: 1, max: 7 }),
              waitMs: fc.constantFrom(0, 3, 20, 100, 700),
            }),
            { maxLength: 20 },
          ),
        }),
        ({ seed, voterCount, lossChance, establishes, faults }) => {
          const random = seededRandom(seed);
          const delayMs = () => Math.floor(random() * 10);
          const { network, voters, isFit } = ensemble({ voterCount, observerCount: 1 }, random, {
            algorithm,
            delayMs,
            lossChance,
            roundTripMs: 10,
            establishes,
          });
          for (const sid of network.servers.keys()) network.at(delayMs(), () => network.start(sid));
          let nowMs = 0;
          for (const { kind, sid, waitMs } of faults) {
            nowMs += waitMs;
            network.run(nowMs);
            const victim = serverId(1 + (sid % voterCount));
            if (kind === "crash") network.crash(victim);
            else if (kind === "unnoticed") network.crash(victim, "unnoticed");
            else if (kind === "restart") network.start(victim);
            else if (kind === "cut") network.cut((each) => (each + seed) % 2);
            else network.heal();
          }
          network.heal();
          // A quorum is enough; the others stay dead.
          const returning = voters.slice(0, Math.floor(voterCount / 2) + 1 + (Math.abs(seed) % 2));
          for (const sid of voters) if (!returning.includes(sid)) network.crash(sid);
          for (const sid of [...returning, serverId(100)]) network.start(sid);
          expect(network.runUntil(() => network.leader() !== undefined, nowMs + 60_000)).toBe(true);
          if (establishes) return; // Then logs have changed since.
          for (const { sid, role } of network.decisions) if (role === "leading") expect(isFit(sid)).toBe(true);
        },
      ),
      { numRuns: 300 },
    );
  },
);

test.each(ALGORITHMS)("algorithm %i: without faults a leader is elected within three seconds", (algorithm) => {
  fc.assert(
    fc.property(fc.integer(), fc.integer({ min: 1, max: 7 }), (seed, voterCount) => {
      const random = seededRandom(seed);
      const delayMs = () => 1 + Math.floor(random() * 5);
      const { network } = ensemble({ voterCount, observerCount: 1 }, random, { algorithm, delayMs, roundTripMs: 6 });
      for (const sid of network.servers.keys()) network.at(Math.floor(random() * 20), () => network.start(sid));
      const hasLeader = () => network.up().length === network.servers.size && network.leader() !== undefined;
      expect(network.runUntil(hasLeader, 3000)).toBe(true);
    }),
    { numRuns: 200 },
  );
});

test("equal seeds give equal runs", () => {
  const trace = () => {
    const random = seededRandom(7);
    const delayMs = () => Math.floor(random() * 30);
    const { network } = ensemble({ voterCount: 5 }, random, { algorithm: 3, delayMs, lossChance: 0.2 });
    for (const sid of network.servers.keys()) network.start(sid);
    network.run(5000);
    return [network.decisions, network.messageCount];
  };
  expect(trace()).toEqual(trace());
});
