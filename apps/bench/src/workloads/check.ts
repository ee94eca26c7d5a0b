import type { Bench, Workload } from "../bench.ts";
import { setTemplate } from "../connections/request-template.ts";
import type { Measurement } from "../results/measurement.ts";
import { nodePath } from "../tree.ts";
import { measureRequests, PAYLOAD_BYTES } from "./request-point.ts";
import { filled, onlyHosts, treeOn } from "./with-tree.ts";

/** Writes on a schedule, for the verdict of `zooid-bench check`. */
export const check: Workload = {
  name: "check",
  summary: "sets of 1 KiB at a fixed rate",
  axis: { label: "sets a second", scale: "linear" },
  async *run(bench: Bench): AsyncIterable<Measurement> {
    const { config } = bench;
    const hosts = onlyHosts(bench, "check");
    const payloadBytes = config.payloadBytes ?? PAYLOAD_BYTES;
    await using tree = await treeOn(bench, hosts);
    const parent = await filled(bench, tree, { name: "nodes", count: config.nodes, payloadBytes });
    const template = setTemplate("write", nodePath(parent), new Uint8Array(payloadBytes));
    const { measurement } = await measureRequests(bench, {
      point: "sets",
      x: config.ratePerSecond ?? 0,
      hosts,
      mix: [{ template, weight: 1 }],
    });
    yield measurement;
  },
};
