import type { Bench, Workload } from "../bench.ts";
import { readTemplate, setTemplate } from "../connections/request-template.ts";
import type { Measurement } from "../results/measurement.ts";
import { nodePath } from "../tree.ts";
import { measureRequests, PAYLOAD_BYTES } from "./request-point.ts";
import { filled, onlyHosts, treeOn } from "./with-tree.ts";

const RATIOS = [0, 25, 50, 75, 90, 100];

/**
 * Reads among writes of the same nodes: the shape of figure 5 in the ZooKeeper paper (Hunt et al.,
 * USENIX ATC 2010).
 */
export const readRatio: Workload = {
  name: "read-ratio",
  summary: "reads and sets of existing nodes, from 0 to 100 % reads (--ratio)",
  axis: { label: "reads, %", scale: "linear" },
  pretence: ({ payloadBytes = PAYLOAD_BYTES }) => ({ payloadBytes, children: 0 }),
  async *run(bench: Bench): AsyncIterable<Measurement> {
    const { config } = bench;
    const hosts = onlyHosts(bench, "read-ratio");
    const payloadBytes = config.payloadBytes ?? PAYLOAD_BYTES;
    await using tree = await treeOn(bench, hosts);
    const parent = await filled(bench, tree, { name: "nodes", count: config.nodes, payloadBytes });
    const path = nodePath(parent);
    for (const ratio of config.ratios ?? RATIOS) {
      const mix = [
        { template: readTemplate("read", path), weight: ratio },
        { template: setTemplate("write", path, new Uint8Array(payloadBytes)), weight: 100 - ratio },
      ].filter(({ weight }) => weight > 0);
      const { measurement } = await measureRequests(bench, { point: `${ratio} % reads`, x: ratio, hosts, mix });
      yield measurement;
    }
  },
};
