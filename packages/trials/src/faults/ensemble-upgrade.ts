/**
 * Rolls an ensemble from another version of the server to this one, back, and forth again, one
 * server at a time, under load. So each version leads the other, and follows it.
 *
 *     npm run tool -- ensemble-upgrade [--commit HEAD~20 | --other FOLDER] [--own 4] [--kazoo 4]
 *         [--set reconfigEnabled=true] [--keep]
 *
 * `--commit` builds the version of a commit beside this repository; `--other` is a checkout that is
 * built. Servers are asked to stop when they are upgraded and taken back, followers first, and are
 * killed the second time, the leader first. Printed for each step is the longest time without an
 * answered write. The check asks that every answered write is there, once; that zxids agree with
 * real time; that no session is lost; and that the servers hold the same.
 */
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { ROOT } from "@zooid/conformance/internal/servers/endpoint";
import { text, texts, toolOptions } from "@zooid/conformance/internal/tool-options";
import { run } from "../processes/run.ts";
import { longestGapMs } from "./ensemble-history.ts";
import { inMs, quantiles } from "./ensemble-report.ts";
import { Ensemble, type EnsembleServer, until, ZOOID_SERVER } from "./ensemble-servers.ts";
import { ReplaceLoad } from "./replace-load.ts";

const options = toolOptions({ commit: "HEAD~20", other: text, own: 4, kazoo: 4, set: texts, keep: false });
const DEADLINE_MS = 60_000;
const BUILD_MS_MAX = 600_000;
const SESSION_TIMEOUT_MS = 20_000;
/** Load before the first step and after each. */
const SETTLE_MS = 500;

interface Pass {
  readonly name: string;
  readonly program: string;
  readonly signal: NodeJS.Signals;
  readonly isLeaderFirst: boolean;
}

const folder = mkdtempSync(join(tmpdir(), "ensemble-upgrade-"));
const gapsMs: number[] = [];
const faults = await upgraded().catch((error: unknown) => [error instanceof Error ? error.message : String(error)]);
for (const fault of faults.slice(0, 12)) console.log(`  ${fault}`);
if (gapsMs.length > 0) console.log(`longest time without a write, per step: ${inMs(quantiles(gapsMs))}`);
const hasFailed = faults.length > 0;
console.log(hasFailed ? "FAILED" : "no acknowledged write lost, no order violated, no session lost, all servers equal");
if (hasFailed || options.keep) console.log(`data and logs are kept in ${folder}`);
else rmSync(folder, { recursive: true, force: true });
// Loops of clients that cannot reach a server any more would continue.
process.exit(hasFailed ? 1 : 0);

async function upgraded(): Promise<readonly string[]> {
  const other = options.other === undefined ? await built(options.commit) : programOf(resolve(options.other));
  await using ensemble = await Ensemble.create({
    folder,
    serverCount: 3,
    tickMs: 2000,
    syncLimit: 5,
    settings: options.set ?? [],
  });
  const { servers } = ensemble;
  for (const server of servers) server.launch(other);
  await ensemble.untilLevel(DEADLINE_MS);
  const load = new ReplaceLoad({
    ...{ first: servers, all: servers, sessionTimeoutMs: SESSION_TIMEOUT_MS },
    ...{ ownCount: options.own, kazooCount: options.kazoo },
  });
  await load.start();
  await settle(load);
  const passes: readonly Pass[] = [
    { name: "upgrade", program: ZOOID_SERVER, signal: "SIGTERM", isLeaderFirst: false },
    { name: "back", program: other, signal: "SIGTERM", isLeaderFirst: false },
    { name: "upgrade", program: ZOOID_SERVER, signal: "SIGKILL", isLeaderFirst: true },
  ];
  for (const pass of passes) await roll(ensemble, load, pass);
  const found = await load.finish(servers);
  console.log(`${load.doneCount} writes answered, ${load.writes.length - load.doneCount} without an answer`);
  return found;
}

async function roll(ensemble: Ensemble, load: ReplaceLoad, { name, program, signal, isLeaderFirst }: Pass) {
  const { servers } = ensemble;
  const leader = await ensemble.untilLeader(servers, DEADLINE_MS);
  const followers = servers.filter((server) => server !== leader);
  const order = isLeaderFirst ? [leader, ...followers] : [...followers, leader];
  const steps: string[] = [];
  for (const server of order) {
    const role = await server.role();
    const beganAt = process.hrtime.bigint();
    await server.end(signal);
    server.launch(program);
    const next = await ensemble.untilLevel(DEADLINE_MS);
    await settle(load);
    const gapMs = longestGapMs(load.writes, { after: beganAt });
    gapsMs.push(gapMs);
    steps.push(`${server.sid} (${role}; ${leadership(next, order, server)} leads) ${gapMs.toFixed(0)} ms`);
  }
  console.log(`${name} by ${signal}: ${steps.join(", ")}`);
}

/** Which version leads: servers of the order up to the present one have the pass's version. */
function leadership(leader: EnsembleServer, order: readonly EnsembleServer[], present: EnsembleServer): string {
  return order.indexOf(leader) <= order.indexOf(present) ? "the new one" : "the old one";
}

/** Waits until the clients have written for a while. */
async function settle(load: ReplaceLoad): Promise<void> {
  const { doneCount } = load;
  await delay(SETTLE_MS);
  await until("writes", DEADLINE_MS, () => load.doneCount > doneCount || undefined);
}

/** The server of a commit, in a work tree of its own. */
async function built(commit: string): Promise<string> {
  const tree = join(folder, "other");
  await run("git", ["clone", "--quiet", "--no-checkout", "--shared", ROOT, tree], ROOT);
  const { stdout } = await run("git", ["rev-parse", "--verify", `${commit}^{commit}`], ROOT);
  await run("git", ["checkout", "--quiet", "--detach", stdout.trim()], tree);
  await run("npm", ["ci", "--silent", "--no-audit", "--no-fund"], tree, process.env, BUILD_MS_MAX);
  console.log(`built ${stdout.trim().slice(0, 12)}`);
  return programOf(tree);
}

function programOf(tree: string): string {
  const program = join(tree, "node_modules/.bin/zooid-server");
  if (!existsSync(program)) throw new Error(`${program} is missing: run npm ci there`);
  return program;
}
