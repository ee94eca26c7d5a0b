import { formatSessionId, type SessionId, sessionIdFromHalves } from "@zooid/model";
import type { Replica } from "@zooid/replica";
import type { AdminView } from "./admin-view.ts";
import { javaDate } from "./java-text.ts";

/** The answer of `dump`: sessions by expiry time, ephemeral nodes by session, and connections. */
export function* sessionDump({ driver }: AdminView): Generator<string, void, undefined> {
  const { replica } = driver;
  const toWall = Date.now() - replica.nowMs;
  yield "SessionTracker dump:\n";
  yield* replica.isLeading ? sessionBuckets(replica, toWall) : globalSessions(replica);
  const ownerCount = yield* countOwners(replica);
  yield `ephemeral nodes dump:\nSessions with Ephemerals (${ownerCount}):\n`;
  for (const owner of owners(replica)) {
    if (owner === undefined) {
      yield "";
      continue;
    }
    const { high, low } = owner;
    yield `${formatSessionId(sessionIdFromHalves(high, low))}:\n`;
    for (const path of replica.tree.listEphemerals(high, low)) yield `\t${path}\n`;
  }
  const { connectionCount } = replica;
  yield `Connections dump:\nConnections Sets (1)/(${connectionCount}):\n`;
  yield `${connectionCount} expire at ${javaDate(toWall + replica.nowMs)}:\n`;
  for (const connection of driver.connections()) {
    const session = replica.connection(connection.ref)?.session;
    const sid = session === undefined ? "0x0" : formatSessionId(session.id);
    yield `\tip: ${connection.peer} sessionId: ${sid}\n`;
  }
}

/** Sessions that own ephemeral nodes; undefined stands for a step that met none. */
export function* owners({
  tree,
}: Replica): Generator<{ readonly high: number; readonly low: number } | undefined, void, undefined> {
  for (const session of tree.listSessions()) {
    yield session === undefined || tree.ephemeralCountOf(session.high, session.low) === 0 ? undefined : session;
  }
}

/**
 * Borders in milliseconds, soonest first, with the sessions that expire there unless they are
 * touched.
 */
export function* expiryBuckets({
  sessions,
}: Replica): Generator<string, readonly (readonly [borderMs: number, ids: readonly SessionId[]])[], undefined> {
  const byBorder = new Map<number, SessionId[]>();
  for (const session of sessions.values()) {
    const border = sessions.expiryMs(session);
    const bucket = byBorder.get(border);
    if (bucket === undefined) byBorder.set(border, [session.id]);
    else bucket.push(session.id);
    yield "";
  }
  return [...byBorder].sort(([a], [b]) => a - b);
}

function* countOwners(replica: Replica): Generator<string, number, undefined> {
  let count = 0;
  for (const owner of owners(replica)) {
    if (owner !== undefined) count++;
    yield "";
  }
  return count;
}

function* sessionBuckets(replica: Replica, toWall: number): Generator<string, void, undefined> {
  const buckets = yield* expiryBuckets(replica);
  yield `Session Sets (${buckets.length})/(${replica.sessions.size}):\n`;
  for (const [borderMs, ids] of buckets) {
    yield `${ids.length} expire at ${javaDate(borderMs + toWall)}:\n`;
    for (const id of ids) yield `\t${formatSessionId(id)}\n`;
  }
}

/** A learner knows the sessions, but not when they expire. */
function* globalSessions({ tree }: Replica): Generator<string, void, undefined> {
  yield `Global Sessions(${tree.sessionCount}):\n`;
  for (const session of tree.listSessions()) {
    yield session === undefined
      ? ""
      : `${formatSessionId(sessionIdFromHalves(session.high, session.low))}\t${session.timeoutMs}ms\n`;
  }
}
