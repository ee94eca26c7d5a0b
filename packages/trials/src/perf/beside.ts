/**
 * Zooid beside Apache ZooKeeper and etcd: all three up at once with their defaults, warmed up, then
 * each load on each of them in turn. Prints a table of the medians. Values of 1 KiB, 1,000 nodes or
 * keys.
 *
 *     npm run tool -- perf-beside [--servers 1] [--rounds 3] [--seconds 4] [--warmup 15] [--data DIR]
 *
 * A read is answered by the server that is asked, which etcd calls serializable. etcd's load is its
 * own Go client's (`etcd/load.go`), the others' is zooid-bench's. It needs Java, Maven and Go.
 */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { decimal, toolOptions } from "@zooid/conformance/internal/tool-options";
import { printHead, printRow } from "../figures/markdown-table.ts";
import { median } from "../figures/quantiles.ts";
import { PerfEnsemble } from "./ensemble.ts";
import { buildEtcd, EtcdEnsemble } from "./etcd-ensemble.ts";
import { runBench } from "./run-bench.ts";

const values = toolOptions({ servers: 1, rounds: 3, seconds: decimal(4), warmup: decimal(15), data: tmpdir() });

interface Load {
  readonly name: string;
  readonly isRead: boolean;
  readonly connections: number;
  readonly window: number;
}

interface Measured {
  readonly perSecond: number;
  readonly p99Micros: number;
}

/** One service under comparison. */
interface Side {
  readonly name: string;
  measure(load: Load, seconds: number): Promise<Measured>;
}

const LOADS: readonly Load[] = [true, false].flatMap((isRead) =>
  [
    { connections: 16, window: 1 },
    { connections: 64, window: 16 },
  ].map((shape) => ({
    name: `${isRead ? "read" : "write"} ${shape.connections} × ${shape.window}`,
    isRead,
    ...shape,
  })),
);

await main();

async function main(): Promise<void> {
  const size = values.servers;
  const folder = (name: string): string => mkdtempSync(join(values.data, `beside-${name}-`));
  const version = await buildEtcd();
  await using zooid = await PerfEnsemble.start({ kind: "zooid", voters: size, folder: folder("zooid") });
  await using apache = await PerfEnsemble.start({ kind: "apache", voters: size, folder: folder("apache") });
  await using etcd = await EtcdEnsemble.start(folder("etcd"), size);
  const sides = [benched("Apache", apache), loaded(`etcd ${version}`, etcd), benched("Zooid", zooid)];
  for (const side of sides) for (const load of LOADS) await side.measure(load, values.warmup / LOADS.length);
  const [first, second, own] = sides.map(({ name }) => name);
  console.log(`${size === 1 ? "one server" : `${size} servers`} each, medians of ${values.rounds} rounds\n`);
  const rates = [first, second, own].map((name) => `${name}/s`);
  printHead("load", ...rates, `to ${first}`, `to ${second}`, `p99: ${first}, ${second}, ${own}`);
  for (const load of LOADS) {
    const [a, b, c] = await inTurn(sides, load);
    if (a === undefined || b === undefined || c === undefined) throw new Error("three sides are compared");
    const rates = [a, b, c].map(({ perSecond }) => Math.round(perSecond).toLocaleString("en").replaceAll(",", " "));
    const ratios = [a, b].map((other) => (c.perSecond / other.perSecond).toFixed(2));
    const late = [a, b, c].map(({ p99Micros }) => `${(p99Micros / 1000).toFixed(1)}`).join(", ");
    printRow(load.name, ...rates, ...ratios, `${late} ms`);
  }
}

/** The medians of each side's rounds. */
async function inTurn(sides: readonly Side[], load: Load): Promise<readonly Measured[]> {
  const rounds: Measured[][] = sides.map(() => []);
  for (let round = 0; round < values.rounds; round++)
    for (const [i, side] of sides.entries()) rounds[i]?.push(await side.measure(load, values.seconds));
  return rounds.map((measured) => ({
    perSecond: median(measured.map(({ perSecond }) => perSecond)),
    p99Micros: median(measured.map(({ p99Micros }) => p99Micros)),
  }));
}

function benched(name: string, ensemble: PerfEnsemble): Side {
  return {
    name,
    async measure({ isRead, connections, window }, seconds) {
      const { points } = await runBench(
        ...["--hosts", ensemble.hosts, "read-ratio", "--ratio", isRead ? "100" : "0"],
        ...["--connections", String(connections), "--in-flight", String(window)],
        ...["--duration", `${seconds * 1000}ms`, "--warmup", "0"],
      );
      const [point] = points;
      const latency = point?.latencies[isRead ? "read" : "write"];
      if (point === undefined || latency === undefined) throw new Error(`${name} was not measured`);
      return { perSecond: point.value.median, p99Micros: latency.p99 };
    },
  };
}

function loaded(name: string, etcd: EtcdEnsemble): Side {
  return {
    name,
    async measure({ isRead, connections, window }, seconds) {
      const kind = isRead ? "get-serializable" : "put";
      const { requestsPerSecond, p99Micros } = await etcd.measure({ kind, connections, window, seconds });
      return { perSecond: requestsPerSecond, p99Micros };
    },
  };
}
