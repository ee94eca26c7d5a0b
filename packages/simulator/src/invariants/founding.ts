import { saidDiskOf } from "@zooid/zab";
import type { Network } from "../cluster/network.ts";
import type { SimServer } from "../cluster/server.ts";
import { Violation } from "./violation.ts";

/**
 * F1: no server without a history, or with one of its own, names an epoch while it is linked to a
 * server that said that it has data. Called when it sends leader-info.
 */
export function checkFounding({ sid, disk }: SimServer, network: Network): void {
  const { history } = saidDiskOf(disk.durable);
  if (history !== "none" && history !== "own") return;
  for (const [other, said] of network.heardBy(sid)) {
    if (said.history === "none" || said.history === "attempt") continue;
    throw new Violation("F1", `server ${sid} founds an ensemble beside server ${other}, which has data`);
  }
}
