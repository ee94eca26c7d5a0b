/** The recipes, as those who use them see them, and what they cost the server. */
import type { Bench, Workload } from "../bench.ts";
import type { BenchConfig } from "../bench-config.ts";
import { HANDED_OVER, type RecipeName, SAME_AGAIN } from "../load/recipe-acts.ts";
import type { RecipeOutcome } from "../load/recipe-load.ts";
import { summarize } from "../results/latency-summary.ts";
import { CLOSED_LOOP, type Measurement } from "../results/measurement.ts";
import { onlyHosts, treeOn } from "./with-tree.ts";

const CONTENDERS = [2, 10, 100];
const PAIRS = [1, 4, 16];
/** Number of samples below which the 99th percentile is the largest one, and says little. */
const FEW = 100;

interface RecipePoint {
  readonly point: string;
  readonly series: string;
  readonly x: number;
  readonly recipe: RecipeName;
  readonly clients: number;
  readonly loop: string;
  /** The counted operation, singular and plural: `release`, `releases`. */
  readonly one: string;
  readonly many: string;
}

function handovers(what: "lock" | "election", one: string, { contenders, kind }: BenchConfig): readonly RecipePoint[] {
  const kinds = kind === undefined ? (["fair", "unfair"] as const) : [kind];
  return kinds.flatMap((series) =>
    (contenders ?? CONTENDERS).map((count) => ({
      point: `${series}, ${count} ${count === 1 ? "contender" : "contenders"}`,
      series,
      x: count,
      recipe: `${series} ${what}` as const,
      clients: count,
      loop: `closed loop, released when all ${count - 1} others wait`,
      one,
      many: `${one}s`,
    })),
  );
}

export const lock: Workload = {
  name: "lock",
  summary: "from a release to the next grant, by number of contenders (--contenders, --kind)",
  axis: { label: "contenders", scale: "logarithmic" },
  run: (bench) => measured(bench, "lock", handovers("lock", "release", bench.config)),
};

export const election: Workload = {
  name: "election",
  summary: "from the end of a term to the next leader, by number of candidates (--contenders, --kind)",
  axis: { label: "candidates", scale: "logarithmic" },
  run: (bench) => measured(bench, "election", handovers("election", "term", bench.config)),
};

export const barrier: Workload = {
  name: "barrier",
  summary: "rounds in which all enter and all leave, by number of members (--contenders)",
  axis: { label: "members", scale: "logarithmic" },
  run: (bench) => {
    const points = (bench.config.contenders ?? CONTENDERS).map(
      (count): RecipePoint => ({
        point: `${count} ${count === 1 ? "member" : "members"}`,
        series: "",
        x: count,
        recipe: "barrier",
        clients: count,
        loop: "closed loop, one round at a time",
        one: "round",
        many: "rounds",
      }),
    );
    return measured(bench, "barrier", points);
  },
};

export const queue: Workload = {
  name: "queue",
  summary: "items put and taken, by number of putters, with as many takers (--contenders)",
  axis: { label: "putters, and as many takers", scale: "logarithmic" },
  run: (bench) => {
    const points = (bench.config.contenders ?? PAIRS).map(
      (count): RecipePoint => ({
        point: `${count} ${count === 1 ? "putter" : "putters"}`,
        series: "",
        x: count,
        recipe: "queue",
        clients: 2 * count,
        loop: `closed loop, ${count} × 1 items`,
        one: "item",
        many: "items",
      }),
    );
    return measured(bench, "queue", points);
  },
};

async function* measured(bench: Bench, name: string, points: readonly RecipePoint[]): AsyncIterable<Measurement> {
  const { config } = bench;
  const hosts = onlyHosts(bench, name);
  await using tree = await treeOn(bench, hosts);
  for (const point of points) {
    const path = await tree.create(`${point.recipe.replace(" ", "-")}-${point.x}`);
    const outcomes = await bench.run(
      {
        kind: "recipe",
        recipe: point.recipe,
        hosts,
        clients: point.clients,
        path,
        payloadBytes: config.payloadBytes ?? 0,
        warmupMs: config.warmupMs,
        durationMs: config.durationMs,
        sessionTimeoutMs: config.sessionTimeoutMs,
        serverPid: config.serverPid,
      },
      { name: point.point, workers: 1, expectedMs: config.warmupMs + config.durationMs, unit: point.many },
    );
    for (const outcome of outcomes) yield measurementOf(point, outcome);
    await tree.remove(path);
  }
}

function measurementOf({ point, series, x, loop, one, many }: RecipePoint, outcome: RecipeOutcome): Measurement {
  const { count, durationMs, latencies, requests, notifications, seen, serverCpuMs, errors, generator } = outcome;
  const handover = latencies[HANDED_OVER];
  const each = (all: number): number => (count === 0 ? 0 : all / count);
  const perSecond = (all: number): number => (durationMs === 0 ? 0 : (1000 * all) / durationMs);
  return {
    ...CLOSED_LOOP,
    point,
    series,
    x,
    loop,
    ...(handover === undefined
      ? { value: perSecond(count), unit: `${many}/s`, better: "higher" }
      : { value: count === 0 ? 0 : summarize(handover).mean / 1000, unit: "ms", better: "lower" }),
    latencies,
    requests: count,
    errors,
    generator: [generator],
    figures: {
      [`notifications a ${one}`]: each(notifications),
      [`requests a ${one}`]: each(requests),
      ...(handover === undefined ? {} : { "to the same one again (%)": 100 * each(seen[SAME_AGAIN] ?? 0) }),
      ...(serverCpuMs === undefined
        ? {}
        : { [`server CPU a ${one} (ms)`]: each(serverCpuMs), "server CPU (cores)": perSecond(serverCpuMs / 1000) }),
    },
    notes:
      handover !== undefined && count < FEW
        ? [`only ${count} ${count === 1 ? one : many}: a longer --duration has more`]
        : [],
  };
}
