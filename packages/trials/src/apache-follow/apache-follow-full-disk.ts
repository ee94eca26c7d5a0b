/**
 * Fills and frees the disk of `zooid-server follow` beside an Apache ensemble under load.
 *
 *     npm run tool -- apache-follow-full-disk [--version 3.9.5] [--rounds 3] [--full-ms 5000]
 *         [--clients 4] [--deadline-s 60] [--seed N] [--keep]
 *
 * The data directory is a tmpfs of its own, in a mount namespace of the tool's own. In each round
 * it is kept full under load; in each second one the follower is also killed, and started before
 * there is room. It may not end, Apache's leader must lead on, and when there is room again the
 * follower must come level. At the end every node must be that of the leader, and the digests
 * equal. Needs Java and Maven.
 */
import { equal, ok } from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fetchApacheJars } from "@zooid/conformance/internal/clients";
import { Random } from "@zooid/conformance/internal/random";
import { newSeed, text, toolOptions, whole } from "@zooid/conformance/internal/tool-options";
import { freePorts } from "@zooid/wire/testing/free-ports";
import { Side } from "../apache-import/moved-side.ts";
import { Ballast } from "../faults/ballast.ts";
import { inOwnNamespaces, run } from "../processes/own-namespaces.ts";
import { setDeadline, until } from "./event-reader.ts";
import { compareTrees, reachedLeader, serverIn, startedLoad } from "./followed-ensemble.ts";
import { FollowerProcess, type FollowerStatus } from "./follower-process.ts";
import { FATAL } from "./heavy-writes.ts";

const SIDS = [1, 2, 3];
/** More than the data take, with the segments that a log writes and has ready. */
const DISK_SIZE = "256m";

const options = toolOptions({
  version: text,
  rounds: whole(3, 1),
  "full-ms": whole(5000, 100),
  clients: whole(4, 1),
  "deadline-s": whole(60, 1),
  seed: newSeed(),
  keep: false,
});
// The namespace has no way to a registry.
const jars = fetchApacheJars(options.version ?? "3.9.5");
if (await inOwnNamespaces(["ip", "mount"])) await main();

async function main(): Promise<void> {
  setDeadline(options["deadline-s"] * 1000);
  const folder = mkdtempSync(join(tmpdir(), "apache-follow-full-disk-"));
  run("ip", "link", "set", "lo", "up");
  console.log(`seed ${options.seed}, the follower on ${DISK_SIZE} of tmpfs, in ${folder}`);
  const dataDir = join(folder, "follower", "data");
  mkdirSync(dataDir, { recursive: true });
  run("mount", "-t", "tmpfs", "-o", `size=${DISK_SIZE}`, "none", dataDir);
  let failure: unknown;
  try {
    await fillAndFree(folder, dataDir);
  } catch (error) {
    failure = error;
    console.log(error instanceof Error ? error.stack : String(error));
  }
  run("umount", dataDir);
  if (failure === undefined && !options.keep) rmSync(folder, { recursive: true, force: true });
  console.log(failure === undefined ? "full disks ended no follower, and nothing is lost" : "FAILED");
  process.exit(failure === undefined ? 0 : 1);
}

async function fillAndFree(folder: string, dataDir: string): Promise<void> {
  const ports = await freePorts(10);
  await using apache = new Side({ kind: "apache", folder, ports, sids: SIDS, jars, sessionMs: 40_000 });
  await Promise.all(apache.servers.map((server) => server.start()));
  const hosts = SIDS.map((_, i) => apache.addressOf(i)).join(",");
  await using follower = new FollowerProcess(join(folder, "follower"), hosts, ports[9] ?? 0);
  const load = await startedLoad(new Random(options.seed), await serverIn(apache, "follower"), options.clients);
  follower.launch();
  await follower.reached(isFollowing);
  const leader = await reachedLeader(apache);
  for (let round = 1; round <= options.rounds; round++) {
    const isKilled = round % 2 === 0;
    const ballast = new Ballast(dataDir);
    ballast.keepFull();
    try {
      await delay(options["full-ms"]);
      if (isKilled) {
        await follower.kill();
        follower.launch();
        await delay(options["full-ms"]);
      }
      if (!isKilled) ok((await follower.status()) !== undefined, "it does not answer while its disk is full");
    } finally {
      ballast.remove();
    }
    const freedMs = performance.now();
    const { answered } = load;
    await until(() => load.answered > answered);
    const { state, resyncs, snapshots } = await follower.reached(
      (status) => isFollowing(status) && status.lag_ms < 1000,
    );
    const tookMs = Math.round(performance.now() - freedMs);
    const how = isKilled ? ", killed and started while full" : "";
    console.log(`  round ${round}${how}: ${state} after ${tookMs} ms, ${resyncs} links ended, ${snapshots} snapshots`);
    equal(await reachedLeader(apache), leader, "another server leads");
  }
  await load.end();
  console.log(`  ${await compareTrees(apache, follower)}`);
  equal((await follower.reached(isFollowing)).digest, "equal");
  for (const server of apache.servers) ok(!FATAL.test(server.log()), "an error that ends a server is in its log");
}

function isFollowing({ state }: FollowerStatus): boolean {
  return state === "following";
}
