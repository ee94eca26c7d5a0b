import { formatSessionId, type SessionId, sessionIdFromHalves } from "@zooid/model";
import type { Replica } from "@zooid/replica";
import type { AdminView } from "./admin-view.ts";
import { javaDate } from "./java-text.ts";

/** The answer of `dump`: sessions by expiry time, ephemeral nodes by session, and connections. */
export function sessionDump({ driver }: AdminView): string {
  const { replica } = driver;
  const toWall = Date.now() - replica.nowMs;
  let text = `SessionTracker dump:\n${replica.isLeading ? sessionBuckets(replica, toWall) : globalSessions(replica)}`;
  const owners = ephemeralOwners(replica).map(
    ([id, paths]) => `${formatSessionId(id)}:\n${paths.map((path) => `\t${path}\n`).join("")}`,
  );
  text += `ephemeral nodes dump:\nSessions with Ephemerals (${owners.length}):\n${owners.join("")}`;
  const connections = [...driver.connections()];
  text += `Connections dump:\nConnections Sets (1)/(${connections.length}):\n`;
  text += `${connections.length} expire at ${javaDate(toWall + replica.nowMs)}:\n`;
  for (const connection of connections) {
    const session = replica.connection(connection.ref)?.session;
    const sid = session === undefined ? "0x0" : formatSessionId(session.id);
    text += `\tip: ${connection.peer} sessionId: ${sid}\n`;
  }
  return text;
}

/** Sessions that own ephemeral nodes, with those nodes. */
export function ephemeralOwners({ tree }: Replica): readonly (readonly [id: SessionId, paths: readonly string[]])[] {
  const owners: (readonly [SessionId, readonly string[]])[] = [];
  tree.forEachSession((high, low) => {
    const paths = tree.ephemeralPaths(high, low);
    if (paths.length > 0) owners.push([sessionIdFromHalves(high, low), paths]);
  });
  return owners;
}

function sessionBuckets({ sessions }: Replica, toWall: number): string {
  const buckets = sessions.buckets();
  let text = `Session Sets (${buckets.length})/(${sessions.size}):\n`;
  for (const { borderMs, sessions: due } of buckets) {
    text += `${due.length} expire at ${javaDate(borderMs + toWall)}:\n`;
    for (const session of due) text += `\t${formatSessionId(session.id)}\n`;
  }
  return text;
}

/** A learner knows the sessions, but not when they expire. */
function globalSessions({ tree }: Replica): string {
  let text = `Global Sessions(${tree.sessionCount}):\n`;
  tree.forEachSession((high, low, timeoutMs) => {
    text += `${formatSessionId(sessionIdFromHalves(high, low))}\t${timeoutMs}ms\n`;
  });
  return text;
}
