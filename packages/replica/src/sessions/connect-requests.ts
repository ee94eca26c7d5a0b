import { assert, type ConnectRequest, OpCode, SESSION_NONE, sessionIdHigh, sessionIdLow } from "@zooid/model";
import type { Connection } from "../connections/connection.ts";
import type { WriteParts } from "../parts/writes.ts";
import type { SessionCreation } from "./session-creation.ts";
import type { SessionRenewal } from "./session-renewal.ts";
import type { Session } from "./session-tracker.ts";
import type { Sessions } from "./sessions.ts";

interface Parts extends WriteParts {
  readonly sessions: Sessions;
  readonly sessionCreation: SessionCreation;
  readonly sessionRenewal: SessionRenewal;
}

const NO_PASSWORD = { bytes: new Uint8Array(16), start: 0, end: 16 };

/**
 * Receives the connect requests of clients, and answers those that open or renew a session at once.
 */
export class ConnectRequests {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** @param secret 16 random bytes, the password of a created session, and two more for its id */
  receive(connection: Connection, request: ConnectRequest, secret: Uint8Array): void {
    const { config, connections, servingState, sessionCreation, sessionRenewal } = this.#parts;
    if (!this.#takes(request) || request.lastZxidSeen > servingState.visible) {
      // Closed without an answer: the client keeps its session and tries another server. This one
      // has no quorum, or has not applied what the client has seen.
      connections.close(connection);
      return;
    }
    const { sessionTimeoutMsMin, sessionTimeoutMsMax } = config;
    const timeoutMs = Math.min(Math.max(request.timeoutMs, sessionTimeoutMsMin), sessionTimeoutMsMax);
    if (request.sessionId === SESSION_NONE) sessionCreation.create(connection, timeoutMs, secret);
    else sessionRenewal.renew(connection, request.sessionId, request.password, timeoutMs);
  }

  /** Whether this server serves the client now. */
  #takes({ readOnly, sessionId }: ConnectRequest): boolean {
    const { config, servingState, tree, zab } = this.#parts;
    const { isServing, isLeading, isReadOnly } = servingState;
    // rule: no-session-while-clients-are-closed
    if (zab.members.areClientsClosed) return false;
    if (isServing) return !isLeading || config.ensemble?.leaderServes !== false;
    // A session of the ensemble may be alive on the other side of a partition.
    return isReadOnly && readOnly === true && !tree.hasSession(sessionIdHigh(sessionId), sessionIdLow(sessionId));
  }

  /** The connection has the session from now on; another connection that had it is closed. */
  accept(connection: Connection, session: Session): void {
    const { sessions, servingState, sinks } = this.#parts;
    sessions.disconnectHolder(session);
    session.connection = connection.ref;
    session.touchedMs = servingState.nowMs;
    connection.session = session;
    this.open(connection, session.timeoutMs, servingState.isReadOnly);
    this.#countAnswer(connection);
    sinks.resume(connection.ref);
  }

  /** Answers with the session and its password, and lets the connection send requests. */
  open(connection: Connection, timeoutMs: number, isReadOnly: boolean): void {
    const { session, password } = connection;
    assert(session !== undefined && password !== undefined, "a connection that opens has its session and password");
    connection.password = undefined;
    connection.phase = "open";
    this.#parts.sinks.replies.connected(connection.ref, {
      timeoutMs,
      session: session.id,
      password: { bytes: password, start: 0, end: password.length },
      isReadOnly,
    });
  }

  /** Answers that the session is over. */
  refuse(connection: Connection): void {
    const { sinks, servingState, connections } = this.#parts;
    sinks.replies.connected(connection.ref, {
      timeoutMs: 0,
      session: SESSION_NONE,
      password: NO_PASSWORD,
      isReadOnly: servingState.isReadOnly,
    });
    this.#countAnswer(connection);
    connections.close(connection);
  }

  #countAnswer(connection: Connection): void {
    const { servingState, counters } = this.#parts;
    counters.answered(connection, OpCode.CREATE_SESSION, -1, servingState.visible, servingState.nowMs);
  }
}
