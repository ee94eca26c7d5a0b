import type { Bench, Workload } from "../bench.ts";
import { readTemplate, setTemplate } from "../connections/request-template.ts";
import type { Measurement } from "../results/measurement.ts";
import { effectsOf } from "../results/timeline.ts";
import { nodePath } from "../tree.ts";
import { UsageError } from "../usage-error.ts";
import { measureRequests, PAYLOAD_BYTES } from "./request-point.ts";
import { filled, onlyHosts, treeOn } from "./with-tree.ts";

/**
 * Seven reads to three writes, as in figure 8 of the ZooKeeper paper (Hunt et al., USENIX ATC
 * 2010).
 */
const RATIO = 70;

/** One load all the time, while servers come and go. */
export const timeline: Workload = {
  name: "timeline",
  summary: "reads and sets from moment to moment while servers come and go (--event, --slice, --ratio)",
  axis: { label: "s", scale: "linear" },
  async *run(bench: Bench): AsyncIterable<Measurement> {
    const { config } = bench;
    const hosts = onlyHosts(bench, "timeline");
    const late = config.events.find(({ atMs }) => atMs >= config.durationMs);
    if (late !== undefined) {
      throw new UsageError(
        `timeline is over after ${config.durationMs / 1000} s (--duration), before "${late.label}" at ${late.atMs / 1000} s`,
      );
    }
    const payloadBytes = config.payloadBytes ?? PAYLOAD_BYTES;
    await using tree = await treeOn(bench, hosts);
    const parent = await filled(bench, tree, { name: "nodes", count: config.nodes, payloadBytes });
    const path = nodePath(parent);
    for (const ratio of config.ratios ?? [RATIO]) {
      const mix = [
        { template: readTemplate("read", path), weight: ratio },
        { template: setTemplate("write", path, new Uint8Array(payloadBytes)), weight: 100 - ratio },
      ].filter(({ weight }) => weight > 0);
      const { events, sliceMs } = config;
      const { measurement } = await measureRequests(bench, {
        point: `${ratio} % reads`,
        x: ratio,
        hosts,
        mix,
        timeline: { events, sliceMs },
      });
      yield withEffects(measurement);
    }
  },
};

function withEffects(measurement: Measurement): Measurement {
  const { timeline, figures, notes } = measurement;
  if (timeline === undefined) return measurement;
  const effects = Object.keys(timeline.answered).flatMap((kind) =>
    effectsOf(timeline, kind).map((effect) => ({ ...effect, kind })),
  );
  return {
    ...measurement,
    figures: {
      ...figures,
      ...Object.fromEntries(
        effects.flatMap(({ kind, label, stillMs, backMs }) => [
          [`ms without a ${kind} after "${label}"`, stillMs] as const,
          ...(backMs === undefined ? [] : [[`ms until ${kind}s were back after "${label}"`, backMs] as const]),
        ]),
      ),
    },
    notes: [
      ...notes,
      ...timeline.events.flatMap(({ label, failure }) => (failure === undefined ? [] : [`"${label}" ${failure}`])),
      ...effects.flatMap(({ kind, label, backMs }) =>
        backMs === undefined ? [`${kind}s were not back at the level of before after "${label}"`] : [],
      ),
    ],
  };
}
