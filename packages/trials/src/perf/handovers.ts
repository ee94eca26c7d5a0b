import { existsSync, mkdirSync, mkdtempDisposableSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT, ServerProcess } from "@zooid/conformance/internal/servers/endpoint";
import { decimal, someOf, text, toolOptions } from "@zooid/conformance/internal/tool-options";
import { type ChartLine, chartSvg } from "zooid-bench/internal/results/chart-svg";
import { formatNumber } from "zooid-bench/internal/results/format";
import { mainLatency, type PointReport } from "zooid-bench/internal/results/point-report";
import { printHead, printRow } from "../figures/markdown-table.ts";
import { runBench } from "./run-bench.ts";

/**
 * Fair against unfair, locks and elections, by number of contenders: what a hand-over wakes, asks,
 * takes and costs. One server; each contender with a client and a session of its own, all in one
 * thread of the generator. Prints tables and draws into `--images`.
 *
 * `--contenders 2,10,100,1000,10000 --only lock,election --seconds 60 --data DIR --images DIR
 * --rows FILE`
 */
const values = toolOptions({
  contenders: [2, 10, 100, 1000, 10000],
  only: someOf(["lock", "election"]),
  /** Seconds for each point, besides the time until all contend. */
  seconds: decimal(60),
  data: tmpdir(),
  images: join(ROOT, "docs/images"),
  /** Keeps what was measured; points that stand in it are not measured again. */
  rows: text,
});
const KINDS = ["fair", "unfair"] as const;
/**
 * For one thread with ten thousand concurrent notifications, which reads ten thousand names for
 * each contender that enters the queue.
 */
const SESSION_TIMEOUT_MS = 120_000;
const SOONER = 0.9;

/** The call of a release, as it is drawn. */
const WHAT = { lock: "release", election: "term" } as const;
type What = keyof typeof WHAT;

interface Row {
  readonly contenders: number;
  readonly kind: (typeof KINDS)[number];
  readonly count: number;
  readonly notifications: number;
  readonly requests: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly cpuMs: number;
  /** Share of the time in which the generator's thread was busy. */
  readonly generator: number;
}

for (const what of values.only) await measure(what);

async function measure(what: What): Promise<void> {
  const rows: Row[] = [];
  console.log(`\n${what}s, ${values.seconds} s a point\n`);
  const one = WHAT[what];
  printHead(
    "contenders",
    "kind",
    `${one}s`,
    `notifications a ${one}`,
    `requests a ${one}`,
    ...["p50, p99 ms", "server CPU ms", "generator busy"],
  );
  for (const contenders of values.contenders) {
    const [fair, unfair] = [await kept(what, "fair", contenders), await kept(what, "unfair", contenders)];
    rows.push(fair, unfair);
    rowOfTable(fair, unfair);
    rowOfTable(unfair, fair);
  }
  draw(what, rows);
}

async function kept(what: What, kind: Row["kind"], contenders: number): Promise<Row> {
  const file = values.rows;
  if (file === undefined) return await point(what, kind, contenders);
  const rows: Record<string, Row> = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : {};
  const name = `${what} ${kind} ${contenders}`;
  rows[name] ??= await point(what, kind, contenders);
  writeFileSync(file, JSON.stringify(rows, undefined, 2));
  return rows[name];
}

/** A server of its own for each point: none pays for what the one before has left. */
async function point(what: What, kind: Row["kind"], contenders: number): Promise<Row> {
  using folder = mkdtempDisposableSync(join(values.data, "handovers-"));
  const settings = [`maxSessionTimeout=${SESSION_TIMEOUT_MS}`];
  await using server = new ServerProcess({ kind: "zooid", folder: folder.path, settings });
  await server.start();
  const measured = ["--hosts", `127.0.0.1:${server.port}`, "--server-pid", String(server.pid)];
  const load = [what, "--kind", kind, "--contenders", String(contenders)];
  const times = ["--session-timeout", `${SESSION_TIMEOUT_MS}ms`, "--duration", `${values.seconds}s`, "--warmup", "1s"];
  const { points } = await runBench(...measured, ...load, ...times);
  const [report] = points;
  if (report === undefined) throw new Error(`nothing was measured of ${contenders} contenders`);
  return rowOf(what, kind, report);
}

function rowOf(what: What, kind: Row["kind"], report: PointReport): Row {
  const one = WHAT[what];
  const failures = Object.entries(report.errors);
  if (failures.length > 0) console.error(`${report.point}: ${failures.map((each) => each.join(" ")).join(", ")}`);
  const figure = (name: string): number => report.figures[name] ?? Number.NaN;
  const latency = mainLatency(report);
  return {
    contenders: report.x,
    kind,
    count: report.requests,
    notifications: figure(`notifications a ${one}`),
    requests: figure(`requests a ${one}`),
    p50Ms: (latency?.p50 ?? Number.NaN) / 1000,
    p99Ms: (latency?.p99 ?? Number.NaN) / 1000,
    cpuMs: figure(`server CPU a ${one} (ms)`),
    generator: report.generator.utilisation,
  };
}

function draw(what: What, rows: readonly Row[]): void {
  const one = WHAT[what];
  const lines = (name: string, of: (row: Row) => number, isDashed = false): readonly ChartLine[] =>
    KINDS.map((kind, colour) => ({
      name: name === "" ? kind : `${kind} ${name}`,
      colour,
      isDashed,
      points: rows.filter((row) => row.kind === kind).map((row) => ({ x: row.contenders, y: of(row) })),
    }));
  const svg = chartSvg({
    title: `${what}: fair wakes one, unfair wakes all`,
    axis: { label: what === "lock" ? "contenders" : "candidates", scale: "logarithmic" },
    panels: [
      {
        title: `hand-over, ms`,
        lines: [...lines("p50", (row) => row.p50Ms), ...lines("p99", (row) => row.p99Ms, true)],
      },
      { title: `notifications a ${one}`, lines: lines("", (row) => row.notifications) },
      { title: `requests a ${one}`, lines: lines("", (row) => row.requests) },
      { title: `server CPU a ${one}, ms`, lines: lines("", (row) => row.cpuMs) },
    ].map((panel) => ({ ...panel, scale: "logarithmic" as const })),
  });
  mkdirSync(values.images, { recursive: true });
  writeFileSync(join(values.images, `handovers-${what}.svg`), svg);
}

/** The faster handover, by more than the machine's noise, is in bold. */
function rowOfTable(one: Row, other: Row): void {
  const latencies = `${rounded(one.p50Ms)}, ${rounded(one.p99Ms)}`;
  printRow(
    ...[formatNumber(one.contenders), one.kind, formatNumber(one.count)],
    ...[formatNumber(one.notifications), formatNumber(one.requests)],
    ...[one.p50Ms < SOONER * other.p50Ms ? `**${latencies}**` : latencies],
    ...[rounded(one.cpuMs), `${Math.round(one.generator * 100)} %`],
  );
}

/** Two digits are what a shared machine's times hold; from ten on whole numbers. */
function rounded(value: number): string {
  return value >= 10 ? formatNumber(Math.round(value)) : value.toFixed(1);
}
