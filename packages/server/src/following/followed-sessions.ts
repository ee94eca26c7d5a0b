import type { SessionTouch } from "@zooid/apache-peer";
import type { DataTree } from "@zooid/data-tree";
import { sessionIdFromHalves } from "@zooid/model";

/** The sessions of the followed ensemble. */
export interface FollowedSessions {
  readonly count: number;
  /** Undefined where there is no session. */
  readonly shortestTimeoutMs: number | undefined;
}

/** Counts the sessions, in steps. */
export function* countSessions(tree: DataTree): Generator<void, FollowedSessions, undefined> {
  let count = 0;
  let shortestMs = Number.POSITIVE_INFINITY;
  for (const session of tree.listSessions()) {
    // The timeout 0 marks a session that is ending.
    if (session !== undefined && session.timeoutMs > 0) {
      count++;
      shortestMs = Math.min(shortestMs, session.timeoutMs);
    }
    yield;
  }
  return { count, shortestTimeoutMs: count === 0 ? undefined : shortestMs };
}

/**
 * Every session with its timeout, in steps.
 *
 * @param take gets them in groups
 * @returns the number of sessions
 */
export function* touchSessions(
  tree: DataTree,
  take: (touches: readonly SessionTouch[]) => void,
): Generator<void, number, undefined> {
  let count = 0;
  let touches: SessionTouch[] = [];
  for (const session of tree.listSessions()) {
    if (session !== undefined && session.timeoutMs > 0) {
      touches.push({ id: sessionIdFromHalves(session.high, session.low), timeoutMs: session.timeoutMs });
      count++;
    }
    if (touches.length === GROUP) {
      take(touches);
      touches = [];
    }
    yield;
  }
  if (touches.length > 0) take(touches);
  return count;
}

const GROUP = 10_000;
