import { assert, OpCode, PASSWORD_HASH_BYTES, type SessionId, sessionIdHigh, sessionIdLow } from "@zooid/model";
import type { Connection } from "../connections/connection.ts";
import type { WriteParts } from "../parts/writes.ts";
import type { ConnectRequests } from "./connect-requests.ts";
import { newSessionId } from "./session-id.ts";
import type { Session } from "./session-tracker.ts";
import type { Sessions } from "./sessions.ts";

interface Parts extends WriteParts {
  readonly sessions: Sessions;
  readonly connectRequests: ConnectRequests;
}

/** Number of session ids after which their counters repeat. */
const SESSIONS_PER_START = 2 ** 28;

/** Creates sessions: those of the ensemble by a transaction, local ones at once. */
export class SessionCreation {
  readonly #parts: Parts;
  #bootCount = 0;
  #counter = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** @param bootCount makes ids differ from those of every earlier start */
  startAlone(bootCount: number): void {
    this.#bootCount = bootCount;
  }

  /**
   * As {@link startAlone}; a random offset keeps ids unique if the boot counter was lost with the
   * disk.
   */
  startAmongOthers(bootCount: number): void {
    this.#bootCount = bootCount;
    this.#counter = Math.floor(this.#parts.tools.random() * SESSIONS_PER_START);
  }

  /** @param secret 16 random bytes, the password, and two more that make the id hard to guess */
  create(connection: Connection, timeoutMs: number, secret: Uint8Array): void {
    const { config, tools, servingState, sessions, connectRequests, inFlightWrites } = this.#parts;
    const id = this.#freeId(((secret[16] ?? 0) << 8) | (secret[17] ?? 0));
    const password = secret.slice(0, 16);
    const session = sessions.tracker.add(id, sessionIdHigh(id), sessionIdLow(id), timeoutMs, servingState.nowMs);
    session.passwordHash = tools.hashes.sha256(password).slice(0, PASSWORD_HASH_BYTES);
    connection.password = password;
    if (servingState.isReadOnly || config.ensemble?.localSessions === true) {
      session.isLocal = true;
      connectRequests.accept(connection, session);
      return;
    }
    session.connection = connection.ref;
    connection.session = session;
    connection.phase = "creating";
    this.#propagate(session, inFlightWrites.issue(connection, 0, OpCode.CREATE_SESSION, 0));
  }

  /**
   * The next id that no session has. Those of an imported state were made by other servers, which
   * may have this one's number.
   */
  #freeId(random: number): SessionId {
    const { config, sessions, tree } = this.#parts;
    for (;;) {
      const id = newSessionId({ sid: config.sid, bootCount: this.#bootCount, counter: ++this.#counter, random });
      if (sessions.get(id) !== undefined || tree.isSessionIdTaken(sessionIdHigh(id), sessionIdLow(id))) continue;
      return id;
    }
  }

  /** A local session becomes one of the ensemble, which also ends it from now on. */
  upgrade(session: Session): void {
    session.isLocal = false;
    this.#propagate(session, this.#parts.inFlightWrites.issueWithoutClient(OpCode.CREATE_SESSION));
  }

  /** Proposes the creation of a session, or sends it to the leader. */
  #propagate(session: Session, sequence: number): void {
    const { config, servingState, inFlightWrites, proposer, forwarder } = this.#parts;
    const { timeoutMs, passwordHash } = session;
    assert(passwordHash !== undefined, "the server that creates a session has its password");
    if (servingState.isLeading) {
      session.owner = config.sid;
      const requester = inFlightWrites.requester(session, 0, OpCode.CREATE_SESSION, sequence);
      proposer.createSession(requester, timeoutMs, passwordHash);
      return;
    }
    forwarder.send({
      kind: "open-session",
      sequence,
      sessionHigh: session.idHigh,
      sessionLow: session.idLow,
      timeoutMs,
      passwordHash,
    });
  }

  /** The transaction is applied that creates the session of a client of this server. */
  created(connection: Connection, timeoutMs: number): void {
    if (connection.phase !== "creating" || connection.session === undefined) return;
    this.#parts.connectRequests.open(connection, timeoutMs, false);
    this.#parts.sinks.resume(connection.ref);
  }
}
