import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { ZXID_NONE } from "@zooid/model";
import { quantile } from "@zooid/model/testing/quantile";
import type { LogHandler } from "../src/log/txn-log.ts";
import { openStore, type Store } from "../src/sqlite.ts";
import { batchOf, range, Z } from "../src/testing/append-batches.ts";
import { type PromisedLog, promised } from "../src/testing/promised-log.ts";

/**
 * The cost of a learner's DIFF for the leader, and the small writes of a fail-over. `node
 * --conditions=@zooid/source bench/read.bench.ts [directory]`
 * `node --conditions=@zooid/source bench/read.bench.ts [directory]`
 */
const RUN_BYTES = 256 * 1024;
const TOTAL_BYTES = 128 * 1024 * 1024;
const FAIL_OVERS = 50;

const directory = mkdtempSync(join(process.argv[2] ?? "/dev/shm", "zooid-read-"));
let completed: (() => void) | undefined;
const handler: LogHandler = {
  appended: () => completed?.(),
  roomChanged: (missing) => console.error(missing ?? "room again"),
  failed: (error) => {
    throw error;
  },
  warned: (text) => console.error(text),
};
try {
  for (const recordBytes of [100, 1024]) await reads(recordBytes);
  await failOvers();
} finally {
  rmSync(directory, { recursive: true });
}

async function reads(recordBytes: number): Promise<void> {
  await using store = await open(`reads-${recordBytes}`);
  const log = promised(store.log);
  const record = new Uint8Array(recordBytes).fill(7);
  const records = new Array(1000).fill(record);
  let next = 1;
  for (; next * recordBytes < TOTAL_BYTES; next += 1000) {
    log.append(batchOf(range(next, next + 999), { records }));
    if (next % 16_000 === 1) await log.setConfigs({});
  }
  await log.setConfigs({});
  const end = next - 1;
  console.log(`records of ${recordBytes} bytes`);
  console.log(`  ${await readAll(log, end)}`);
  const alone = await appending(log, next, () => new Promise((resolve) => setTimeout(resolve, 3000)));
  console.log(`  appends alone: ${alone.text}`);
  let reports = "";
  const beside = await appending(log, alone.next, async () => {
    reports = await readAll(log, end);
  });
  console.log(`  appends beside reads: ${beside.text}; ${reports}`);
}

async function readAll(log: PromisedLog, end: number): Promise<string> {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const cpu = process.threadCpuUsage();
  const startMs = performance.now();
  let bytes = 0;
  let count = 0;
  for (let after = ZXID_NONE; after < Z(1, end); ) {
    const run = await log.read(after, RUN_BYTES);
    bytes += run.bytes.length;
    count += run.count;
    after = run.last.zxid;
  }
  const seconds = (performance.now() - startMs) / 1000;
  const { user, system } = process.threadCpuUsage(cpu);
  delay.disable();
  const rate = `${Math.round(bytes / 1024 / 1024 / seconds)} MiB/s, ${Math.round(count / seconds / 1000)} 000 entries/s`;
  return `read ${rate}, ${Math.round((user + system) / 1000)} ms of this thread, loop delay p99 ${(delay.percentile(99) / 1e6).toFixed(1)} ms`;
}

/** Appends batches of 16 entries of 1 KiB, one in flight, until `during` ends. */
async function appending(
  log: PromisedLog,
  from: number,
  during: () => Promise<void>,
): Promise<{ text: string; next: number }> {
  const records = new Array(16).fill(new Uint8Array(1024));
  const took: number[] = [];
  let next = from;
  let isOver = false;
  const appends = (async () => {
    while (!isOver) {
      const { promise, resolve } = Promise.withResolvers<void>();
      completed = resolve;
      const startMs = performance.now();
      log.append(batchOf(range(next, next + 15), { records }));
      next += 16;
      await promise;
      took.push(performance.now() - startMs);
    }
  })();
  await during();
  isOver = true;
  await appends;
  completed = undefined;
  return { text: quantiles(took), next };
}

async function failOvers(): Promise<void> {
  await using store = await open("fail-over");
  const log = promised(store.log);
  const took = new Map<string, number[]>();
  const timed = async (what: string, act: () => Promise<unknown>): Promise<void> => {
    const startMs = performance.now();
    await act();
    const list = took.get(what) ?? [];
    list.push(performance.now() - startMs);
    took.set(what, list);
  };
  log.append(batchOf(range(1, 100)));
  await log.setConfigs({});
  for (let i = 1; i <= FAIL_OVERS; i++) {
    await timed("setPromise", () => log.setPromise({ epoch: 2 * i, sid: 1, incarnation: 1 }));
    await timed("setCurrentEpoch", () => log.setCurrentEpoch(2 * i));
    await log.setPromise({ epoch: 2 * i + 1, sid: 1, incarnation: 1 });
    const { tail } = log.durable;
    await timed("beginStage", () => log.beginStage(tail));
    await timed("flip of nothing", () =>
      log.installHistory({ epoch: 2 * i + 1, tail: tail.zxid, committed: ZXID_NONE }),
    );
    await log.beginStage(tail);
    const { bytes, end } = batchOf([Z(2 * i + 1, 1)]);
    await timed("stage", () => log.stage(bytes, 0, end));
    await timed("flip of one entry", () =>
      log.installHistory({ epoch: 2 * i + 1, tail: Z(2 * i + 1, 1), committed: ZXID_NONE }),
    );
    await timed("cut", () => log.cut(tail.zxid));
    await log.beginStage(tail);
    await log.stage(bytes, 0, end);
    await timed("dropStage", () => log.dropStage());
  }
  for (const [what, times] of took) console.log(`${what}: ${quantiles(times)}`);
}

function open(name: string): Promise<Store> {
  return openStore({ directory: join(directory, name), sid: 1, handler });
}

function quantiles(times: number[]): string {
  times.sort((a, b) => a - b);
  const at = (share: number): string => quantile(times, share).toFixed(2);
  return `${times.length} times, median ${at(0.5)}, p99 ${at(0.99)}, worst ${at(1)} ms`;
}
