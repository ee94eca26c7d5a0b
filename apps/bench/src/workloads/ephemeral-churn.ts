import type { Bench, Workload } from "../bench.ts";
import { workersFor } from "../bench-config.ts";
import { EPHEMERAL_LEFT } from "../load/churn-load.ts";
import { sumErrors } from "../load/error-counts.ts";
import { mergeCounts } from "../results/latency-summary.ts";
import { CLOSED_LOOP, type Measurement } from "../results/measurement.ts";
import { onlyHosts, treeOn } from "./with-tree.ts";

const CONNECTIONS = 16;

/** Sessions that open, create ephemerals and close; a closed session must leave nothing behind. */
export const ephemeralChurn: Workload = {
  name: "ephemeral-churn",
  summary: "sessions that open, create ephemerals (--ephemerals) and close; checks that they vanish",
  axis: { label: "", scale: "linear" },
  async *run(bench: Bench): AsyncIterable<Measurement> {
    const { config } = bench;
    const hosts = onlyHosts(bench, "ephemeral-churn");
    await using tree = await treeOn(bench, hosts);
    const parent = await tree.create("churn");
    const connections = config.connections ?? CONNECTIONS;
    const outcomes = await bench.run(
      {
        kind: "churn",
        hosts,
        connections,
        ephemerals: config.ephemerals,
        parent,
        payloadBytes: config.payloadBytes ?? 0,
        warmupMs: config.warmupMs,
        durationMs: config.durationMs,
        sessionTimeoutMs: config.sessionTimeoutMs,
      },
      {
        name: `${config.ephemerals} ephemerals a session`,
        workers: workersFor(config, connections),
        expectedMs: config.warmupMs + config.durationMs,
        unit: "sessions",
      },
    );
    const count = outcomes.reduce((sum, { sessions }) => sum + sessions, 0);
    const errors = sumErrors(outcomes.map(({ errors }) => errors));
    const left = errors[EPHEMERAL_LEFT] ?? 0;
    const of = (part: "life" | "open" | "create" | "close"): Int32Array =>
      mergeCounts(outcomes.map(({ latencies }) => latencies[part]));
    yield {
      ...CLOSED_LOOP,
      point: `sessions with ${config.ephemerals} ephemerals`,
      loop: `closed loop, ${connections} sessions at a time`,
      value: count / (config.durationMs / 1000),
      unit: "sessions/s",
      latencies: { "open to closed": of("life"), open: of("open"), create: of("create"), close: of("close") },
      requests: count,
      errors,
      generator: outcomes.map(({ generator }) => generator),
      figures: {
        "ephemerals/s": (count * config.ephemerals) / (config.durationMs / 1000),
        "ephemerals left behind": left,
      },
      notes: left > 0 ? ["ephemerals were found after their session's end had been acknowledged"] : [],
    };
  },
};
