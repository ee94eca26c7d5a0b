/**
 * Cuts, throttles and pauses the servers of a real ensemble, each in a network namespace of its
 * own, and checks the history of all clients after each round, as ensemble-kill does.
 *
 *     npm run tool -- ensemble-net [--rounds 16] [--seed N] [--servers 3|5] [--fault NAME] [--keep]
 *
 * Clients reach every server all the while, so that a leader which others have given up continues
 * being asked. Printed for each round are the longest time without an answered write while the
 * fault lasted, and how long it took after it until every server was level.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { Random } from "@zooid/conformance/internal/random";
import { ZOOID_SERVER } from "@zooid/conformance/internal/servers/endpoint";
import { maybeOneOf, newSeed, toolOptions } from "@zooid/conformance/internal/tool-options";
import { inMs, quantiles } from "../figures/quantiles.ts";
import { inOwnNamespaces, run } from "../processes/own-namespaces.ts";
import { longestGapMs } from "./ensemble-history.ts";
import { EnsembleLoad } from "./ensemble-load.ts";
import { between, bothWays, EnsembleNetwork } from "./ensemble-network.ts";
import { Ensemble, type EnsembleServer } from "./ensemble-servers.ts";
import { playRounds } from "./load-rounds.ts";

const TICK_MS = 500;
const SYNC_LIMIT = 4;
const SILENCE_MS = TICK_MS * SYNC_LIMIT;
const DEADLINE_MS = 30_000;

/** A round's servers: the leader at its start, and the others. */
interface Cast {
  readonly network: EnsembleNetwork;
  readonly leader: EnsembleServer;
  /** The leader's id, alone. */
  readonly led: readonly number[];
  readonly others: readonly number[];
  readonly untilOthersLead: () => Promise<unknown>;
}

/**
 * A fault of the ensemble; it is over when the promise resolves, but for the repair of the network
 * and of paused processes.
 */
type Fault = (cast: Cast) => Promise<unknown>;

const FAULTS: Readonly<Record<string, Fault>> = {
  "a leader cut off from all others": ({ network, led, others, untilOthersLead }) => {
    network.cut(bothWays(led, others));
    return untilOthersLead();
  },
  "a deaf leader": ({ network, led, others, untilOthersLead }) => {
    network.cut(between(others, led));
    return untilOthersLead();
  },
  "a mute leader": ({ network, led, others, untilOthersLead }) => {
    network.cut(between(led, others));
    return untilOthersLead();
  },
  "a leader in a minority": ({ network, led, others, untilOthersLead }) => {
    const minority = [...led, ...others.slice(0, Math.floor(others.length / 2) - 1)];
    const majority = others.filter((sid) => !minority.includes(sid));
    network.cut(bothWays(minority, majority));
    return untilOthersLead();
  },
  "a follower cut off from all others": ({ network, led, others }) => {
    network.cut(bothWays(others.slice(0, 1), [...led, ...others.slice(1)]));
    return delay(1.5 * SILENCE_MS);
  },
  "a leader and a follower that do not reach each other, and one that reaches both": ({ network, led, others }) => {
    network.cut(bothWays(others.slice(0, 1), led));
    return delay(1.5 * SILENCE_MS);
  },
  "a leader that comes and goes every 100 ms": async ({ network, led, others }) => {
    for (let i = 0; i < 15; i++) {
      network.cut(bothWays(led, others));
      await delay(100);
      network.heal();
      await delay(100);
    }
  },
  "a leader with slow links that drop what does not fit": ({ network, led, others }) => {
    network.throttle(bothWays(led, others));
    return delay(1.5 * SILENCE_MS);
  },
  "a paused leader": ({ leader, untilOthersLead }) => {
    leader.signal("SIGSTOP");
    return untilOthersLead();
  },
  "a paused leader that wakes cut off from all others": async ({ network, leader, led, others, untilOthersLead }) => {
    leader.signal("SIGSTOP");
    await untilOthersLead();
    network.cut(bothWays(led, others));
    leader.signal("SIGCONT");
    await delay(SILENCE_MS / 2);
  },
};
const NAMES = Object.keys(FAULTS);

const options = toolOptions({ rounds: 16, seed: newSeed(), servers: 3, fault: maybeOneOf(NAMES), keep: false });

if (await inOwnNamespaces(["ip", "tc", "mount"])) await main();

async function main(): Promise<void> {
  const random = new Random(options.seed);
  const folder = mkdtempSync(join(tmpdir(), "ensemble-net-"));
  run(ZOOID_SERVER, "init-secret", join(folder, "secret"));
  const network = new EnsembleNetwork(options.servers);
  const ensemble = await Ensemble.create({
    folder,
    serverCount: options.servers,
    tickMs: TICK_MS,
    syncLimit: SYNC_LIMIT,
    places: network.places,
    settings: [`zooid.peerSecretFile=${join(folder, "secret")}`],
  });
  const { servers } = ensemble;
  const load = new EnsembleLoad({ servers, seed: options.seed, sessionTimeoutMs: 20 * TICK_MS });
  const outagesMs = new Map<string, number[]>();
  let writeCount = 0;
  let readCount = 0;

  console.log(
    `seed ${options.seed}, ${servers.length} servers, tick ${TICK_MS} ms, sync limit ${SYNC_LIMIT} ticks, in ${folder}`,
  );
  const names = NAMES.filter((name) => options.fault === undefined || name === options.fault);
  // Each once before any comes again.
  let waiting: string[] = [];
  const isFine = await playRounds({ ensemble, load, rounds: options.rounds }, async (round) => {
    if (waiting.length === 0) waiting = names.toSorted(() => random.next() - 0.5);
    return await runRound(round, waiting.pop() ?? "");
  });
  if (isFine && !options.keep) rmSync(folder, { recursive: true, force: true });
  for (const [name, values] of outagesMs)
    console.log(`${name} (${values.length} rounds): without writes ${inMs(quantiles(values))}`);
  console.log(`${writeCount} writes answered, ${readCount} reads checked`);
  console.log(
    isFine
      ? "no acknowledged write lost, no order violated, no stale read behind a sync, no session lost, all servers equal"
      : "FAILED",
  );
  process.exit(isFine ? 0 : 1);

  async function runRound(round: number, name: string): Promise<readonly string[]> {
    const leader = await ensemble.untilLeader(servers, DEADLINE_MS);
    const others = servers.filter((server) => server !== leader);
    const startedAt = process.hrtime.bigint();
    await load.start();
    await delay(random.between(150, 500));
    const hitAt = process.hrtime.bigint();
    await FAULTS[name]?.({
      network,
      leader,
      led: [leader.sid],
      others: others.map(({ sid }) => sid),
      untilOthersLead: () => ensemble.untilLeader(others, DEADLINE_MS),
    });
    await load.untilDone(hitAt);
    await delay(random.between(100, 600));
    const healedAt = process.hrtime.bigint();
    network.heal();
    leader.signal("SIGCONT");
    await ensemble.untilLevel(DEADLINE_MS);
    const levelMs = Number(process.hrtime.bigint() - healedAt) / 1e6;
    await delay(100);
    await load.rest();
    const writes = load.recorder.writes.filter(({ sentAt }) => sentAt > startedAt);
    const outageMs = longestGapMs(writes, { after: hitAt, until: healedAt });
    const faults = await load.check();
    outagesMs.set(name, [...(outagesMs.get(name) ?? []), outageMs]);
    const doneCount = writes.filter(({ outcome }) => outcome === "done").length;
    writeCount += doneCount;
    readCount += load.recorder.reads.length;
    console.log(
      `round ${round}: ${name} (server ${leader.sid}): without writes ${outageMs.toFixed(0)} ms, level ${levelMs.toFixed(0)} ms ` +
        `after it; ${doneCount} writes, ${load.recorder.reads.length} reads${faults.length > 0 ? " FAILED" : ""}`,
    );
    return faults;
  }
}
