import type { HandshakeFault, PeerIdentity } from "./handshake.ts";

/** The server that a connection is from, and where it says that it is. */
export type ConnectedStart = Pick<PeerIdentity, "bootCount" | "startId" | "host">;

/**
 * Why a server is refused that says the number of one that is connected: it is another start of it.
 * Each start of a data directory counts one more, so a later one takes the place of an earlier one,
 * and neither an earlier one nor a second one with the same count is the same server:
 *
 * 1. The data directory of S3 is copied to another host, with its number.
 * 2. Both run. Each connection of one replaced that of the other, and neither served.
 *
 * @param old the connection that is there
 */
export function secondHost(sid: number, old: ConnectedStart, other: ConnectedStart): HandshakeFault | undefined {
  if (other.bootCount > old.bootCount) return undefined;
  const isSameStart = other.startId === "" || old.startId === "" || other.startId === old.startId;
  if (other.bootCount === old.bootCount && isSameStart) return undefined;
  const where = (start: ConnectedStart): string =>
    `${start.host === "" ? "an unknown host" : start.host}, start ${start.bootCount}`;
  return {
    reason: "configuration",
    text:
      `another server runs as server ${sid} already (${where(old)}; this one: ${where(other)}): two have this number in myid, or a data directory ` +
      "was copied. Stop the one that is not meant",
  };
}
