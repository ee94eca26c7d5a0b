import type { ServerSummary } from "@zooid/embedded-server";
import { counted, formatZxid } from "@zooid/model";

/**
 * How a server stands, as one line:
 * `following server 3, epoch 5, zxid 0x500000001, 12 connections, …`.
 */
export function statusLine(summary: ServerSummary): string {
  const { role, epoch, leader, appliedZxid, room, unreachablePeers } = summary;
  const { connectionCount, sessionCount, znodeCount, watchCount, outstandingCount } = summary;
  const place = leader === undefined || role === "leading" ? role : `${role} server ${leader}`;
  const disk = room === "enough" ? "" : `; the disk has ${room === "full" ? "no" : "little"} room`;
  const peers = unreachablePeers.map(({ sid, address, reason }) => `; server ${sid} at ${address}: ${reason}`);
  return (
    `${place}, epoch ${epoch}, zxid ${formatZxid(appliedZxid)}, ${counted(connectionCount, "connection")}, ${counted(sessionCount, "session")}, ` +
    `${counted(znodeCount, "znode")}, ${counted(watchCount, "watch", "watches")}, ${counted(outstandingCount, "outstanding request")}${disk}${peers.join("")}`
  );
}
