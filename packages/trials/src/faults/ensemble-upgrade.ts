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
import { ROOT, ZOOID_SERVER } from "@zooid/conformance/internal/servers/endpoint";
import { text, texts, toolOptions } from "@zooid/conformance/internal/tool-options";
import { run } from "../processes/run.ts";
import type { EnsembleServer } from "./ensemble-servers.ts";
import { DEADLINE_MS, type RollingRound, RollingRounds } from "./rolling-rounds.ts";

const options = toolOptions({ commit: "HEAD~20", other: text, own: 4, kazoo: 4, set: texts, keep: false });
const BUILD_MS_MAX = 600_000;

interface Pass {
  readonly name: string;
  readonly program: string;
  readonly signal: NodeJS.Signals;
  readonly isLeaderFirst: boolean;
}

const folder = mkdtempSync(join(tmpdir(), "ensemble-upgrade-build-"));
const other = options.other === undefined ? await built(options.commit) : programOf(resolve(options.other));
const PASSES: readonly Pass[] = [
  { name: "upgrade", program: ZOOID_SERVER, signal: "SIGTERM", isLeaderFirst: false },
  { name: "back", program: other, signal: "SIGTERM", isLeaderFirst: false },
  { name: "upgrade", program: ZOOID_SERVER, signal: "SIGKILL", isLeaderFirst: true },
];
const rounds = new RollingRounds({
  ...options,
  name: "ensemble-upgrade",
  founders: 3,
  program: other,
  ensemble: { serverCount: 3, tickMs: 2000, syncLimit: 5, settings: options.set },
});
await rounds.play("passes", async (round) => {
  await round.begin();
  for (const pass of PASSES) await roll(round, pass);
  return round.founders;
});
rmSync(folder, { recursive: true, force: true });
rounds.end();

async function roll(round: RollingRound, { name, program, signal, isLeaderFirst }: Pass): Promise<void> {
  const { ensemble, steps } = round;
  const leader = await ensemble.untilLeader(ensemble.servers, DEADLINE_MS);
  const followers = ensemble.servers.filter((server) => server !== leader);
  const order = isLeaderFirst ? [leader, ...followers] : [...followers, leader];
  const texts: string[] = [];
  for (const server of order) {
    const role = await server.role();
    let leads = "";
    const gapMs = await round.gapOf(async () => {
      await server.restart(signal, program);
      leads = leadership(await ensemble.untilLevel(DEADLINE_MS), order, server);
    });
    rounds.gapsMs.push(gapMs);
    texts.push(`${server.sid} (${role}; ${leads} leads) ${gapMs.toFixed(0)} ms`);
  }
  console.log(`${name} by ${signal}: ${texts.join(", ")}`);
  steps.push(name);
}

/** Which version leads: servers of the order up to the present one have the pass's version. */
function leadership(leader: EnsembleServer, order: readonly EnsembleServer[], present: EnsembleServer): string {
  return order.indexOf(leader) <= order.indexOf(present) ? "the new one" : "the old one";
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
