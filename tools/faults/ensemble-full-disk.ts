/**
 * Fills the disk of one server of a real ensemble under load: the leader's and a follower's in
 * turn.
 *
 *     npm run tool -- ensemble-full-disk [--rounds 2] [--seed N] [--keep]
 *
 * Every data directory is a tmpfs of its own, in a mount namespace of the tool's own. The server
 * must end with status 20 and a line with the reason, the others must continue, and once there is
 * room it must start again and synchronize. The history of all clients is checked as in
 * ensemble-kill.
 */
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import { longestGapMs } from "./ensemble-history.ts";
import { EnsembleLoad } from "./ensemble-load.ts";
import { keepFaults } from "./ensemble-report.ts";
import { Ensemble, type EnsembleServer, until } from "./ensemble-servers.ts";
import { inOwnNamespaces, run } from "./own-namespaces.ts";

const { values: options } = parseArgs({
  options: {
    rounds: { type: "string", default: "2" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    keep: { type: "boolean", default: false },
  },
});
/** More than a log keeps, with the segments that it writes and has ready, so that only ballast fills it. */
const DISK_SIZE = "192m";
const BALLAST_PIECE = Buffer.alloc(64 * 1024);
const STORAGE_FAILED = 20;
const DEADLINE_MS = 30_000;
/** A log whose next segment is allocated needs no more room for a while. */
const FULL_DEADLINE_MS = 120_000;
const RESUMED_COUNT = 20;

if (await inOwnNamespaces(["ip", "mount"])) await main();

async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "ensemble-full-disk-"));
  run("ip", "link", "set", "lo", "up");
  const ensemble = await Ensemble.create({ folder, serverCount: 3, tickMs: 2000, syncLimit: 5 });
  const load = new EnsembleLoad({ servers: ensemble.servers, seed: Number(options.seed), sessionTimeoutMs: 40_000 });
  let hasFailed = false;
  console.log(`seed ${options.seed}, three servers, each on ${DISK_SIZE} of tmpfs, in ${folder}`);
  try {
    for (const server of ensemble.servers) {
      run("mount", "-t", "tmpfs", "-o", `size=${DISK_SIZE}`, "none", server.dataDir);
      server.writeMyid();
    }
    await ensemble.start(DEADLINE_MS);
    await load.prepare();
    for (let round = 1; round <= Number(options.rounds) && !hasFailed; round++) {
      const faults = await runRound(round);
      hasFailed = faults.length > 0;
      if (hasFailed) keepFaults(folder, { faults, load, ensemble });
    }
    await load.close();
  } catch (error) {
    hasFailed = true;
    keepFaults(folder, { faults: [error instanceof Error ? error.message : String(error)], load, ensemble });
  } finally {
    await ensemble[Symbol.asyncDispose]();
    for (const server of ensemble.servers) run("umount", server.dataDir);
  }
  if (!hasFailed && !options.keep) rmSync(folder, { recursive: true, force: true });
  console.log(hasFailed ? "FAILED" : "full disks ended one server each, and nothing else");
  process.exit(hasFailed ? 1 : 0);

  async function runRound(round: number): Promise<readonly string[]> {
    const leader = await ensemble.untilLeader(ensemble.servers, DEADLINE_MS);
    const others = ensemble.servers.filter((server) => server !== leader);
    const victim = round % 2 === 1 ? leader : (others[round % others.length] ?? leader);
    await load.start();
    await until("load", DEADLINE_MS, () => load.recorder.doneCount > 0 || undefined);
    const ballast = join(victim.dataDir, "ballast");
    fill(ballast);
    await until(`server ${victim.sid} to end`, FULL_DEADLINE_MS, () => !victim.isRunning || undefined);
    const endedAt = process.hrtime.bigint();
    const status = await victim.ended();
    const survivors = ensemble.servers.filter((server) => server !== victim);
    const next = await ensemble.untilLeader(survivors, DEADLINE_MS);
    await until(
      "writes to go on",
      DEADLINE_MS,
      () => load.doneSince(endedAt).length >= RESUMED_COUNT || undefined,
      () => ensemble.describe(),
    );
    const said = lastLine(victim);
    rmSync(ballast);
    const gapMs = longestGapMs(load.recorder.writes, { after: endedAt });
    victim.launch();
    await ensemble.untilLevel(DEADLINE_MS);
    await delay(100);
    await load.rest();
    const faults = [...(await load.check())];
    if (status !== STORAGE_FAILED) faults.push(`server ${victim.sid} ended with ${status}, not ${STORAGE_FAILED}`);
    if (!/full/.test(said)) faults.push(`server ${victim.sid} does not say that its disk is full: ${said}`);
    console.log(
      `round ${round}: the disk of ${victim === leader ? "the leader" : "a follower"} (server ${victim.sid}) was full, it ended with ` +
        `${status}, server ${next.sid} led, longest time without a write ${gapMs.toFixed(0)} ms; it said: ${said}`,
    );
    return faults;
  }
}

/** Takes all the room there is. */
function fill(path: string): void {
  const file = openSync(path, "w");
  try {
    for (;;) writeSync(file, BALLAST_PIECE);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOSPC")) throw error;
  } finally {
    closeSync(file);
  }
}

/** The text of the last line with an error. */
function lastLine(server: EnsembleServer): string {
  const errors = server
    .log()
    .split("\n")
    .filter((line) => line.startsWith('{"level":"error"'));
  return /"msg":"(.*)"}$/.exec(errors.at(-1) ?? "")?.[1] ?? "";
}
