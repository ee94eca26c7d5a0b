import type { Bench, Workload } from "../bench.ts";
import { sumErrors } from "../load/error-counts.ts";
import { mergeCounts } from "../results/latency-summary.ts";
import { CLOSED_LOOP, type Measurement } from "../results/measurement.ts";
import { nodeName } from "../tree.ts";
import { filled, onlyHosts, treeOn } from "./with-tree.ts";

const WATCHES = [1, 10, 100, 1000, 10_000];
const CONNECTIONS_MAX = 256;

/** From one write to the last of those who watch: with 1 watch, 10, 100, 1000, 10 000. */
export const watchFanout: Workload = {
  name: "watch-fanout",
  summary: "time from a write to the last notification, by number of watches (--sizes)",
  axis: { label: "watches", scale: "logarithmic" },
  async *run(bench: Bench): AsyncIterable<Measurement> {
    const { config } = bench;
    const hosts = onlyHosts(bench, "watch-fanout");
    const payloadBytes = config.payloadBytes ?? 0;
    await using tree = await treeOn(bench, hosts);
    for (const watches of config.sizes ?? WATCHES) {
      const connections = Math.min(watches, config.connections ?? CONNECTIONS_MAX);
      const nodes = Math.ceil(watches / connections);
      const parent = await filled(bench, tree, { name: `for-${watches}`, count: nodes, payloadBytes });
      const outcomes = await bench.run(
        {
          kind: "fanout",
          hosts,
          watches,
          connections,
          paths: Array.from({ length: nodes }, (_, i) => `${parent}/${nodeName(i)}`),
          payloadBytes,
          warmupMs: config.warmupMs,
          durationMs: config.durationMs,
          sessionTimeoutMs: config.sessionTimeoutMs,
        },
        // One thread: the write and the notifications are on one clock.
        {
          name: `${watches} watches`,
          workers: 1,
          expectedMs: config.warmupMs + config.durationMs,
          unit: "notifications",
        },
      );
      const [only] = outcomes;
      if (only === undefined) continue;
      yield {
        ...CLOSED_LOOP,
        point: `${watches} ${watches === 1 ? "watch" : "watches"}`,
        x: watches,
        loop: `closed loop, one write at a time, ${connections} ${connections === 1 ? "connection" : "connections"} × ${nodes} ${nodes === 1 ? "node" : "nodes"}`,
        value: only.fanoutMs === 0 ? 0 : only.notifications / (only.fanoutMs / 1000),
        unit: "notifications/s",
        latencies: {
          "write to last": mergeCounts(outcomes.map(({ latencies }) => latencies.last)),
          "write to each": mergeCounts(outcomes.map(({ latencies }) => latencies.each)),
          "write to answer": mergeCounts(outcomes.map(({ latencies }) => latencies.write)),
        },
        requests: only.notifications,
        errors: sumErrors(outcomes.map(({ errors }) => errors)),
        generator: outcomes.map(({ generator }) => generator),
        figures: { rounds: only.rounds },
      };
      await tree.remove(parent);
    }
  },
};
