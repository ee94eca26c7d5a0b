import { equal, ok } from "node:assert/strict";
import { renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fetchApacheJars } from "@zooid/conformance/internal/clients";
import { fourLetterWord } from "@zooid/conformance/internal/servers/endpoint";
import { freePorts } from "@zooid/wire/testing/free-ports";
import { Side } from "../apache-import/moved-side.ts";
import { compiledShim } from "../faults/compiled-shim.ts";
import { until } from "./event-reader.ts";
import { FollowerProcess, type FollowerStatus } from "./follower-process.ts";
import { pauseMainThread } from "./paused-process.ts";
import { HEAVY_BYTES_PER_SECOND, HEAVY_DATA_BYTES, HEAVY_HEAP, writeFor } from "./slow-reader.ts";

const SIDS = [1, 2, 3];
const PAUSE_MS = 60_000;
const LEVEL_MS = 1000;
const LEVEL_SETTLED_MS = 3000;
/** Milliseconds that each sync takes longer, by the beginning of the files' names. */
const SLOW_LOG = "log 300";
const SLOW_STATE = "state 2000";
/** On a machine that others share the servers take less. */
const SHARE_OF_RATE_MIN = 0.5;
/** In the log of a server of Apache's that ends. */
export const FATAL: RegExp = /OutOfMemoryError|Severe unrecoverable error/;

interface Fault {
  readonly name: string;
  begin(): Promise<() => Promise<void> | void>;
}

/**
 * Writes 16 MB/s to servers with 256 MB of heap, while the follower's main thread is paused, its
 * log and its state file are slow, and it is killed. The leader must lead on, each write must
 * succeed, and the follower must come level after each fault.
 */
export async function followThroughFaults(version: string, folder: string, seconds: number): Promise<string> {
  const ports = await freePorts(11);
  await using apache = new Side({
    kind: "apache",
    folder,
    ports,
    sids: SIDS,
    jars: fetchApacheJars(version),
    sessionMs: 40_000,
    heap: HEAVY_HEAP,
  });
  await Promise.all(apache.servers.map((server) => server.start()));
  const hosts = SIDS.map((_, i) => `127.0.0.1:${ports[3 + i]}`).join(",");
  const [adminPort = 0, inspectorPort = 0] = ports.slice(9);
  const slowSyncs = join(folder, "slow-syncs");
  const shim = compiledShim("slow-syncs-shim", join(import.meta.dirname, "slow-syncs-shim.c"));
  await using follower = new FollowerProcess(join(folder, "follower"), hosts, adminPort, {
    env: { LD_PRELOAD: shim, SLOW_SYNCS: slowSyncs, NODE_OPTIONS: `--inspect=127.0.0.1:${inspectorPort}` },
  });
  follower.launch();
  await follower.reached(isLevel);
  const leader = await leaderPort(apache);
  const slowed = (line: string): Fault["begin"] => {
    return async () => {
      writeFileSync(`${slowSyncs}.next`, `${line}\n`);
      renameSync(`${slowSyncs}.next`, slowSyncs);
      return () => rmSync(slowSyncs);
    };
  };
  const faults: readonly Fault[] = [
    { name: "its main thread is paused", begin: () => pauseMainThread(inspectorPort) },
    { name: "its log is slow", begin: slowed(SLOW_LOG) },
    { name: "its state file is slow", begin: slowed(SLOW_STATE) },
    {
      name: "it is killed",
      begin: async () => {
        await follower.kill();
        return () => follower.launch();
      },
    },
  ];
  const writing = writeFor(apache.hosts, seconds);
  const ended = writing.then(() => true);
  let rounds = 0;
  while (!(await Promise.race([ended, delay(0, false)]))) {
    for (const { name, begin } of faults) {
      await settled(follower);
      const end = await begin();
      await Promise.race([ended, delay(PAUSE_MS)]);
      await end();
      const startMs = performance.now();
      const { spool_bytes: waiting = 0 } = (await follower.status()) ?? {};
      await settled(follower);
      const tookMs = Math.round(performance.now() - startMs);
      console.log(`    ${name}: ${(waiting / 1e6).toFixed(0)} MB waited, level after ${tookMs} ms`);
      equal(await leaderPort(apache), leader, "another server leads");
    }
    rounds++;
  }
  const { count, slowestMs } = await writing;
  const status = await follower.reached(isLevel);
  for (const server of apache.servers) ok(!FATAL.test(server.log()), "an error that ends a server is in its log");
  const rate = (count * HEAVY_DATA_BYTES) / seconds;
  ok(rate >= SHARE_OF_RATE_MIN * HEAVY_BYTES_PER_SECOND, `the servers took ${(rate / 1e6).toFixed(1)} MB/s`);
  ok(version.startsWith("3.5.") || status.digest === "equal", `digests: ${status.digest}`);
  return (
    `${count} writes, ${(rate / 1e6).toFixed(1)} MB/s, the slowest ${slowestMs.toFixed(0)} ms; ` +
    `${rounds} rounds of faults, ${status.resyncs} links ended since the last start`
  );
}

/** Level, and still so after a while. */
async function settled(follower: FollowerProcess): Promise<void> {
  let sinceMs: number | undefined;
  await until(
    async () => {
      const status = await follower.status();
      if (status === undefined || !isLevel(status)) sinceMs = undefined;
      else sinceMs ??= performance.now();
      return sinceMs !== undefined && performance.now() - sinceMs > LEVEL_SETTLED_MS;
    },
    () => "the follower does not stay level",
  );
}

function isLevel({ state, lag_ms }: FollowerStatus): boolean {
  return state === "following" && lag_ms < LEVEL_MS;
}

async function leaderPort(apache: Side): Promise<number> {
  for (const { port } of apache.servers) {
    if ((await fourLetterWord(port, "srvr")).includes("Mode: leader")) return port;
  }
  throw new Error("no server leads");
}
