import type { Bench, Workload } from "../bench.ts";
import { readTemplate, setTemplate } from "../connections/request-template.ts";
import type { Measurement } from "../results/measurement.ts";
import { nodePath } from "../tree.ts";
import { UsageError } from "../usage-error.ts";
import { measureRequests, PAYLOAD_BYTES } from "./request-point.ts";
import { filled, treeOn } from "./with-tree.ts";

/** The same load on ensembles of different sizes: reads gain by each server, writes pay for it. */
export const scale: Workload = {
  name: "scale",
  summary:
    "reads at all servers and sets at those that vote, by number of servers (one --hosts list for each ensemble)",
  axis: { label: "servers", scale: "linear" },
  async *run(bench: Bench): AsyncIterable<Measurement> {
    const { config } = bench;
    if (bench.hosts.length < 2) {
      throw new UsageError(
        `scale needs ensembles of different sizes: give --hosts once for each, such as --hosts h:2181 --hosts a:2181,b:2181,c:2181; found ${bench.hosts.length} list of ${bench.hosts[0]?.length ?? 0}`,
      );
    }
    const payloadBytes = config.payloadBytes ?? PAYLOAD_BYTES;
    for (const hosts of bench.hosts) {
      const roles = await Promise.all(hosts.map((host) => bench.facts(host)));
      // Observers are there for reads: what they cost writes shows at those who vote.
      const voters = hosts.filter((_, i) => roles[i]?.role !== "observer");
      const size = sizeOf(voters.length, hosts.length - voters.length);
      await using tree = await treeOn(bench, hosts);
      const parent = await filled(bench, tree, { name: "nodes", count: config.nodes, payloadBytes });
      const path = nodePath(parent);
      for (const template of [readTemplate("read", path), setTemplate("write", path, new Uint8Array(payloadBytes))]) {
        const { measurement } = await measureRequests(bench, {
          point: `${template.kind}, ${size}`,
          series: template.kind,
          x: hosts.length,
          hosts: template.kind === "write" && voters.length > 0 ? voters : hosts,
          mix: [{ template, weight: 1 }],
        });
        yield measurement;
      }
    }
  },
};

/** `3 servers`, `3 servers and 2 observers`. */
function sizeOf(voters: number, observers: number): string {
  const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? "" : "s"}`;
  return counted(voters, "server") + (observers === 0 ? "" : ` and ${counted(observers, "observer")}`);
}
