/**
 * Measures our client beside the two that npm has, each in a process of its own on one connection,
 * in turn, against one server.
 *
 *     npm run tool -- compare-clients [--server HOST:PORT] [--rounds 5] [--seconds 1] [--workload getData-256 …]
 *
 * Without `--server` it starts ours, in memory where the machine has a /dev/shm. Exit status 1
 * where a request of ours makes a timer.
 */
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Client, connect } from "@zooid/client";
import { ServerProcess } from "@zooid/conformance/internal/servers/endpoint";
import { decimal, eachOf, text, toolOptions } from "@zooid/conformance/internal/tool-options";
import { median } from "../figures/quantiles.ts";
import { ClientProcess } from "./client-process.ts";
import type { LoopResult } from "./closed-loop.ts";
import { FOREIGN_VERSIONS, foreignClient } from "./foreign-clients.ts";
import { CLIENT_NAMES, type ClientName } from "./measured-client.ts";
import { WORKLOADS } from "./workloads.ts";

const options = toolOptions({
  server: text,
  rounds: 5,
  seconds: decimal(1),
  workload: eachOf(WORKLOADS.map(({ name }) => name)),
});
const { rounds } = options;
const roundMs = options.seconds * 1000;
const workloads = WORKLOADS.filter(({ name }) => options.workload.includes(name));
const WARM_UP_MS = 2000;
const HEAP_MS = 1000;
const TIMER_REQUESTS = 100_000;
const TIMEOUT_MS = 10_000;
/** Hundreds of thousands of names lie below one path when all is done. */
const LISTING_BYTES_MAX = 64 * 1024 * 1024;

const root = `/compare-clients-${process.pid}`;
const memory = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();
const folder = mkdtempSync(join(memory, "compare-clients-"));
const own = options.server === undefined ? new ServerProcess({ kind: "zooid", folder }) : undefined;
const clients: ClientProcess[] = [];

try {
  await own?.start();
  await compare(options.server ?? `127.0.0.1:${own?.port}`);
} finally {
  await own?.kill();
  rmSync(folder, { recursive: true, force: true });
}

async function compare(server: string): Promise<void> {
  await using cleaner = await connect(server, { frameBytesMax: LISTING_BYTES_MAX });
  await cleaner.create(root);
  try {
    for (const name of CLIENT_NAMES) await start(name, server);
    const figures = new Map<string, Figures>();
    for (const workload of workloads) {
      for (const client of clients) await client.measure(workload, WARM_UP_MS);
      const results = new Map<ClientName, LoopResult[]>(clients.map(({ name }) => [name, []]));
      for (let round = 0; round < rounds; round++) {
        for (const client of clients) results.get(client.name)?.push(await client.measure(workload, roundMs));
      }
      for (const client of clients) {
        const heapBytes = await client.heapBytes(workload, HEAP_MS);
        figures.set(`${workload.name} ${client.name}`, figuresOf(results.get(client.name) ?? [], heapBytes));
      }
    }
    printTable(figures);
    await printTimers();
    printRatios(figures);
    for (const client of clients) await client.close();
  } finally {
    // A server of ours goes with all that it holds.
    if (own === undefined) await deleteBelow(cleaner, root);
  }
}

/** A client that cannot be had here is left out, and said why. */
async function start(name: ClientName, server: string): Promise<void> {
  let installed = "";
  try {
    if (name !== "zooid") installed = await foreignClient(name);
  } catch (error) {
    console.error(`${name} ${name === "zooid" ? "" : FOREIGN_VERSIONS[name]} cannot be installed: ${error}`);
    return;
  }
  clients.push(await ClientProcess.start(name, { server, root: `${root}/${name}`, folder: installed }));
}

/** Medians over the rounds. */
interface Figures {
  readonly perSecond: number;
  readonly p50Us: number;
  readonly p99Us: number;
  /** CPU of the client's process, for 100 000 operations. */
  readonly cpuSeconds: number;
  readonly heapBytes: number;
}

function figuresOf(results: readonly LoopResult[], heapBytes: number): Figures {
  return {
    perSecond: median(results.map(({ count, seconds }) => count / seconds)),
    p50Us: median(results.map(({ p50Us }) => p50Us)),
    p99Us: median(results.map(({ p99Us }) => p99Us)),
    cpuSeconds: median(results.map(({ cpuSeconds, count }) => (cpuSeconds / count) * 100_000)),
    heapBytes,
  };
}

function printTable(figures: ReadonlyMap<string, Figures>): void {
  const rows = workloads.flatMap((workload) =>
    clients.map(({ name }) => {
      const of = figures.get(`${workload.name} ${name}`);
      return {
        workload: workload.name,
        client: name,
        "per second": Math.round(of?.perSecond ?? 0),
        "p50 µs": Math.round(of?.p50Us ?? 0),
        "p99 µs": Math.round(of?.p99Us ?? 0),
        "CPU s / 100 000": Number(of?.cpuSeconds.toFixed(2)),
        "heap bytes": Math.round(of?.heapBytes ?? 0),
        "ours / theirs": ratio(figures, workload.name, name),
      };
    }),
  );
  console.log(`${rounds} rounds of ${options.seconds} s in turn, medians; Node.js ${process.versions.node}`);
  console.table(rows);
}

/** Requests must not need a timer each: one is created for each, or none. */
async function printTimers(): Promise<void> {
  const counts: string[] = [];
  for (const client of clients) {
    for (const timeoutMs of [undefined, TIMEOUT_MS]) {
      const count = await client.timers(TIMER_REQUESTS, timeoutMs);
      if (count === undefined) continue;
      counts.push(`${client.name}${timeoutMs === undefined ? "" : " with timeoutMs"} ${count}`);
      if (client.name === "zooid" && count > TIMER_REQUESTS / 1000) process.exitCode = 1;
    }
  }
  console.log(`timers made by ${TIMER_REQUESTS} pipelined getData: ${counts.join(", ")}`);
}

/** The comparison that counts: many requests under way on one connection. */
function printRatios(figures: ReadonlyMap<string, Figures>): void {
  const workload = "getData-256";
  const others = clients.filter(({ name }) => name !== "zooid");
  console.log(`ratios: ${workload} ${others.map(({ name }) => `${name} ${ratio(figures, workload, name)}`).join(" ")}`);
}

/** Our throughput in units of another client's. */
function ratio(figures: ReadonlyMap<string, Figures>, workload: string, other: ClientName): number {
  const ours = figures.get(`${workload} zooid`)?.perSecond ?? Number.NaN;
  const theirs = figures.get(`${workload} ${other}`)?.perSecond ?? Number.NaN;
  return Number((ours / theirs).toFixed(1));
}

async function deleteBelow(client: Client, path: string): Promise<void> {
  const { names } = await client.children(path);
  // As many at a time as the client queues without complaint.
  for (let i = 0; i < names.length; i += 1000) {
    await Promise.all(names.slice(i, i + 1000).map((name) => deleteBelow(client, `${path}/${name}`)));
  }
  await client.delete(path);
}
