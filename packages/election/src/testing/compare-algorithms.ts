// Prints what both algorithms cost, as the table in the README: `npm run compare`. Equal on every
// machine: time is virtual, chance has a seed.

import { composeZxid, MajorityQuorum, type ServerId, serverId } from "@zooid/model";
import { quantile } from "@zooid/model/testing/quantile";
import { seededRandom } from "@zooid/model/testing/seeded-random";
import { TestNetwork } from "./network.ts";

const ELECTIONS = 1000;
const LIMIT_MS = 60_000;
const SITUATIONS = ["cold start", "leader's death"] as const;

/** One election's cost. */
interface Cost {
  readonly messages: number;
  readonly messagesPerServer: number;
  /** Rounds of the server that needed most. */
  readonly rounds: number;
  /** Time until the last server had decided. */
  readonly ms: number;
  /** A server came to lead that the others did not follow. */
  readonly isRepeated: boolean;
}

console.log("| | servers | electionAlg | messages | a server | rounds | ms | elected twice |");
console.log("| --- | --- | --- | --- | --- | --- | --- | --- |");
for (const situation of SITUATIONS) {
  for (const serverCount of [3, 5, 7, 9]) {
    for (const algorithm of [3, 0]) {
      const costs = Array.from({ length: ELECTIONS }, (_, seed) =>
        electOnce({ situation, serverCount, algorithm, seed }),
      );
      const columns = [
        spread(costs.map(({ messages }) => messages)),
        spread(costs.map(({ messagesPerServer }) => messagesPerServer)),
        spread(costs.map(({ rounds }) => rounds)),
        spread(costs.map(({ ms }) => ms)),
        `${((costs.filter(({ isRepeated }) => isRepeated).length / ELECTIONS) * 100).toFixed(1)} %`,
      ];
      console.log(`| ${situation} | ${serverCount} | ${algorithm} | ${columns.join(" | ")} |`);
    }
  }
}

function electOnce({ situation, serverCount, algorithm, seed }: Setting): Cost {
  const random = seededRandom(seed);
  const delayMs = () => 1 + Math.floor(random() * 5);
  const voters = Array.from({ length: serverCount }, (_, index) => serverId(index + 1));
  const verifier = new MajorityQuorum(voters);
  const network = new TestNetwork({ algorithm, verifier, random, delayMs, roundTripMs: 6, establishes: true });
  for (const sid of voters) {
    network.add(sid, { zxid: composeZxid(4, 1 + Math.floor(random() * 100)), currentEpoch: 4 });
    network.at(Math.floor(random() * 10), () => network.start(sid));
  }
  const coldStart = measure(network, serverCount);
  const leader = network.leader();
  if (situation === "cold start" || leader === undefined) return coldStart;

  // Long enough for the leader to be established. Then writes continue, and not every follower has
  // the last ones.
  network.run(network.nowMs + 2500);
  for (const server of network.servers.values()) {
    const { currentEpoch } = server.position ?? { currentEpoch: 0 };
    server.position = { currentEpoch, zxid: composeZxid(currentEpoch, 1 + Math.floor(random() * 3)) };
  }
  network.crash(leader);
  return measure(network, serverCount - 1);
}

interface Setting {
  readonly situation: (typeof SITUATIONS)[number];
  readonly serverCount: number;
  readonly algorithm: number;
  readonly seed: number;
}

/** Runs until `upCount` servers are up and have one leader. */
function measure(network: TestNetwork, upCount: number): Cost {
  const startMs = network.nowMs;
  const messagesBefore = network.messageCount;
  const decisionsBefore = network.decisions.length;
  const roundsBefore = new Map<ServerId, number>(network.up().map(({ sid, election }) => [sid, election.round]));
  const isDecided = network.runUntil(
    () => network.up().length === upCount && network.leader() !== undefined,
    startMs + LIMIT_MS,
  );
  if (!isDecided) throw new Error(`no leader within ${LIMIT_MS} ms`);
  const messages = network.messageCount - messagesBefore;
  const wins = network.decisions.slice(decisionsBefore).filter(({ role }) => role === "leading");
  return {
    messages,
    messagesPerServer: messages / upCount,
    rounds: Math.max(...network.up().map(({ sid, election }) => election.round - (roundsBefore.get(sid) ?? 0))),
    ms: network.nowMs - startMs,
    isRepeated: wins.length > 1,
  };
}

/** Median and 99th percentile. */
function spread(values: readonly number[]): string {
  const sorted = values.toSorted((a, b) => a - b);
  return `${round(quantile(sorted, 0.5))} / ${round(quantile(sorted, 0.99))}`;
}

function round(value: number): string {
  return Number.isInteger(value) ? String(value) : value.toFixed(1);
}
