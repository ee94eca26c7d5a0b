import { ErrorCode, OpCode, type SessionId, sessionIdFromHalves, type TxnHeader, type Zxid } from "@zooid/model";
import type { Connection } from "../connections/connection.ts";
import type { WriteParts } from "../parts/writes.ts";
import type { Session } from "./session-tracker.ts";
import type { Sessions } from "./sessions.ts";

interface Parts extends WriteParts {
  readonly sessions: Sessions;
}

/** A close of which a part is committed: its client is answered with the last part. */
interface UnansweredClose {
  readonly connection: Connection;
  readonly xid: number;
  readonly receivedMs: number;
}

/** The outcome of a request to end a session: `ending`, its end is decided and not committed. */
export type SessionEnding = "ended" | "ending" | "unknown" | "not-leading";

/**
 * Path bytes of the transactions of one turn, as a multiple of those that one transaction may hold.
 */
const FULL_TRANSACTIONS_PER_TURN = 2;

/**
 * Ends sessions: the leader proposes the ends, in parts where a session has many ephemerals, and
 * every server closes the connection of a session whose end it applies.
 */
export class SessionEnds {
  readonly #parts: Parts;
  readonly #unansweredCloses = new Map<SessionId, UnansweredClose>();
  /** Decided ends that are not proposed, or only in part, in order: some are proposed each turn. */
  readonly #pending = new Map<SessionId, Pick<Session, "idHigh" | "idLow">>();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Ends the sessions of at most one due bucket. */
  expire(): void {
    const { servingState, sessions, counters } = this.#parts;
    sessions.tracker.expire(servingState.nowMs, (session) => {
      if (session.isLocal) {
        counters.values.expiredSessions++;
        sessions.disconnectHolder(session);
        sessions.tracker.remove(session);
        return;
      }
      // rule: the-leader-alone-ends-sessions
      if (!servingState.isLeading) return;
      counters.values.expiredSessions++;
      session.closing = true;
      this.add(session);
    });
    this.propose();
  }

  /**
   * Ends one session before its timeout, for an operator; `unknown` if there is none. The leader
   * ends sessions of the ensemble, and each server those that only it has.
   */
  endNow(id: SessionId): SessionEnding {
    const { servingState, sessions } = this.#parts;
    const session = sessions.get(id);
    if (session === undefined) return "unknown";
    if (session.isLocal) {
      sessions.disconnectHolder(session);
      sessions.tracker.remove(session);
      return "ended";
    }
    if (!servingState.isLeading) return "not-leading";
    if (session.closing) return "ending";
    session.closing = true;
    this.add(session);
    this.propose();
    return "ending";
  }

  /** The end of a session is decided, or is to be continued. */
  add(session: Pick<Session, "idHigh" | "idLow">): void {
    this.#pending.set(sessionIdFromHalves(session.idHigh, session.idLow), session);
    this.#parts.postponed.mark();
  }

  /** Whether {@link propose} has something to do. */
  get hasPending(): boolean {
    return this.#pending.size > 0;
  }

  /** Proposes decided ends, as many as one turn may: thousands of sessions may expire at once. */
  propose(): void {
    const { config, tools, proposer } = this.#parts;
    if (proposer.isPreparing) return;
    const { endOpCountPerTurn, closePathBytesMax } = config;
    const { batcher } = tools;
    const opCountBefore = proposer.opCount;
    const bytesBefore = batcher.sizeBytes;
    for (const [id, session] of this.#pending) {
      if (proposer.opCount - opCountBefore >= endOpCountPerTurn) break;
      if (batcher.sizeBytes - bytesBefore >= FULL_TRANSACTIONS_PER_TURN * closePathBytesMax) break;
      this.#propose(id, session);
    }
  }

  /**
   * Proposes the end of a session at once, if it is decided and not proposed. A write is refused
   * for an end that is ordered before it:
   *
   * 1. The leader S1 decides that a session has expired, and cannot propose its end yet, since a
   * multi is being prepared.
   * 2. A write of the session comes by S2. S1 refuses it, and the refusal is committed.
   * 3. S1 crashes. The next leader does not know of the end: the client has the answer that its
   * session has expired, and the session lives.
   */
  proposeAtOnce({ id }: Session): void {
    const session = this.#pending.get(id);
    if (session !== undefined) this.#propose(id, session);
  }

  #propose(id: SessionId, session: Pick<Session, "idHigh" | "idLow">): void {
    const { proposer, inFlightWrites } = this.#parts;
    this.#pending.delete(id);
    const sequence = inFlightWrites.issueWithoutClient(OpCode.CLOSE_SESSION);
    proposer.closeSession(inFlightWrites.requester(session, 0, OpCode.CLOSE_SESSION, sequence));
  }

  /**
   * A transaction is applied that removes a part of a session's ephemerals and does not end it yet.
   *
   * @param closing the connection of this server whose client closes the session, if there is one
   */
  partlyEnded({ sessionHigh, sessionLow }: TxnHeader, closing: Connection | undefined): void {
    const { servingState, sessions, connections, inFlightWrites } = this.#parts;
    const id = sessionIdFromHalves(sessionHigh, sessionLow);
    if (closing !== undefined) {
      const { xid, receivedMs } = inFlightWrites;
      this.#unansweredCloses.set(id, { connection: closing, xid, receivedMs });
    }
    const holder = sessions.holderOf(sessions.get(id));
    if (holder !== undefined && holder !== this.#unansweredCloses.get(id)?.connection) connections.close(holder);
    // rule: an-end-continues-behind-its-first-part
    if (servingState.isLeading) this.add({ idHigh: sessionHigh, idLow: sessionLow });
  }

  /**
   * The transaction is applied that ends a session.
   *
   * @param closing the connection of this server whose client closes the session, if there is one
   */
  ended(header: TxnHeader, closing: Connection | undefined): void {
    const { sessions, connections, endingSessions, inFlightWrites } = this.#parts;
    const id = sessionIdFromHalves(header.sessionHigh, header.sessionLow);
    const session = sessions.get(id);
    endingSessions.ended(id);
    const holder = sessions.holderOf(session);
    if (session !== undefined) sessions.tracker.remove(session);
    const { xid, receivedMs } = inFlightWrites;
    const close = closing === undefined ? this.#unansweredCloses.get(id) : { connection: closing, xid, receivedMs };
    this.#unansweredCloses.delete(id);
    if (close !== undefined) this.#answerClose(close, header.zxid);
    // rule: an-end-closes-the-connection
    if (holder !== undefined && holder !== close?.connection) connections.close(holder);
  }

  #answerClose({ connection, xid, receivedMs }: UnansweredClose, zxid: Zxid): void {
    const { sinks, counters, connections } = this.#parts;
    // Another connection may have its number by now.
    if (connection.gone) return;
    sinks.replies.header(connection.ref, xid, zxid, ErrorCode.OK);
    counters.answered(connection, OpCode.CLOSE_SESSION, xid, zxid, receivedMs);
    connections.close(connection);
  }

  /** The role has ended: the next leader proposes the ends. */
  clear(): void {
    this.#unansweredCloses.clear();
    this.#pending.clear();
  }
}
