import { equal, ok } from "node:assert/strict";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { follow } from "@zooid/apache-peer";
import { connect } from "@zooid/client";
import { fetchApacheJars } from "@zooid/conformance/internal/clients";
import { fourLetterWord } from "@zooid/conformance/internal/servers/endpoint";
import { freePorts } from "@zooid/wire/testing/free-ports";
import { Side } from "../apache-import/moved-side.ts";

const SIDS = [1, 2, 3];
export const HEAVY_HEAP = "256m";
const MIB = 1024 * 1024;
/** Small beside the heap: a leader keeps the last 500 transactions. */
export const HEAVY_DATA_BYTES = 10_000;
const NODES = 50;
const TURN_MS = 25;
const IN_FLIGHT_MAX = 500;
export const HEAVY_BYTES_PER_SECOND: number = 16 * MIB;
const SPOOL_BYTES_MAX = 256 * MIB;

/**
 * Writes 16 MB/s to servers with 256 MB of heap, while a follower is not read from: the leader must
 * serve all the time. Then it is read from, and must come level.
 */
export async function followSlowly(version: string, folder: string, seconds: number): Promise<void> {
  const ports = await freePorts(9);
  await using apache = new Side({
    kind: "apache",
    folder: join(folder, "slow"),
    ports,
    sids: SIDS,
    jars: fetchApacheJars(version),
    sessionMs: 40_000,
    heap: HEAVY_HEAP,
  });
  await Promise.all(apache.servers.map((server) => server.start()));
  const hosts = SIDS.map((_, i) => `127.0.0.1:${ports[3 + i]}`).join(",");
  await using follower = follow(hosts, { spoolDirectory: folder, spoolBytesMax: SPOOL_BYTES_MAX });
  const events = follower[Symbol.asyncIterator]();
  for (;;) {
    const { value, done } = await events.next();
    if (done === true || value.kind === "up-to-date") break;
  }
  const leader = await leaderPort(apache);
  const { count, slowestMs } = await writeFor(apache.hosts, seconds);
  const { spoolBytes, disconnectCount, lastError } = follower.status;
  equal(await leaderPort(apache), leader, "another server leads");
  let [read, bytes] = [0, 0];
  const readingMs = performance.now();
  const synced = follower.sync().then(() => performance.now());
  const reading = (async (): Promise<void> => {
    for (;;) {
      const { value, done } = await events.next();
      if (done === true || value.kind === "synced") break;
      if (value.kind === "transaction") [read, bytes] = [read + 1, bytes + value.bytes.length];
    }
  })();
  const levelMs = (await synced) - readingMs;
  await reading;
  ok(read >= count || follower.status.snapshotCount > 1, "transactions are missing");
  const mb = (value: number): string => (value / MIB).toFixed(0);
  console.log(
    `  ${count} writes, ${mb((count * HEAVY_DATA_BYTES) / seconds)} MB/s for ${seconds} s, the slowest ${slowestMs.toFixed(0)} ms, ` +
      `while nothing was read; ${mb(spoolBytes)} MB waited, ${disconnectCount} links ended (${lastError?.code ?? "none"}); ` +
      `then ${mb(bytes)} MB were read, and the follower was level after ${levelMs.toFixed(0)} ms`,
  );
}

async function leaderPort(apache: Side): Promise<number> {
  for (const { port } of apache.servers) {
    if ((await fourLetterWord(port, "srvr")).includes("Mode: leader")) return port;
  }
  throw new Error("no server leads");
}

/** A fixed rate, where the servers carry it: late writes are made up for. */
export async function writeFor(
  hosts: string,
  seconds: number,
): Promise<{ readonly count: number; readonly slowestMs: number }> {
  await using zk = await connect(hosts, { sessionTimeoutMs: 40_000 });
  for (let i = 0; i < NODES; i++) await zk.create(`/n${i}`, "");
  const data = Buffer.alloc(HEAVY_DATA_BYTES, "x");
  const pending = new Set<Promise<void>>();
  const startMs = performance.now();
  let [count, slowestMs] = [0, 0];
  for (let passedMs = 0; passedMs < seconds * 1000; passedMs = performance.now() - startMs) {
    while (count * HEAVY_DATA_BYTES < (HEAVY_BYTES_PER_SECOND * passedMs) / 1000 && pending.size < IN_FLIGHT_MAX) {
      const sentMs = performance.now();
      const write = zk.set(`/n${count++ % NODES}`, data).then(() => {
        slowestMs = Math.max(slowestMs, performance.now() - sentMs);
        pending.delete(write);
      });
      pending.add(write);
    }
    await delay(TURN_MS);
  }
  await Promise.all(pending);
  return { count, slowestMs };
}
