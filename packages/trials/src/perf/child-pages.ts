/**
 * Lists a node with a million children in pages, with their Stats, while a thousand of them change,
 * and measures the pages at the server and the pings of another session.
 *
 *     npm run tool -- perf-child-pages [--children 1000000] [--changing 1000]
 *
 * The server, the session that pings and the session that lists each have a thread. It fails where
 * a name that was there all the time is missing or comes twice, or where a limit is exceeded: 5 ms
 * of the server's loop for a page, 10 s in all for a million, 20 ms for the 99th percentile of the
 * pings.
 */
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { type Client, connect } from "@zooid/client";
import { toolOptions } from "@zooid/conformance/internal/tool-options";
import { startServer } from "@zooid/embedded-server";
import { ChildPages } from "@zooid/replica/internal/reads/child-pages";
import { quantiles } from "../figures/quantiles.ts";

const PAGE_MS_MAX = 5;
const MILLION_MS_MAX = 10_000;
const PING_P99_MS_MAX = 20;
const PATH = "/many";
const BATCH = 1_000;
const CHANGES_AT_ONCE = 8;

interface Measured {
  readonly ms: readonly number[];
  /** Time of the processor, which other processes do not lengthen. */
  readonly cpuMs?: readonly number[];
}

type Role = { readonly role: "server" } | { readonly role: "pings"; readonly hosts: string };

if (isMainThread) await main();
else if ((workerData as Role).role === "server") await serve();
else await ping((workerData as Extract<Role, { role: "pings" }>).hosts);

async function main(): Promise<void> {
  const { children: count, changing } = toolOptions({ children: 1_000_000, changing: 1000 });
  const server = new Worker(new URL(import.meta.url), { workerData: { role: "server" } });
  const hosts = await next<string>(server);
  const [zk, other] = [await connect(hosts), await connect(hosts)];
  const createMs = await timed(() => createChildren(zk, count));
  console.log(`${count} children created in ${(createMs / 1000).toFixed(1)} s`);

  const pings = new Worker(new URL(import.meta.url), { workerData: { role: "pings", hosts } });
  await next(pings);
  const idle = await ask<Measured>(pings, "idle");
  // Warms up, and shows the pings beside nothing.
  for await (const _ of zk.childPages(PATH, { after: nameOf(Math.floor(count * 0.98)) }));
  await ask<Measured>(server, "take");
  await ask(pings, "begin");

  const stop = new AbortController();
  const changes = change(other, { count, changing, signal: stop.signal });
  const times = new Map<string, number>();
  let pageCount = 0;
  const listMs = await timed(async () => {
    for await (const { children } of zk.childPages(PATH)) {
      pageCount++;
      for (const { name, stat } of children) {
        if (stat === null) throw new Error(`${name} has no Stat`);
        times.set(name, (times.get(name) ?? 0) + 1);
      }
    }
  });
  stop.abort();
  const changeCount = await changes;
  const [pages, beside] = [await ask<Measured>(server, "take"), await ask<Measured>(pings, "take")];

  const problems = checkNames(times, { count, changing });
  const pingMs = quantiles(beside.ms);
  console.log(
    `${times.size} names in ${pageCount} pages in ${(listMs / 1000).toFixed(2)} s, ${changeCount} changes meanwhile`,
  );
  const cpuMs = quantiles(pages.cpuMs ?? []);
  console.log(`a page at the server: ${shown(pages.ms)}; of the processor: ${shown(pages.cpuMs ?? [])}`);
  console.log(`pings of another session: ${shown(beside.ms)}; with nothing beside them: ${shown(idle.ms)}`);
  if (cpuMs.max > PAGE_MS_MAX) problems.push(`a page took ${cpuMs.max.toFixed(2)} ms of the loop`);
  if (listMs > (MILLION_MS_MAX * count) / 1_000_000) problems.push(`the listing took ${listMs.toFixed(0)} ms`);
  if (pingMs.p99 > PING_P99_MS_MAX) problems.push(`the pings' 99th percentile is ${pingMs.p99.toFixed(1)} ms`);
  await Promise.all([zk.close(), other.close()]);
  await Promise.all([server.terminate(), pings.terminate()]);
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) process.exitCode = 1;
}

function nameOf(i: number): string {
  // Scattered, so that they are created in another order than they are listed in.
  return `item-${String((i * 7_919) % 1_000_003).padStart(10, "0")}`;
}

async function createChildren(zk: Client, count: number): Promise<void> {
  await zk.create(PATH);
  for (let from = 0; from < count; from += 10 * BATCH) {
    const commits: Promise<unknown>[] = [];
    for (let start = from; start < Math.min(count, from + 10 * BATCH); start += BATCH) {
      const all = zk.transaction();
      for (let i = start; i < Math.min(count, start + BATCH); i++) all.create(`${PATH}/${nameOf(i)}`, "x");
      commits.push(all.commit());
    }
    await Promise.all(commits);
  }
}

/**
 * Every thousandth child is written, deleted and created again, some at a time, round and round.
 */
async function change(
  zk: Client,
  { count, changing, signal }: { readonly count: number; readonly changing: number; readonly signal: AbortSignal },
): Promise<number> {
  const step = Math.floor(count / changing);
  let done = 0;
  const run = async (first: number): Promise<void> => {
    for (let i = first; !signal.aborted; i = (i + CHANGES_AT_ONCE) % changing) {
      const path = `${PATH}/${nameOf(i * step)}`;
      // Pipelined: carried out in this order.
      await Promise.all([zk.set(path, "y"), zk.delete(path), zk.create(path, "z")]);
      done++;
    }
  };
  await Promise.all(Array.from({ length: CHANGES_AT_ONCE }, (_, first) => run(first)));
  return done;
}

function checkNames(
  times: ReadonlyMap<string, number>,
  { count, changing }: { readonly count: number; readonly changing: number },
): string[] {
  const step = Math.floor(count / changing);
  const problems: string[] = [];
  for (let i = 0; i < count; i++) {
    const seen = times.get(nameOf(i)) ?? 0;
    const isChanging = i % step === 0;
    if (seen > 1 || (seen === 0 && !isChanging)) problems.push(`${nameOf(i)} was listed ${seen} times`);
  }
  return problems.slice(0, 10);
}

/** A server in memory, whose pages are timed where they are answered. */
async function serve(): Promise<void> {
  const times: number[] = [];
  const cpuTimes: number[] = [];
  const { answer } = ChildPages.prototype;
  ChildPages.prototype.answer = function timedAnswer(...args): void {
    const startMs = performance.now();
    const cpu = process.threadCpuUsage();
    answer.apply(this, args);
    const { user, system } = process.threadCpuUsage(cpu);
    times.push(performance.now() - startMs);
    cpuTimes.push((user + system) / 1000);
  };
  const server = await startServer({ port: 0, sessionTimeoutMsMax: 120_000 });
  parentPort?.postMessage(server.connectString);
  parentPort?.on("message", () => parentPort?.postMessage({ ms: times.splice(0), cpuMs: cpuTimes.splice(0) }));
}

/** Reads a node every 2 ms, and keeps the times of the answers. */
async function ping(hosts: string): Promise<void> {
  const zk = await connect(hosts);
  let times: number[] = [];
  parentPort?.postMessage("ready");
  parentPort?.on("message", (word: string) => {
    if (word === "idle") setTimeout(() => parentPort?.postMessage({ ms: times.splice(0) }), 2_000);
    else {
      parentPort?.postMessage({ ms: times });
      times = [];
    }
  });
  for (;;) {
    const startMs = performance.now();
    await zk.exists("/");
    times.push(performance.now() - startMs);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

async function timed(work: () => Promise<void>): Promise<number> {
  const startMs = performance.now();
  await work();
  return performance.now() - startMs;
}

function next<T>(worker: Worker): Promise<T> {
  return new Promise((resolve, reject) => {
    worker.once("message", resolve);
    worker.once("error", reject);
  });
}

function ask<T>(worker: Worker, word: string): Promise<T> {
  const answered = next<T>(worker);
  worker.postMessage(word);
  return answered;
}

function shown(ms: readonly number[]): string {
  const { median, p99, max } = quantiles(ms);
  return `median ${median.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms, most ${max.toFixed(2)} ms (${ms.length})`;
}
