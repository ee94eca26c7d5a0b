import { CreateMode } from "@zooid/model";
import type { Bench, Workload } from "../bench.ts";
import { createTemplate } from "../connections/request-template.ts";
import type { Measurement } from "../results/measurement.ts";
import { CONNECTIONS, measureRequests } from "./request-point.ts";
import { onlyHosts, treeOn } from "./with-tree.ts";

const PAYLOAD_BYTES = 100;

/** Creates without contention; each connection has a parent of its own. */
export const createUnique: Workload = {
  name: "create-unique",
  summary: "creates of nodes with names of their own",
  axis: { label: "", scale: "linear" },
  pretence: () => ({ payloadBytes: 0, children: 0 }),
  async *run(bench: Bench): AsyncIterable<Measurement> {
    const { config } = bench;
    const hosts = onlyHosts(bench, "create-unique");
    await using tree = await treeOn(bench, hosts);
    const connections = config.connections ?? CONNECTIONS;
    for (let i = 0; i < connections; i++) await tree.create(`c-${String(i).padStart(5, "0")}`);
    const path = `${tree.path}/c-@@@@@/%%%%%%%%%`;
    const payload = new Uint8Array(config.payloadBytes ?? PAYLOAD_BYTES);
    const template = createTemplate("create", { path, payload, mode: CreateMode.PERSISTENT });
    const { measurement, counterEnd } = await measureRequests(bench, {
      point: "create",
      x: 0,
      hosts,
      mix: [{ template, weight: 1 }],
    });
    yield { ...measurement, figures: { ...measurement.figures, "most nodes below one parent": counterEnd } };
    bench.phase("removing what was created");
  },
};
