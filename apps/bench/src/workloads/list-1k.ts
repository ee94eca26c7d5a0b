import type { Bench, Workload } from "../bench.ts";
import { listTemplate } from "../connections/request-template.ts";
import type { Measurement } from "../results/measurement.ts";
import { measureRequests } from "./request-point.ts";
import { filled, onlyHosts, treeOn } from "./with-tree.ts";

const CHILDREN = 1000;

/** Lists of a node's thousand children. */
export const list1k: Workload = {
  name: "list-1k",
  summary: "lists of a thousand children",
  axis: { label: "", scale: "linear" },
  pretence: () => ({ payloadBytes: 0, children: CHILDREN }),
  async *run(bench: Bench): AsyncIterable<Measurement> {
    const hosts = onlyHosts(bench, "list-1k");
    await using tree = await treeOn(bench, hosts);
    const payloadBytes = bench.config.payloadBytes ?? 0;
    const parent = await filled(bench, tree, { name: "nodes", count: CHILDREN, payloadBytes });
    const template = listTemplate("list", parent);
    const { measurement } = await measureRequests(bench, {
      point: "list of 1000",
      x: 0,
      hosts,
      mix: [{ template, weight: 1 }],
    });
    yield { ...measurement, figures: { ...measurement.figures, "names/s": measurement.value * CHILDREN } };
  },
};
