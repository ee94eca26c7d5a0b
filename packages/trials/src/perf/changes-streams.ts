/**
 * The price of a thousand streams of changes for the writes beside them, compared with as many
 * plain recursive watches on the same subtrees of the same server.
 *
 *     npm run tool -- perf-changes-streams [--streams 1000] [--subtrees 100] [--rates 2000]
 *       [--seconds 10] [--rounds 3]
 *
 * One server that keeps its history; writes of 100 bytes on a schedule, in turn to one node of each
 * subtree. In each round watches and streams are there in turn, each in a new process with a tenth
 * as many clients, or with as many where there is one subtree. Behind the writes it is waited until
 * each stream has each change. It fails where the median of the rounds' ratios of the 99th
 * percentiles is above 1.5, or a stream is 15 s late, at the first of the rates.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { connect } from "@zooid/client";
import { toolOptions } from "@zooid/conformance/internal/tool-options";
import { printHead, printRow } from "../figures/markdown-table.ts";
import { median, quantiles } from "../figures/quantiles.ts";
import { ROOT, subtreePath, writtenPath } from "./changes-streams-paths.ts";
import { PerfEnsemble } from "./ensemble.ts";
import { OpenLoopWrites } from "./open-loop-writes.ts";

const options = toolOptions({ streams: 1000, subtrees: 100, rates: [2000], seconds: 10, rounds: 3 });
const { streams, subtrees, seconds, rounds } = options;
const PER_CLIENT = Math.min(10, subtrees);
const BYTES = 100;
const RATIO_MAX = 1.5;
const LATE_MS_MAX = 15_000;
/** A change is in the history that long after its write. */
const DEADLINE_MS = 120_000;

type Kind = "watches" | "streams";

interface Measured {
  readonly p50: number;
  readonly p99: number;
  /** From the last write until all was there. */
  readonly lateMs: number;
  /** Processor time of the server's first thread, and of all, for a write. */
  readonly mainMicros: number;
  readonly allMicros: number;
}

await using ensemble = await PerfEnsemble.start({
  kind: "zooid",
  voters: 1,
  folder: mkdtempSync(join(tmpdir(), "changes-streams-")),
  settings: ["zooid.history.retainMs=86400000"],
});
const server = await ensemble.leader();
await makeSubtrees();
const paths = Array.from({ length: subtrees }, (_, i) => writtenPath(i));
await using writes = await OpenLoopWrites.open({ port: server.clientPort, paths, bytes: BYTES });
console.log(`${streams} streams of ${streams / PER_CLIENT} clients on ${subtrees} subtrees\n`);
await writes.run({ rate: options.rates[0] ?? 0, seconds: 5 });
printHead("writes/s", "p50, p99 ms: watches", "streams", "ratio of p99", "server µs a write, main of all", "late");
for (const [i, rate] of options.rates.entries()) {
  const ratios: number[] = [];
  const all: Record<Kind, Measured[]> = { watches: [], streams: [] };
  for (let round = 0; round < rounds; round++) {
    const [plain, stream] = [await measure("watches", rate), await measure("streams", rate)];
    all.watches.push(plain);
    all.streams.push(stream);
    ratios.push(stream.p99 / plain.p99);
  }
  const lateMs = Math.max(...all.streams.map((each) => each.lateMs));
  const shown = (kind: Kind): string =>
    [medianOf(all[kind], "p50"), medianOf(all[kind], "p99")].map((ms) => ms.toFixed(2)).join(", ");
  const micros = (["watches", "streams"] as const).map((kind) =>
    [medianOf(all[kind], "mainMicros"), medianOf(all[kind], "allMicros")].map((each) => each.toFixed(0)).join(" of "),
  );
  const ratio = median(ratios);
  const spread = ratios.map((each) => each.toFixed(2)).join(", ");
  printRow(
    String(rate),
    shown("watches"),
    shown("streams"),
    `${ratio.toFixed(2)} (${spread})`,
    micros.join(", "),
    `${(lateMs / 1000).toFixed(1)} s`,
  );
  if (i === 0 && (ratio > RATIO_MAX || lateMs > LATE_MS_MAX)) process.exitCode = 1;
}

function medianOf(measured: readonly Measured[], field: keyof Measured): number {
  return median(measured.map((each) => each[field]));
}

async function makeSubtrees(): Promise<void> {
  await using client = await connect(ensemble.hosts);
  await client.create(ROOT);
  for (let i = 0; i < subtrees; i++) {
    await client.create(subtreePath(i));
    await client.create(writtenPath(i));
  }
}

async function measure(kind: Kind, rate: number): Promise<Measured> {
  await using client = await connect(ensemble.hosts);
  const { mzxid } = await client.set(ROOT, "");
  const numbers = [streams / PER_CLIENT, PER_CLIENT, subtrees, Number(mzxid)].map(String);
  const child = fork(join(import.meta.dirname, "changes-streams-process.ts"), [ensemble.hosts, kind, ...numbers], {
    execArgv: ["--conditions=@zooid/source"],
  });
  const ended = once(child, "exit");
  await once(child, "message");
  // Streams read once when they begin.
  await delay(2000);
  const begun = { main: server.mainSeconds, all: server.cpuSeconds };
  const latencies = await writes.run({ rate, seconds });
  const micros = (seconds: number): number => (seconds * 1e6) / latencies.length;
  const [mainMicros, allMicros] = [micros(server.mainSeconds - begun.main), micros(server.cpuSeconds - begun.all)];
  const endMs = performance.now();
  // Each write is seen by each stream of its subtree.
  const wanted = (latencies.length * streams) / subtrees;
  for (let count = 0; count < wanted; await delay(50)) {
    if (performance.now() - endMs > DEADLINE_MS) throw new Error(`${count} of ${wanted} changes came`);
    child.send("count");
    const [message] = await once(child, "message");
    ({ count } = message as { readonly count: number });
  }
  const lateMs = performance.now() - endMs;
  child.kill("SIGKILL");
  await ended;
  const { median: p50, p99 } = quantiles(latencies);
  return { p50, p99, lateMs, mainMicros, allMicros };
}
