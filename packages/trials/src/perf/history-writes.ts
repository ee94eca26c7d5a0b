/**
 * The price of a history and its backup for writes: servers without, with a backup to a directory,
 * and with one to an S3 service are up at once, and get the same loads in turn.
 *
 *     npm run tool -- perf-history-writes [--rate 0] [--seconds 10] [--rounds 3] [--nodes 100000]
 *       [--with directory,s3] [--data DIR]
 *
 * Sets of 1 KiB on a schedule: `--rate`, or 60 % of what the server without a history carries. Then
 * the same while a base, a copy of the whole state of `--nodes` nodes of 1 KiB, is taken and
 * uploaded, and a closed loop of 64 connections with 16 writes each. Behind each load it is waited
 * until the backup has everything. Printed are the medians of the rounds, and of the ratios within
 * a round. It fails where the 99th percentile is above 1.25 times that without a history, or above
 * twice that while a base is taken; where a write is not in the history and its backup after 15 s;
 * and where the closed loop has less than 0.9 of the writes. The S3 service needs Go.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { connect } from "@zooid/client";
import { S3Gateway } from "@zooid/conformance/internal/servers/s3-gateway";
import { decimal, someOf, toolOptions } from "@zooid/conformance/internal/tool-options";
import { printHead, printRow } from "../figures/markdown-table.ts";
import { median } from "../figures/quantiles.ts";
import { BackupAdmin } from "../history/backup-admin.ts";
import { PerfEnsemble } from "./ensemble.ts";
import { HistoryLag } from "./history-lag.ts";
import { runBench } from "./run-bench.ts";

const values = toolOptions({
  rate: 0,
  seconds: decimal(10),
  rounds: 3,
  nodes: 100_000,
  with: someOf(["directory", "s3"]),
  data: tmpdir(),
});
const KEY = { accessKeyId: "backup", secretAccessKey: "a-secret-of-a-trial" };
const PAYLOAD = 1024;
const BATCH = 200;
const RATE_SHARE = 0.6;
const RATE_MAX = 20_000;
const BASE_AFTER_MS = 500;
const LIMITS = { p99: 1.25, base: 2, lagMs: 15_000, closed: 0.9 };

interface Side {
  readonly name: string;
  readonly ensemble: PerfEnsemble;
  /** Undefined for the server without a history. */
  readonly backup: { readonly admin: BackupAdmin; readonly lag: HistoryLag } | undefined;
}

interface Measured {
  readonly perSecond: number;
  readonly p99Ms: number;
  readonly lagMs: number;
}

type Load = "open" | "base" | "closed";

const folder = mkdtempSync(join(values.data, "history-writes-"));
const sides: Side[] = [];
let gateway: S3Gateway | undefined;
try {
  await startSides();
  await main();
} finally {
  for (const { ensemble } of sides) await ensemble[Symbol.asyncDispose]();
  await gateway?.kill();
  rmSync(folder, { recursive: true, force: true });
}

async function startSides(): Promise<void> {
  sides.push({ name: "off", ensemble: await startServer("off", []), backup: undefined });
  if (values.with.includes("directory")) {
    const target = join(folder, "target");
    mkdirSync(target);
    sides.push(await startBackedUp("directory", [`zooid.backup.target=${target}`], target));
  }
  if (values.with.includes("s3")) {
    mkdirSync(join(folder, "s3/bucket"), { recursive: true });
    gateway = await S3Gateway.open({ folder: join(folder, "s3"), ...KEY });
    const keyFile = join(folder, "key");
    writeFileSync(keyFile, `accessKeyId=${KEY.accessKeyId}\nsecretAccessKey=${KEY.secretAccessKey}\n`);
    const settings = [
      "zooid.backup.target=s3://bucket/zk",
      `zooid.backup.endpoint=${gateway.endpoint}`,
      `zooid.backup.credentialsFile=${keyFile}`,
    ];
    sides.push(await startBackedUp("s3", settings, join(folder, "s3/bucket/zk")));
  }
}

async function startBackedUp(name: string, target: readonly string[], objects: string): Promise<Side> {
  const admin = await BackupAdmin.atFreePort();
  const ensemble = await startServer(name, ["zooid.history.retainMs=86400000", ...target, ...admin.settings]);
  const [server] = ensemble.servers;
  if (server === undefined) throw new Error("there is a server");
  const lag = new HistoryLag(server.clientPort, [join(server.folder, "data/archive"), objects]);
  return { name, ensemble, backup: { admin, lag } };
}

async function startServer(name: string, settings: readonly string[]): Promise<PerfEnsemble> {
  return await PerfEnsemble.start({ kind: "zooid", voters: 1, folder: join(folder, name), settings });
}

async function main(): Promise<void> {
  for (const side of sides) await fill(side);
  for (const side of sides) await measure(side, "closed", undefined);
  const [off, ...others] = sides;
  if (off === undefined) return;
  const saturated = (await measure(off, "closed", undefined)).perSecond;
  const rate = values.rate > 0 ? values.rate : Math.min(RATE_MAX, Math.round(RATE_SHARE * saturated));
  console.log(`${Math.round(saturated)} writes/s at saturation, ${rate} writes/s in the open loop\n`);
  printHead("load", "side", "writes/s", "p99 ms", "to off", "each round", "lag of history and backup");
  for (const load of ["open", "base", "closed"] as const) {
    const rounds: Measured[][] = [];
    for (let round = 0; round < values.rounds; round++) {
      const measured: Measured[] = [];
      // A base is compared with the load alone.
      for (const side of sides)
        measured.push(await measure(side, side === off && load === "base" ? "open" : load, rate));
      rounds.push(measured);
    }
    report(load, off, rounds, 0);
    for (const [i, side] of others.entries()) report(load, side, rounds, i + 1);
  }
}

function report(load: Load, side: Side, rounds: readonly (readonly Measured[])[], place: number): void {
  const of = (field: keyof Measured, at = place): readonly number[] => rounds.map((round) => round[at]?.[field] ?? 0);
  const field = load === "closed" ? "perSecond" : "p99Ms";
  const base = of(field, 0);
  const ratios = of(field).map((value, round) => value / (base[round] ?? 0));
  const lagMs = Math.max(...of("lagMs"));
  const ratio = median(ratios);
  printRow(
    load,
    side.name,
    median(of("perSecond")).toFixed(0),
    median(of("p99Ms")).toFixed(2),
    ratio.toFixed(2),
    ratios.map((each) => each.toFixed(2)).join(", "),
    side.backup === undefined ? "" : `${(lagMs / 1000).toFixed(1)} s`,
  );
  const isMissed = load === "closed" ? ratio < LIMITS.closed : ratio > (load === "base" ? LIMITS.base : LIMITS.p99);
  if (isMissed || (load !== "closed" && lagMs > LIMITS.lagMs)) process.exitCode = 1;
}

async function measure({ ensemble, backup }: Side, load: Load, rate: number | undefined): Promise<Measured> {
  let isOver = false;
  const lags = backup?.lag.watch(() => isOver);
  const loop =
    load === "closed" ? ["--connections", "64", "--in-flight", "16"] : ["--connections", "64", "--rate", String(rate)];
  const running = runBench(
    "--hosts",
    ensemble.hosts,
    "read-ratio",
    "--ratio",
    "0",
    "--payload",
    String(PAYLOAD),
    ...[...loop, "--duration", `${values.seconds}s`, "--warmup", "1"],
  );
  const based = load === "base" ? delay(BASE_AFTER_MS).then(() => backup?.admin.untilComplete()) : undefined;
  const { points } = await running;
  isOver = true;
  const lagMs = Math.max(0, ...((await lags) ?? []));
  await based;
  await backup?.lag.settle();
  const [point] = points;
  const latency = point?.latencies["write"];
  if (point === undefined || latency === undefined) throw new Error("nothing was measured");
  return { perSecond: point.value.median, p99Ms: latency.p99 / 1000, lagMs };
}

/** Nodes that a base has to copy. */
async function fill({ ensemble, backup }: Side): Promise<void> {
  await using client = await connect(ensemble.hosts);
  await client.create("/filled");
  const data = "x".repeat(PAYLOAD);
  for (let made = 0; made < values.nodes; made += BATCH) {
    let transaction = client.transaction();
    for (let i = made; i < made + BATCH; i++) transaction = transaction.create(`/filled/n${i}`, data) as never;
    await transaction.commit();
  }
  await backup?.lag.settle();
}
