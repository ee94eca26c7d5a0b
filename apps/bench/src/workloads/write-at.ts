import type { Bench, Workload } from "../bench.ts";
import type { Host } from "../connections/hosts.ts";
import { setTemplate } from "../connections/request-template.ts";
import type { Measurement } from "../results/measurement.ts";
import { nodePath } from "../tree.ts";
import { UsageError } from "../usage-error.ts";
import { measureRequests, PAYLOAD_BYTES } from "./request-point.ts";
import { filled, treeOn } from "./with-tree.ts";

const ROLES = ["leader", "follower", "observer"] as const;

/** Writes through servers of one role at a time: what forwarding to the leader costs. */
export const writeAt: Workload = {
  name: "write-at",
  summary: "sets through the leader, through followers, through observers",
  axis: { label: "leader, follower, observer", scale: "linear" },
  async *run(bench: Bench): AsyncIterable<Measurement> {
    const { config } = bench;
    const hosts = bench.hosts.flat();
    const found = new Map<string, Host[]>();
    for (const host of hosts) {
      const { role } = await bench.facts(host);
      found.set(role, [...(found.get(role) ?? []), host]);
    }
    if (!found.has("leader")) {
      const roles = [...found].map(([role, those]) => `${those.length} ${role}`).join(", ");
      throw new UsageError(
        `write-at needs an ensemble: name its servers in --hosts, so that there are a leader and a follower or observer to write to; found ${roles}`,
      );
    }
    const payloadBytes = config.payloadBytes ?? PAYLOAD_BYTES;
    await using tree = await treeOn(bench, hosts);
    const parent = await filled(bench, tree, { name: "nodes", count: config.nodes, payloadBytes });
    const template = setTemplate("write", nodePath(parent), new Uint8Array(payloadBytes));
    for (const [x, role] of ROLES.entries()) {
      const those = found.get(role);
      if (those === undefined) continue;
      const { measurement } = await measureRequests(bench, {
        point: `at the ${role}`,
        x,
        hosts: those,
        mix: [{ template, weight: 1 }],
      });
      yield measurement;
    }
  },
};
