import { mkdtempSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import type { LogHandler } from "../src/log/txn-log.ts";
import { openStore, type Store } from "../src/sqlite.ts";
import { createNodes } from "../src/testing/state-history.ts";

/**
 * The cost of moving a whole state: read at the sender, built at the receiver, both in one process,
 * while the sender appends. `node --conditions=@zooid/source bench/snapshot.bench.ts [directory]
 * [nodes]`
 * `node --conditions=@zooid/source bench/snapshot.bench.ts [directory] [nodes]`
 */
const NODES = Number(process.argv[3] ?? 1_000_000);
const DATA_BYTES = 100;
/** Chunks in transit between the two. */
const WINDOW = 8;

const directory = mkdtempSync(join(process.argv[2] ?? "/dev/shm", "zooid-snapshot-"));
let worstAppendMs = 0;
let appendedCount = 0;
let askedMs = 0;
const handler: LogHandler = {
  appended: () => {
    worstAppendMs = Math.max(worstAppendMs, performance.now() - askedMs);
    appendedCount++;
  },
  roomChanged: (missing) => console.error(missing ?? "room again"),
  failed: (error) => {
    throw error;
  },
  warned: (text) => console.error(text),
};
try {
  await run();
} finally {
  rmSync(directory, { recursive: true });
}

async function run(): Promise<void> {
  const open = (name: string): Promise<Store> => openStore({ directory: join(directory, name), sid: 1, handler });
  await using leader = await open("leader");
  await createNodes(leader, 1, NODES, DATA_BYTES);
  await leader.state.flush();
  const bytes = statSync(join(directory, "leader", "state-1.db")).size;
  console.log(`${NODES} nodes, ${mib(bytes)} MiB state file; ${mib(process.memoryUsage.rss())} MiB resident`);
  await measured("opened and closed", async () => {
    await using _source = await leader.openSnapshot();
  });
  await measured("read", async () => {
    await using source = await leader.openSnapshot();
    while ((await source.next()) !== undefined);
  });
  let next = NODES + 1;
  let isSending = false;
  const appends = async (): Promise<void> => {
    for (; isSending; next++) {
      askedMs = performance.now();
      await createNodes(leader, next, next, DATA_BYTES);
    }
  };
  await using learner = await open("learner");
  const withAppends = async (what: string, act: () => Promise<void>): Promise<void> => {
    appendedCount = 0;
    worstAppendMs = 0;
    isSending = true;
    await measured(what, async () => {
      const appending = appends();
      await act();
      isSending = false;
      await appending;
    });
    console.log(`  ${appendedCount} appends one at a time, the slowest ${worstAppendMs.toFixed(1)} ms`);
  };
  await withAppends("nothing but appends", () => new Promise((resolve) => setTimeout(resolve, 2000)));
  await withAppends("read beside appends", async () => {
    await using source = await leader.openSnapshot();
    while ((await source.next()) !== undefined);
  });
  await measured("read and built", async () => {
    await using source = await leader.openSnapshot();
    const receiver = await learner.receiveSnapshot(source.position, source.epochs);
    const stored: Promise<void>[] = [];
    for (let chunk = await source.next(); chunk !== undefined; chunk = await source.next()) {
      stored.push(receiver.add(chunk));
      if (stored.length >= WINDOW) await stored.shift();
    }
    const startMs = performance.now();
    const { stateFile } = await receiver.finish();
    console.log(
      `  finished in ${Math.round(performance.now() - startMs)} ms: ${mib(statSync(join(directory, "learner", stateFile)).size)} MiB`,
    );
    await receiver.abandon();
  });
}

async function measured(what: string, act: () => Promise<void>): Promise<void> {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  let residentMax = 0;
  const timer = setInterval(() => {
    residentMax = Math.max(residentMax, process.memoryUsage.rss());
  }, 20);
  const before = process.memoryUsage.rss();
  delay.enable();
  const cpu = process.threadCpuUsage();
  const startMs = performance.now();
  await act();
  const tookMs = performance.now() - startMs;
  const { user, system } = process.threadCpuUsage(cpu);
  delay.disable();
  clearInterval(timer);
  const stall = `loop delay p99 ${(delay.percentile(99) / 1e6).toFixed(1)}, worst ${(delay.max / 1e6).toFixed(1)} ms`;
  const main = `${Math.round((user + system) / 1000)} ms of this thread`;
  console.log(`${what}: ${Math.round(tookMs)} ms, ${main}; ${stall}; ${mib(residentMax - before)} MiB more at most`);
}

function mib(bytes: number): number {
  return Math.round(bytes / 1024 / 1024);
}
