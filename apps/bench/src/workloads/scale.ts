import type { Bench, Workload } from "../bench.ts";
import type { Measurement } from "../measurement.ts";
import { readTemplate, setTemplate } from "../request-template.ts";
import { nodePath } from "../tree.ts";
import { UsageError } from "../usage-error.ts";
import { measureRequests, PAYLOAD_BYTES } from "./request-point.ts";
import { filled, treeOn } from "./with-tree.ts";

/** The same load on ensembles of different sizes: reads gain by each server, writes pay for it. */
export const scale: Workload = {
  name: "scale",
  summary: "reads and sets by number of servers (one --hosts list for each ensemble)",
  axis: { label: "servers", scale: "linear" },
  pretence: undefined,
  async *run(bench: Bench): AsyncIterable<Measurement> {
    const { config } = bench;
    if (bench.hosts.length < 2) {
      throw new UsageError(
        `scale needs ensembles of different sizes: give --hosts once for each, such as --hosts h:2181 --hosts a:2181,b:2181,c:2181; found ${bench.hosts.length} list of ${bench.hosts[0]?.length ?? 0}`,
      );
    }
    const payloadBytes = config.payloadBytes ?? PAYLOAD_BYTES;
    for (const hosts of bench.hosts) {
      await using tree = await treeOn(bench, hosts);
      const parent = await filled(bench, tree, { name: "nodes", count: config.nodes, payloadBytes });
      const path = nodePath(parent);
      for (const template of [readTemplate("read", path), setTemplate("write", path, new Uint8Array(payloadBytes))]) {
        const { measurement } = await measureRequests(bench, {
          point: `${template.kind}, ${hosts.length} ${hosts.length === 1 ? "server" : "servers"}`,
          series: template.kind,
          x: hosts.length,
          hosts,
          mix: [{ template, weight: 1 }],
        });
        yield measurement;
      }
    }
  },
};
