import type { ServerId } from "@zooid/model";
import type { Cluster } from "../cluster/cluster.ts";
import type { SimServer } from "../cluster/server.ts";

/**
 * A server hears from all voters that a server leads: as from notifications that are older than
 * what their senders did since. To the broadcast an election is a hint, so it must stay safe then.
 */
export function hearOldVotes(cluster: Cluster, server: SimServer, leader: ServerId): void {
  const { durable } = cluster.server(leader)?.disk ?? {};
  if (durable === undefined) return;
  const vote = { leader, zxid: durable.tail.zxid, peerEpoch: durable.currentEpoch };
  const { round } = server.replica.membership;
  for (const from of cluster.voters) {
    if (from === server.sid) continue;
    const role = from === leader ? "leading" : "following";
    server.receivedElection(from, {
      kind: "notification",
      role,
      round,
      vote,
      selfZxid: vote.zxid,
      selfEpoch: vote.peerEpoch,
    });
  }
}
