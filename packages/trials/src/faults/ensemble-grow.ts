/**
 * Grows and shrinks an ensemble without `reconfigEnabled` under load, by edited files and restarts:
 * 3, 4, 5, 4 and 3 servers, then 5 at once. Eight clients of `@zooid/client` and eight of kazoo
 * write meanwhile.
 *
 *     npm run tool -- ensemble-grow [--rounds 20] [--sizes 4,5,4,3,5] [--own 8] [--kazoo 8] [--seed 1] [--keep]
 *
 * A round begins with a new ensemble of three. A step gives servers a list of another size as
 * docs/operations.md says: new servers start first, then each other one that stays is restarted,
 * the leader last, each when the one before serves; servers that leave are stopped last. At a
 * random moment of each step the leader is killed, and started again. Printed for each step is the
 * longest time without an answered write. The check of a round is that of ensemble-replace.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { toolOptions } from "@zooid/conformance/internal/tool-options";
import { longestGapMs } from "./ensemble-history.ts";
import { inMs, quantiles } from "./ensemble-report.ts";
import { Ensemble, type EnsembleServer, until } from "./ensemble-servers.ts";
import { ReplaceLoad } from "./replace-load.ts";

const options = toolOptions({ rounds: 20, sizes: [4, 5, 4, 3, 5], own: 8, kazoo: 8, seed: 1, keep: false });
const FOUNDERS = 3;
const { sizes } = options;
const DEADLINE_MS = 60_000;
const SESSION_TIMEOUT_MS = 20_000;
/** Load before the first step and after each. */
const SETTLE_MS = 300;
/** The leader is killed within this time of a restart. */
const KILL_MS_MAX = 1500;

let randomState = options.seed;
const gapsMs: number[] = [];
let writeCount = 0;
let hasFailed = false;
for (let round = 1; round <= options.rounds && !hasFailed; round++) {
  const folder = mkdtempSync(join(tmpdir(), "ensemble-grow-"));
  await using ensemble = await Ensemble.create({
    ...{ folder, serverCount: Math.max(FOUNDERS, ...sizes), tickMs: 2000, syncLimit: 5 },
    isListed: (sid, by) => sid <= Math.max(FOUNDERS, by),
  });
  const faults = await runRound(round, ensemble).catch((error: unknown) => [
    error instanceof Error ? error.message : String(error),
  ]);
  hasFailed = faults.length > 0;
  for (const fault of faults.slice(0, 12)) console.log(`  ${fault}`);
  if (hasFailed) console.log(ensemble.describe());
  if (hasFailed || options.keep) console.log(`data and logs are kept in ${folder}`);
  else rmSync(folder, { recursive: true, force: true });
}
if (gapsMs.length > 0) console.log(`longest time without a write, per step: ${inMs(quantiles(gapsMs))}`);
console.log(`${gapsMs.length} steps, ${writeCount} writes answered`);
console.log(hasFailed ? "FAILED" : "no acknowledged write lost, no order violated, no session lost, all servers equal");
// Loops of clients that cannot reach a server any more would continue.
process.exit(hasFailed ? 1 : 0);

async function runRound(round: number, ensemble: Ensemble): Promise<readonly string[]> {
  const first = ensemble.servers.slice(0, FOUNDERS);
  for (const server of first) server.launch();
  await ensemble.untilLevel(DEADLINE_MS, first);
  const load = new ReplaceLoad({
    ...{ first, all: ensemble.servers, sessionTimeoutMs: SESSION_TIMEOUT_MS },
    ...{ ownCount: options.own, kazooCount: options.kazoo },
  });
  await load.start();
  await settle(load);
  const steps: string[] = [];
  let members = first;
  for (const size of sizes) {
    const beganAt = process.hrtime.bigint();
    const next = ensemble.servers.slice(0, size);
    const killed = await change(ensemble, members, next);
    await settle(load);
    const gapMs = longestGapMs(load.writes, { after: beganAt });
    const tookMs = Number(process.hrtime.bigint() - beganAt) / 1e6;
    gapsMs.push(gapMs);
    steps.push(
      `${members.length}→${size} ${(tookMs / 1000).toFixed(1)} s, ${killed} killed, gap ${gapMs.toFixed(0)} ms`,
    );
    members = next;
  }
  const faults = await load.finish(members);
  writeCount += load.doneCount;
  console.log(
    `round ${round}: ${steps.join("; ")}; ${load.doneCount} writes (${load.writes.length - load.doneCount} without an answer)` +
      `${faults.length > 0 ? " FAILED" : ""}`,
  );
  return faults;
}

/**
 * Gives the servers of a list that list, one after another. @returns the leader that was killed
 * meanwhile
 */
async function change(
  ensemble: Ensemble,
  before: readonly EnsembleServer[],
  next: readonly EnsembleServer[],
): Promise<string> {
  for (const server of next) {
    if (before.includes(server)) continue;
    edit(ensemble, server, next);
    server.launch();
    await untilServing(server);
  }
  const stays = before.filter((server) => next.includes(server));
  const leader = await ensemble.untilLeader(before, DEADLINE_MS);
  const ordered = [...stays.filter((server) => server !== leader), ...stays.filter((server) => server === leader)];
  const killBehind = below(ordered.length);
  let killed = "";
  for (const [index, server] of ordered.entries()) {
    edit(ensemble, server, next);
    await server.end("SIGTERM");
    server.launch();
    await untilServing(server);
    if (index === killBehind) killed = await killLeader(ensemble, [...new Set([...before, ...next])]);
  }
  await until(
    "the new list to be in force",
    DEADLINE_MS,
    async () => {
      const roles = await Promise.all(next.map((server) => server.role()));
      return roles.filter((role) => role === "leader").length === 1 &&
        !roles.includes("observer") &&
        !roles.includes("none")
        ? true
        : undefined;
    },
    () => ensemble.describe(),
  );
  for (const server of before) if (!next.includes(server)) await server.end("SIGTERM");
  await ensemble.untilLevel(DEADLINE_MS, next);
  return killed;
}

async function killLeader(ensemble: Ensemble, running: readonly EnsembleServer[]): Promise<string> {
  await delay(below(KILL_MS_MAX));
  const leader = await ensemble.untilLeader(running, DEADLINE_MS);
  await leader.end("SIGKILL");
  const next = await ensemble.untilLeader(running, DEADLINE_MS);
  leader.launch();
  await untilServing(leader);
  return `${leader.sid} (${next.sid} leads)`;
}

/** The zoo.cfg of a server lists these servers from its next start on. */
function edit({ options: common, servers }: Ensemble, server: EnsembleServer, list: readonly EnsembleServer[]): void {
  const sids = list.map(({ sid }) => sid);
  server.configure(
    { ...common, isListed: (sid) => sids.includes(sid) },
    servers.map(({ place }) => place),
  );
}

async function untilServing(server: EnsembleServer): Promise<void> {
  await until(
    `server ${server.sid} to serve`,
    DEADLINE_MS,
    async () => ((await server.role()) === "none" ? undefined : true),
    () => server.logTail(),
  );
}

/** Waits until the clients have written for a while. */
async function settle(load: ReplaceLoad): Promise<void> {
  const { doneCount } = load;
  await delay(SETTLE_MS);
  await until("writes", DEADLINE_MS, () => load.doneCount > doneCount || undefined);
}

/** The same moments for the same seed. */
function below(limit: number): number {
  randomState = (Math.imul(randomState, 1_664_525) + 1_013_904_223) >>> 0;
  return Math.floor((randomState / 2 ** 32) * limit);
}
