/**
 * Replaces all servers of an ensemble under load, one at a time: {1,2,3} become {4,5,6}. Eight
 * clients of `@zooid/client`, which know the first servers and follow the configuration, and eight
 * of kazoo, which know all six addresses, write meanwhile.
 *
 *     npm run tool -- ensemble-replace [--rounds 20] [--own 8] [--kazoo 8] [--keep]
 *
 * A round begins with a new ensemble. A step starts a server, waits until it has been brought
 * level, puts it in another one's place by one change of the configuration, and stops that other
 * one. Printed for each step is the longest time without an answered write. The check of a round
 * asks that every answered write is there, once; that zxids agree with real time; that no session
 * is lost; and that the servers hold the same.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { connect } from "@zooid/client";
import { toolOptions } from "@zooid/conformance/internal/tool-options";
import { longestGapMs } from "./ensemble-history.ts";
import { inMs, quantiles } from "./ensemble-report.ts";
import { Ensemble, type EnsembleServer, until } from "./ensemble-servers.ts";
import { ReplaceLoad } from "./replace-load.ts";

const options = toolOptions({ rounds: 20, own: 8, kazoo: 8, keep: false });
const SERVER_COUNT = 3;
const DEADLINE_MS = 60_000;
const SESSION_TIMEOUT_MS = 20_000;
/** Load before the first step and after each. */
const SETTLE_MS = 500;

const gapsMs: number[] = [];
let writeCount = 0;
let hasFailed = false;
for (let round = 1; round <= options.rounds && !hasFailed; round++) {
  const folder = mkdtempSync(join(tmpdir(), "ensemble-replace-"));
  await using ensemble = await Ensemble.create({
    ...{ folder, serverCount: 2 * SERVER_COUNT, tickMs: 2000, syncLimit: 5 },
    settings: ["reconfigEnabled=true", "skipACL=yes"],
    isListed: (sid, by) => sid <= SERVER_COUNT || sid === by,
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
  const { servers } = ensemble;
  const first = servers.slice(0, SERVER_COUNT);
  for (const server of first) server.launch();
  await ensemble.untilLevel(DEADLINE_MS, first);
  const load = new ReplaceLoad({
    ...{ first, all: servers, sessionTimeoutMs: SESSION_TIMEOUT_MS },
    ...{ ownCount: options.own, kazooCount: options.kazoo },
  });
  await load.start();
  await settle(load);
  const steps: string[] = [];
  for (const joins of servers.slice(SERVER_COUNT)) {
    const leaves = servers[joins.sid - SERVER_COUNT - 1];
    if (leaves === undefined) throw new Error(`no server leaves for server ${joins.sid}`);
    const role = await leaves.role();
    const beganAt = process.hrtime.bigint();
    await replace(leaves, joins);
    await ensemble.untilLevel(DEADLINE_MS, servers.slice(joins.sid - SERVER_COUNT, joins.sid));
    await settle(load);
    const gapMs = longestGapMs(load.writes, { after: beganAt });
    gapsMs.push(gapMs);
    steps.push(`${leaves.sid} (${role}) → ${joins.sid} ${gapMs.toFixed(0)} ms`);
  }
  const faults = await load.finish(servers.slice(SERVER_COUNT));
  writeCount += load.doneCount;
  console.log(
    `round ${round}: ${steps.join(", ")}; ${load.doneCount} writes (${load.writes.length - load.doneCount} without an answer)` +
      `${faults.length > 0 ? " FAILED" : ""}`,
  );
  return faults;
}

/** Puts a server in another one's place. */
async function replace(leaves: EnsembleServer, joins: EnsembleServer): Promise<void> {
  joins.launch();
  await until("the joiner to be level", DEADLINE_MS, async () => ((await joins.role()) === "none" ? undefined : true));
  const { peerHost, quorumPort, electionPort, clientHost, clientPort } = joins.place;
  const line = `server.${joins.sid}=${peerHost}:${quorumPort}:${electionPort};${clientHost}:${clientPort}`;
  const client = await connect(`${clientHost}:${clientPort}`, { startTimeoutMs: DEADLINE_MS });
  await client.reconfig({ joining: [line], leaving: [leaves.sid] });
  await client.close();
  await until("the server that left to serve no more", DEADLINE_MS, async () =>
    ["none", "observer"].includes(await leaves.role()) ? true : undefined,
  );
  await leaves.end("SIGTERM");
}

/** Waits until the clients have written for a while. */
async function settle(load: ReplaceLoad): Promise<void> {
  const { doneCount } = load;
  await delay(SETTLE_MS);
  await until("writes", DEADLINE_MS, () => load.doneCount > doneCount || undefined);
}
