import type { ServerId } from "@zooid/model";
import { saidDiskOf } from "@zooid/zab";
import type { Cluster } from "../cluster/cluster.ts";
import type { SimServer } from "../cluster/server.ts";
import { Violation } from "./violation.ts";

/**
 * F1: no server without a history, or with one of its own, names an epoch while it is linked to a
 * listed server that said that it has data. One that holds the epoch of an attempt, and has nothing
 * logged, names none there without a quorum of that attempt. Called when it sends leader-info.
 */
export function checkFounding(server: SimServer, cluster: Cluster): void {
  const { sid, disk } = server;
  const { history } = saidDiskOf(disk.durable);
  if (history === "ensemble" || (history === "attempt" && hasQuorumOfAttempt(server, cluster))) return;
  for (const [other, said] of cluster.network.heardBy(sid)) {
    if (said.history === "none" || said.history === "attempt" || !isListed(other, server)) continue;
    throw new Violation("F1", `server ${sid} founds an ensemble beside server ${other}, which has data`);
  }
}

/**
 * Whether the disks of a quorum have the id of this server's attempt to found an ensemble; also of
 * servers that are down, since the epoch is named to each learner that comes later.
 */
function hasQuorumOfAttempt({ disk, replica }: SimServer, cluster: Cluster): boolean {
  const { ensembleId } = disk.durable.identity;
  const of = cluster.members.filter(({ server, image }) => {
    const durable = server?.disk.durable ?? image?.log.log;
    return durable?.identity.ensembleId === ensembleId;
  });
  return replica.zab.members.verifier.isQuorum(of.map(({ sid }) => sid));
}

/** Without configurations only listed servers connect. */
function isListed(sid: ServerId, { replica }: SimServer): boolean {
  const { committed, lastSeen } = replica.zab.members;
  if (committed === undefined) return true;
  return [committed, lastSeen].some((members) => members?.servers.some((each) => each.sid === sid) === true);
}
