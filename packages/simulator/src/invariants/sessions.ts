import {
  type ConnectionRef,
  OpCode,
  type PeerMessage,
  type SessionId,
  sessionIdFromHalves,
  type TxnHeader,
  type TxnOp,
} from "@zooid/model";
import type { SimClient } from "../clients/sim-client.ts";
import type { SimServer } from "../cluster/server.ts";
import type { Committed } from "../model/history.ts";
import { EndedSessions } from "./ended-sessions.ts";
import { SessionOrder } from "./session-order.ts";
import { Touches } from "./touches.ts";
import { Violation } from "./violation.ts";

/**
 * L6: a leader does not expire the session of a client that it heard from within the session
 * timeout.
 */
export function checkExpiry(clients: readonly SimClient[], session: SessionId, zxid: number): void {
  for (const { heardAt, name, session: own, tenant } of clients) {
    // Not everything that a tenant sends is a request of its session.
    if (tenant !== undefined || own !== session || heardAt === undefined) continue;
    const { first, last, forMs, timeoutMs } = heardAt;
    if (zxid < first || zxid > last || forMs >= timeoutMs) continue;
    throw new Violation("L6", `${name}'s session expires ${forMs} ms after the leader heard from it`);
  }
}

/** The life of sessions: their requests' order, their expiry and their end (G2, L6, C10). */
export class SessionInvariants {
  readonly touches: Touches = new Touches();
  readonly order: SessionOrder = new SessionOrder();
  readonly #ended = new EndedSessions();
  /**
   * The leaders that proposed a part of each session's end, which may be lost with them. A deposed
   * one that has not noticed continues an end beside its successor.
   */
  readonly #ending = new Map<SessionId, Set<SimServer>>();

  /** Whether the end of a session was ever proposed. */
  isEnding(session: SessionId): boolean {
    return this.#ending.has(session);
  }

  proposed(server: SimServer, header: Readonly<TxnHeader>): void {
    const { op, cxid, sessionHigh, sessionLow } = header;
    if (op !== OpCode.CLOSE_SESSION) return;
    const session = sessionIdFromHalves(sessionHigh, sessionLow);
    if (cxid > 0) this.order.proposedClose(session, header, server.replica.sessions.get(session)?.owner);
    const leaders = this.#ending.get(session) ?? new Set();
    this.#ending.set(session, leaders);
    const isContinued = leaders.has(server);
    leaders.add(server);
    if (cxid === 0 && !isContinued) this.touches.expired(server, session, server.nowMs);
  }

  /** A transaction of an ordinary client is applied for the first time; its first op. */
  committed(committed: Committed, first: Readonly<TxnOp>, origin: number): void {
    this.order.committed(committed, first, origin);
  }

  /** A server has applied the last part of a session's end. */
  ended(session: SessionId): void {
    this.#ended.applied(session);
  }

  received(server: SimServer, message: PeerMessage): void {
    this.touches.received(server, message, server.nowMs);
  }

  /** @param refs the connections of the server */
  stepped(server: SimServer, refs: () => readonly ConnectionRef[]): void {
    this.#ended.stepped(server, refs);
    this.touches.stepped(server);
  }
}
