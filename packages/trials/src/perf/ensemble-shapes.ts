import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { ROOT } from "@zooid/conformance/internal/servers/endpoint";
import { decimal, someOf, toolOptions } from "@zooid/conformance/internal/tool-options";
import { type ChartLine, chartSvg } from "zooid-bench/internal/results/chart-svg";
import type { ComparedPoint } from "zooid-bench/internal/results/comparison";
import { timelineChart } from "zooid-bench/internal/results/result-chart";
import { effectsOf } from "zooid-bench/internal/results/timeline";
import { printHead, printRow } from "../figures/markdown-table.ts";
import { median } from "../figures/quantiles.ts";
import { hostsOf, type Kind, PerfEnsemble } from "./ensemble.ts";
import { compareBench, runBench } from "./run-bench.ts";

/**
 * The shapes of the field's own figures for ensembles, with Apache's server beside ours: throughput
 * by share of reads and number of servers; reads by number of servers and observers, each bounded
 * to the same small share of a core; writes at the leader and at followers; the load while servers
 * go and come back; what an idle ensemble takes. Prints tables and draws into `--images`.
 *
 * `--only ratio,reads,paper,observers,write-at,timeline,idle --data DIR --images DIR --short
 * --servers 3,5,7 --turn 8 --rounds 9 --kinds zooid,apache`
 */
const SECTIONS: Readonly<Record<string, () => Promise<void>>> = {
  ratio: byRatio,
  reads: byReaders,
  paper: onPaper,
  observers: byObservers,
  "write-at": writesAt,
  timeline: throughLosses,
  idle,
};
const KINDS = ["zooid", "apache"] as const;
const values = toolOptions({
  only: someOf(Object.keys(SECTIONS)),
  data: tmpdir(),
  images: join(ROOT, "docs/images"),
  servers: [3, 5, 7],
  repeats: 3,
  /** Share of a core that each server has where it is bounded. */
  share: decimal(0.1),
  rate: 8000,
  /**
   * Seconds of a turn of `observers`; in a minute the state thread's work, which comes in lots,
   * evens out.
   */
  turn: decimal(8),
  /** Turns of each ensemble of `observers`. */
  rounds: 9,
  /** Whose servers `observers` compares. */
  kinds: someOf(KINDS),
  short: false,
});
const IS_SHORT = values.short;
const { servers: SIZES } = values;
const SHARE = values.share;
const NAMES: Readonly<Record<Kind, string>> = { zooid: "Zooid", apache: "Apache" };
const POINT = IS_SHORT ? ["--duration", "500ms", "--warmup", "200ms"] : ["--duration", "2500ms", "--warmup", "500ms"];
const REPEATS = ["--repeats", IS_SHORT ? "1" : String(values.repeats)];
const WARM_UP = ["--duration", IS_SHORT ? "1s" : "8s", "--warmup", "0", "--ratio", "50"];
const IDLE_MS = IS_SHORT ? 2000 : 60_000;
const OBSERVERS = IS_SHORT
  ? { rounds: 1, warmUp: ["--duration", "1s", "--warmup", "0"], point: POINT }
  : {
      rounds: values.rounds,
      warmUp: ["--duration", "15s", "--warmup", "0"],
      point: ["--duration", `${values.turn}s`, "--warmup", "500ms"],
    };
/** About the requests that one server gets in the other tables, however many servers share them. */
const CONNECTIONS = 16;

async function started(
  kind: Kind,
  size: { voters: number; observers?: number; hasMasters?: boolean; isBounded?: boolean },
): Promise<PerfEnsemble> {
  const folder = mkdtempSync(join(values.data, `shapes-${kind}-`));
  const ensemble = await PerfEnsemble.start({ kind, folder, ...size });
  await runBench("--hosts", ensemble.hosts, "read-ratio", ...WARM_UP);
  return ensemble;
}

async function byRatio(): Promise<void> {
  const lines: ChartLine[] = [];
  table("share of reads | servers", "Zooid /s", "Apache /s", "ratio", "p99 ms: Zooid, Apache");
  for (const [i, servers] of SIZES.entries()) {
    await using zooid = await started("zooid", { voters: servers });
    await using apache = await started("apache", { voters: servers });
    const { points } = await compare(zooid.hosts, apache.hosts, "read-ratio", ...connections(servers));
    for (const one of points) printRow(`${one.point} | ${servers}`, ...compared(one));
    for (const [kind, side] of [
      ["zooid", "a"],
      ["apache", "b"],
    ] as const) {
      lines.push({
        name: `${NAMES[kind]} ${servers}`,
        colour: i,
        isDashed: kind === "apache",
        points: points.map((sides) => ({ x: sides.a.x, y: sides[side].value.median })),
      });
    }
  }
  draw("ensemble-read-ratio.svg", "Throughput by share of reads and number of servers", "reads, %", lines);
}

/** Reads at every server, each of which has the same small share of a core. */
async function byReaders(): Promise<void> {
  const sizes = [
    ...[1, ...SIZES].map((voters) => ({ voters, observers: 0 })),
    ...SIZES.slice(0, 2).map((voters) => ({ voters, observers: 2 })),
  ];
  const found = new Map<Kind, readonly number[]>();
  for (const kind of KINDS) {
    const rates: number[] = [];
    for (const size of sizes) {
      await using ensemble = await started(kind, { ...size, isBounded: true });
      for (const server of ensemble.servers) server.bound(SHARE);
      const flags = ["--ratio", "100", ...connectionsFor(ensemble.servers.length), ...POINT, ...REPEATS];
      const { points } = await runBench("--hosts", ensemble.hosts, "read-ratio", ...flags);
      rates.push(points[0]?.value.median ?? 0);
      for (const server of ensemble.servers) server.bound(undefined);
    }
    found.set(kind, rates);
  }
  table("servers", ...KINDS.flatMap((kind) => [`${NAMES[kind]} reads/s`, "times one server", "of linear"]));
  for (const [i, { voters, observers }] of sizes.entries()) {
    const cells = KINDS.flatMap((kind) => {
      const rate = found.get(kind)?.[i] ?? 0;
      const times = rate / (found.get(kind)?.[0] ?? 1);
      return [whole(rate), times.toFixed(2), (times / (voters + observers)).toFixed(2)];
    });
    printRow(observers === 0 ? String(voters) : `${voters} and ${observers} observers`, ...cells);
  }
  const lines = KINDS.map((kind, colour) => ({
    name: NAMES[kind],
    colour,
    isDashed: kind === "apache",
    points: sizes.flatMap(({ voters, observers }, i) =>
      observers === 0 ? [{ x: voters, y: found.get(kind)?.[i] ?? 0 }] : [],
    ),
  }));
  draw("ensemble-reads.svg", `Reads by number of servers, each with ${SHARE * 100} % of a core`, "servers", lines);
}

/**
 * The same on paper, from the CPU that requests took, which a busy machine changes less than it
 * changes throughput: how many reads a number of servers would do if each had a core of its own,
 * and what the leader, whose core bounds writes, spends on one.
 */
async function onPaper(): Promise<void> {
  table(
    "servers",
    ...KINDS.flatMap((kind) => [
      `${NAMES[kind]}: CPU µs a read`,
      "reads, of linear",
      "leader's CPU µs a write",
      "of which main thread",
    ]),
  );
  const first = new Map<Kind, number>();
  const sizes = [
    { voters: 1, observers: 0 },
    ...SIZES.flatMap((voters) => [0, 2].map((observers) => ({ voters, observers }))),
  ];
  for (const { voters, observers } of sizes) {
    const cells: string[] = [];
    for (const kind of KINDS) {
      await using ensemble = await started(kind, { voters, observers });
      const run = ["--warmup", "0", "--nodes", "100", "--duration", IS_SHORT ? "500ms" : "4s"];
      const before = cpuOf(ensemble);
      const reads = await runBench(
        ...["--hosts", ensemble.hosts, "read-ratio", "--ratio", "100", ...connections(ensemble.servers.length), ...run],
      );
      const readUs = ((cpuOf(ensemble) - before) / (reads.points[0]?.requests ?? 1)) * 1e6;
      first.set(kind, first.get(kind) ?? readUs);
      const leader = await ensemble.leader();
      const cpu = leader.cpuSeconds;
      const main = leader.mainSeconds;
      const from = await leader.transactions();
      await runBench("--hosts", hostsOf(ensemble.voters), "read-ratio", "--ratio", "0", ...connections(voters), ...run);
      const writes = (await leader.transactions()) - from;
      const eachUs = (seconds: number): string => ((seconds / writes) * 1e6).toFixed(1);
      // Of Apache's server the first thread only starts the others.
      const ofMain = kind === "zooid" ? eachUs(leader.mainSeconds - main) : "";
      cells.push(
        readUs.toFixed(2),
        ((first.get(kind) ?? 0) / readUs).toFixed(2),
        eachUs(leader.cpuSeconds - cpu),
        ofMain,
      );
    }
    printRow(observers === 0 ? String(voters) : `${voters} and ${observers} observers`, ...cells);
  }
}

/**
 * Writes at the voters of three, of three with two observers at the leader, and of three with two
 * observers by followers, in turn; each server with the same small share of a core. Before each
 * turn the servers finish, unbounded, what earlier ones left for later (ours checkpoints its log
 * into the state file in idle moments): otherwise a server that did more before would pay for it
 * now.
 */
async function byObservers(): Promise<void> {
  const ways = ["none", "two at the leader", "two by followers"] as const;
  table("writes at three voters | observers", "/s", "of none: median (spread)", "leader's CPU µs a write");
  for (const kind of values.kinds) {
    await using none = await started(kind, { voters: 3, isBounded: true });
    await using direct = await started(kind, { voters: 3, observers: 2, isBounded: true });
    await using byFollowers = await started(kind, { voters: 3, observers: 2, hasMasters: true, isBounded: true });
    const ensembles = [none, direct, byFollowers];
    for (const size of ["100", "1024"]) {
      const load = ["--ratio", "0", "--payload", size, ...connections(3)];
      for (const one of ensembles)
        await runBench("--hosts", hostsOf(one.voters), "read-ratio", ...load, ...OBSERVERS.warmUp);
      const turns: (readonly BoundedWrites[])[] = [];
      for (let i = 0; i < OBSERVERS.rounds; i++) {
        const turn: BoundedWrites[] = [];
        // Another goes first each time.
        for (const at of [0, 1, 2].map((place) => (i + place) % 3)) {
          const one = ensembles[at];
          if (one !== undefined) turn[at] = await boundedWrites(one, load);
        }
        turns.push(turn);
      }
      for (const [at, way] of ways.entries()) {
        const rates = turns.map((turn) => turn[at]?.rate ?? 0);
        const ratios = turns.map((turn) => (turn[at]?.rate ?? 0) / (turn[0]?.rate ?? 0));
        printRow(
          `${NAMES[kind]}, ${size} bytes | ${way}`,
          whole(median(rates)),
          at === 0
            ? ""
            : `${median(ratios).toFixed(2)} (${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)})`,
          median(turns.map((turn) => turn[at]?.leaderUs ?? 0)).toFixed(1),
        );
      }
    }
  }
}

interface BoundedWrites {
  readonly rate: number;
  /** CPU of all the leader's threads for each write. */
  readonly leaderUs: number;
}

async function boundedWrites(ensemble: PerfEnsemble, load: readonly string[]): Promise<BoundedWrites> {
  await untilIdle(ensemble);
  const leader = await ensemble.leader();
  for (const server of ensemble.servers) server.bound(SHARE);
  const cpu = leader.cpuSeconds;
  const from = await leader.transactions();
  const { points } = await runBench("--hosts", hostsOf(ensemble.voters), "read-ratio", ...load, ...OBSERVERS.point);
  const leaderUs = ((leader.cpuSeconds - cpu) / ((await leader.transactions()) - from)) * 1e6;
  for (const server of ensemble.servers) server.bound(undefined);
  return { rate: points[0]?.value.median ?? 0, leaderUs };
}

/** Until the servers together take less than a twentieth of a core. */
async function untilIdle(ensemble: PerfEnsemble): Promise<void> {
  for (;;) {
    const before = cpuOf(ensemble);
    await delay(1000);
    if (cpuOf(ensemble) - before < 0.05) return;
  }
}

async function writesAt(): Promise<void> {
  table("servers | sets", "Zooid /s", "Apache /s", "ratio", "p99 ms: Zooid, Apache");
  for (const servers of SIZES.slice(0, 2)) {
    await using zooid = await started("zooid", { voters: servers });
    await using apache = await started("apache", { voters: servers });
    for (const [load, flags] of [
      ["16 × 64", connections(1)],
      ["16 × 1", ["--connections", "16", "--in-flight", "1"]],
    ] as const) {
      const { points } = await compare(zooid.hosts, apache.hosts, "write-at", ...flags);
      for (const point of points) printRow(`${servers} | ${point.point}, ${load}`, ...compared(point));
    }
  }
}

/** A follower is lost and comes back, then the leader. */
async function throughLosses(): Promise<void> {
  // Long enough for a Java server to be back before the next one goes.
  const step = IS_SHORT ? 1 : 10;
  const labels = ["follower lost", "follower back", "leader lost", "leader back"] as const;
  const kinds = ["read", "write"] as const;
  table("", ...labels.flatMap((label) => kinds.map((kind) => `${label}: ${kind}s still, back, ms`)), "failed");
  for (const kind of KINDS) {
    await using ensemble = await started(kind, { voters: 3 });
    const leader = await ensemble.leader();
    const follower = ensemble.servers.find(({ sid }) => sid !== leader.sid);
    if (follower === undefined) throw new Error("there is no follower");
    const commands = [follower.killCommand, follower.startCommand, leader.killCommand, leader.startCommand];
    const events = labels.flatMap((label, i) => ["--event", `${(i + 1) * step}s ${label}=${commands[i]}`]);
    const result = await runBench(
      ...[
        "--hosts",
        ensemble.hosts,
        "timeline",
        "--rate",
        String(values.rate),
        "--connections",
        "15",
        "--max-errors",
        "100",
      ],
      // A client that is neither answered nor refused tries the next server after a third of it, as
      // Java's client does.
      ...["--session-timeout", "6s"],
      ...["--duration", `${(labels.length + 1) * step}s`, "--warmup", IS_SHORT ? "500ms" : "3s", ...events],
    );
    const [point] = result.points;
    const [timeline] = point?.timelines ?? [];
    if (point === undefined || timeline === undefined) throw new Error("there is no timeline");
    const effects = kinds.map((one) => effectsOf(timeline, one));
    const cells = labels.flatMap((_, i) =>
      effects.map((of) => `${of[i]?.stillMs ?? "?"}, ${of[i]?.backMs === undefined ? "not" : whole(of[i].backMs)}`),
    );
    printRow(
      NAMES[kind],
      ...cells,
      `${
        Object.entries(point.errors)
          .map(([code, count]) => `${count} ${code}`)
          .join(", ") || "none"
      }`,
    );
    const title = `${NAMES[kind]}, three servers, ${values.rate} requests/s`;
    save(
      `ensemble-timeline-${kind}.svg`,
      timelineChart({ name: "timeline", axis: { label: "s", scale: "linear" } }, timeline, title),
    );
  }
}

async function idle(): Promise<void> {
  table("three idle servers", "resident MiB each", "CPU together, % of a core");
  for (const kind of KINDS) {
    const folder = mkdtempSync(join(values.data, `shapes-${kind}-`));
    await using ensemble = await PerfEnsemble.start({ kind, folder, voters: 3 });
    // What starting took is not what being idle takes.
    await delay(IDLE_MS / 6);
    const before = cpuOf(ensemble);
    const startMs = performance.now();
    await delay(IDLE_MS);
    const share = (cpuOf(ensemble) - before) / ((performance.now() - startMs) / 1000);
    printRow(
      NAMES[kind],
      ensemble.servers.map(({ residentMib }) => whole(residentMib)).join(", "),
      (share * 100).toFixed(2),
    );
  }
}

function compare(
  a: string,
  b: string,
  ...args: readonly string[]
): Promise<{ readonly points: readonly ComparedPoint[] }> {
  const ratios = args.includes("--ratio") || args.includes("write-at") ? [] : ["--ratio", "0,50,90,100"];
  return compareBench(a, b, ...args, ...ratios, ...POINT, ...REPEATS, "--a-name", "a", "--b-name", "b");
}

/** As many connections as 16, and a multiple of the servers: each gets as many. */
function connections(servers: number): readonly string[] {
  return ["--connections", String(servers * Math.round(CONNECTIONS / servers)), "--in-flight", "64"];
}

/**
 * Connections in proportion to the servers, so that CPU bounds each server and not the number of
 * requests.
 */
function connectionsFor(servers: number): readonly string[] {
  return ["--connections", String(servers * 8), "--in-flight", "64"];
}

function cpuOf(ensemble: PerfEnsemble): number {
  return ensemble.servers.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0);
}

function compared({ a, b, ratio, difference }: ComparedPoint): readonly string[] {
  const p99 = (report: ComparedPoint["a"]): string =>
    ((Object.values(report.latencies)[0]?.p99 ?? 0) / 1000).toFixed(1);
  const spread = `${ratio.median.toFixed(2)} (${ratio.min.toFixed(2)}–${ratio.max.toFixed(2)})`;
  const said = difference === "no difference" ? `${spread}, no difference` : spread;
  return [whole(a.value.median), whole(b.value.median), said, `${p99(a)}, ${p99(b)}`];
}

function table(...titles: readonly string[]): void {
  console.log();
  printHead(...titles.flatMap((title) => title.split(" | ")));
}

function draw(file: string, title: string, label: string, lines: readonly ChartLine[]): void {
  save(file, chartSvg({ title, axis: { label, scale: "linear" }, panels: [{ title: "requests/s", lines }] }));
}

function save(file: string, svg: string): void {
  mkdirSync(values.images, { recursive: true });
  writeFileSync(join(values.images, file), svg);
}

function whole(value: number): string {
  return value.toFixed(0);
}

for (const name of values.only) await SECTIONS[name]?.();
