import type { SimClient } from "../clients/sim-client.ts";
import { Violation } from "./violation.ts";

/** Longer than the slices of a transaction and the turns of a server with much to answer take. */
const READ_LIMIT_MS = 800;

/**
 * L4: a read with no request before it waits for nothing but its server. A server that has read
 * such a request, serves and is not paused has answered it, or ends the connection.
 *
 * @param isEnding whether the end of the client's session is decided: its requests are dropped then
 */
export function checkUnanswered(client: SimClient, nowMs: number, isEnding: boolean): void {
  const { connection, tenant, name } = client;
  const [head] = client.inFlight;
  if (connection === undefined || tenant !== undefined || isEnding) return;
  if (head?.readMs === undefined || head.request.kind !== "read" || head.request.read.kind === "sync") return;
  const { server, ref, isSilent } = connection;
  const sinceMs = Math.max(head.readMs, server.resumedMs);
  if (isSilent || !server.isServing || server.isPaused || server.isStalled(ref) || server.replica.isApplying) return;
  if (nowMs - sinceMs <= READ_LIMIT_MS) return;
  const forMs = Math.floor(nowMs - sinceMs);
  throw new Violation("L4", `server ${server.sid} has not answered the read ${head.xid} of ${name} for ${forMs} ms`);
}
