import type { Bench, Workload } from "../bench.ts";
import { multiSetTemplate } from "../connections/request-template.ts";
import type { Measurement } from "../results/measurement.ts";
import { nodePath } from "../tree.ts";
import { measureRequests } from "./request-point.ts";
import { filled, onlyHosts, treeOn } from "./with-tree.ts";

const PARTS = 10;
const PAYLOAD_BYTES = 100;

/** Transactions of ten sets, of ten different nodes. */
export const multi10: Workload = {
  name: "multi-10",
  summary: "transactions of ten sets",
  axis: { label: "", scale: "linear" },
  pretence: ({ payloadBytes = PAYLOAD_BYTES }) => ({ payloadBytes, children: 0 }),
  async *run(bench: Bench): AsyncIterable<Measurement> {
    const { config } = bench;
    const hosts = onlyHosts(bench, "multi-10");
    const payloadBytes = config.payloadBytes ?? PAYLOAD_BYTES;
    const nodes = Math.max(PARTS, config.nodes);
    await using tree = await treeOn(bench, hosts);
    const parent = await filled(bench, tree, { name: "nodes", count: nodes, payloadBytes });
    const paths = Array.from({ length: PARTS }, () => nodePath(parent));
    const template = multiSetTemplate("multi", paths, new Uint8Array(payloadBytes));
    const { measurement } = await measureRequests(bench, {
      point: "multi of 10 sets",
      x: 0,
      hosts,
      mix: [{ template, weight: 1 }],
      nodes,
    });
    yield { ...measurement, figures: { ...measurement.figures, "sets/s": measurement.value * PARTS } };
  },
};
