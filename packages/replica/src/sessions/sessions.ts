import { type SessionId, sessionIdFromHalves, type Touch } from "@zooid/model";
import type { Connection } from "../connections/connection.ts";
import type { WriteParts } from "../parts/writes.ts";
import type { SessionEnds } from "./session-ends.ts";
import { type Session, SessionTracker } from "./session-tracker.ts";

interface Parts extends WriteParts {
  readonly sessionEnds: SessionEnds;
}

/**
 * The sessions that this server knows. The leader's table holds every session of the ensemble, and
 * the leader alone ends them; another server's table holds those whose clients are connected to it,
 * and reports at each ping which of them it has heard from. Local sessions are known to one server
 * only, which ends them.
 */
export class Sessions {
  readonly #parts: Parts;
  #tracker: SessionTracker;
  #touchesReportedMs = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#tracker = new SessionTracker(parts.config.tickMs, 0);
  }

  get tracker(): SessionTracker {
    return this.#tracker;
  }

  /** Sessions that only this server knows. */
  get localCount(): number {
    let count = 0;
    for (const session of this.#tracker.values()) if (session.isLocal) count++;
    return count;
  }

  /** A role begins or has ended: forgets all sessions. */
  reset(): void {
    const { config, servingState } = this.#parts;
    this.#tracker = new SessionTracker(config.tickMs, servingState.nowMs);
    this.#touchesReportedMs = servingState.nowMs;
  }

  /**
   * A leader takes over every session of the ensemble. Each lives its full timeout again, unless a
   * part of its end is applied: then the leader continues the end. While the ensemble serves no
   * clients, no session expires, and none is ended.
   */
  takeOver(): void {
    const { tree, servingState, sessionEnds, zab } = this.#parts;
    if (zab.members.areClientsClosed) return;
    tree.forEachSession((high, low, timeoutMs) => {
      const id = sessionIdFromHalves(high, low);
      const session = this.#tracker.add(id, high, low, timeoutMs, servingState.nowMs);
      session.passwordHash = tree.sessionPasswordHash(high, low);
      if (!tree.isSessionEnding(high, low)) return;
      session.closing = true;
      // rule: the-next-leader-continues-ends
      sessionEnds.add(session);
    });
  }

  /** At the leader: a learner's client creates a session. */
  open(session: Pick<Session, "id" | "idHigh" | "idLow" | "timeoutMs" | "owner" | "passwordHash">): void {
    const { id, idHigh, idLow, timeoutMs } = session;
    const added = this.#tracker.add(id, idHigh, idLow, timeoutMs, this.#parts.servingState.nowMs);
    added.owner = session.owner;
    added.passwordHash = session.passwordHash;
  }

  /** At the leader: a client has moved to a learner with this session. */
  moveTo(owner: Session["owner"], session: Session, timeoutMs: number): void {
    this.disconnectHolder(session);
    session.owner = owner;
    session.touchedMs = this.#parts.servingState.nowMs;
    this.#tracker.setTimeout(session, timeoutMs);
  }

  /** The connection of this server that holds a session. */
  holderOf(session: Session | undefined): Connection | undefined {
    return session?.connection === undefined ? undefined : this.#parts.connections.get(session.connection);
  }

  disconnectHolder(session: Session): void {
    const holder = this.holderOf(session);
    if (holder !== undefined) this.#parts.connections.close(holder);
  }

  // Touches

  /**
   * At a learner: the sessions heard from since the last call. Those without a client are
   * forgotten.
   */
  takeTouches(): readonly Touch[] {
    const touches: Touch[] = [];
    for (const session of this.#tracker.values()) {
      if (session.isLocal) continue;
      if (session.touchedMs >= this.#touchesReportedMs) {
        touches.push({ sessionHigh: session.idHigh, sessionLow: session.idLow, timeoutMs: session.timeoutMs });
      }
      if (session.connection === undefined) this.#tracker.remove(session);
    }
    this.#touchesReportedMs = this.#parts.servingState.nowMs;
    // rule: pongs-report-touches
    return touches;
  }

  /** At the leader: a learner has heard from these sessions. */
  touched(touches: readonly Touch[]): void {
    const { servingState } = this.#parts;
    if (!servingState.isLeading) return;
    for (const { sessionHigh, sessionLow } of touches) {
      const session = this.#tracker.get(sessionIdFromHalves(sessionHigh, sessionLow));
      if (session !== undefined && !session.closing) session.touchedMs = servingState.nowMs;
    }
  }

  get(id: SessionId): Session | undefined {
    return this.#tracker.get(id);
  }
}
