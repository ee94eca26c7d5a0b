import {
  type ByteSlice,
  copySlice,
  PASSWORD_HASH_BYTES,
  type SessionId,
  sessionIdHigh,
  sessionIdLow,
} from "@zooid/model";
import type { Connection } from "../connections/connection.ts";
import type { WriteParts } from "../parts/writes.ts";
import type { ConnectRequests } from "./connect-requests.ts";
import { hasPassword, isEnding, mayRenew } from "./session-password.ts";
import type { Session } from "./session-tracker.ts";
import type { Sessions } from "./sessions.ts";

interface Parts extends WriteParts {
  readonly sessions: Sessions;
  readonly connectRequests: ConnectRequests;
}

/** A session's revalidation by the leader that is not answered. */
interface Revalidation {
  /** Not its number, which another connection may have by the time of the answer. */
  readonly connection: Connection;
  readonly session: SessionId;
  readonly passwordHash: Uint8Array;
  readonly timeoutMs: number;
}

/**
 * Renews sessions of clients that reconnect. The leader decides whether a session lives, and which
 * server has it from now on; a learner sends it a revalidation.
 *
 * A client learns that its session is over only once that cannot change any more:
 * - the end was decided and is not committed: see `EndingSessions`;
 * - the leader does not know the session: see `UnconfirmedRefusals`.
 */
export class SessionRenewal {
  readonly #parts: Parts;
  readonly #revalidations = new Map<number, Revalidation>();
  #sequence = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Revalidations that the leader has not answered. */
  get waitingCount(): number {
    return this.#revalidations.size;
  }

  renew(connection: Connection, id: SessionId, password: Readonly<ByteSlice>, timeoutMs: number): void {
    const { tools, servingState, sessions } = this.#parts;
    const { bytes, start, end } = password;
    // The hash is computed for an unknown id too: the time of the answer does not show which ids
    // exist.
    const passwordHash = tools.hashes.sha256(bytes.subarray(start, end)).slice(0, PASSWORD_HASH_BYTES);
    connection.password = copySlice(password);
    const session = sessions.get(id);
    if (session?.isLocal === true || servingState.isReadOnly) {
      this.#renewLocal(connection, session, passwordHash, timeoutMs);
    } else if (servingState.isLeading) this.#renewAsLeader(connection, id, passwordHash, timeoutMs);
    else this.#revalidate(connection, id, passwordHash, timeoutMs);
  }

  #renewLocal(connection: Connection, session: Session | undefined, passwordHash: Uint8Array, timeoutMs: number): void {
    const { sessions, connectRequests } = this.#parts;
    if (!mayRenew(session, passwordHash)) {
      connectRequests.refuse(connection);
      return;
    }
    sessions.tracker.setTimeout(session, timeoutMs);
    connectRequests.accept(connection, session);
  }

  #renewAsLeader(connection: Connection, id: SessionId, passwordHash: Uint8Array, timeoutMs: number): void {
    const { config, sessions, connectRequests, endingSessions } = this.#parts;
    const session = sessions.get(id);
    if (isEnding(session, passwordHash)) {
      connection.phase = "renewing";
      endingSessions.add(id, undefined, () => this.#refuseIfRenewing(connection));
      return;
    }
    if (!mayRenew(session, passwordHash)) {
      this.#refuseOnceConfirmed(connection);
      return;
    }
    session.owner = config.sid;
    sessions.tracker.setTimeout(session, timeoutMs);
    connectRequests.accept(connection, session);
  }

  /**
   * Asks the leader. An earlier connection of the session is closed first, so that nothing of it
   * follows the revalidation to the leader S1:
   *
   * 1. A client of S2 sends a write and, without waiting, connects to S2 again. S2 reads the
   *    connect request first, and sends the revalidation.
   * 2. If S2 then forwarded the write, too, both would travel on a slow link.
   * 3. The client gives up and renews its session at S1, and its next write is committed.
   * 4. The revalidation reaches S1, and S2 has the session again.
   *
   * So S1 would carry out the write behind it after a later write of the same session.
   */
  #revalidate(connection: Connection, id: SessionId, passwordHash: Uint8Array, timeoutMs: number): void {
    const { sessions, forwarder } = this.#parts;
    connection.phase = "renewing";
    const session = sessions.get(id);
    if (hasPassword(session, passwordHash)) sessions.disconnectHolder(session);
    const sequence = ++this.#sequence;
    this.#revalidations.set(sequence, { connection, session: id, passwordHash, timeoutMs });
    forwarder.send({
      kind: "revalidate",
      sequence,
      sessionHigh: sessionIdHigh(id),
      sessionLow: sessionIdLow(id),
      timeoutMs,
      passwordHash,
    });
  }

  /** The leader's answer to a revalidation. */
  revalidated(sequence: number, isValid: boolean): void {
    const { servingState, sessions, connectRequests } = this.#parts;
    const revalidation = this.#revalidations.get(sequence);
    this.#revalidations.delete(sequence);
    if (revalidation === undefined) return;
    const { connection, session: id, passwordHash, timeoutMs } = revalidation;
    if (connection.gone || connection.phase !== "renewing") return;
    if (!isValid) {
      connectRequests.refuse(connection);
      return;
    }
    const { tracker } = sessions;
    const session =
      tracker.get(id) ?? tracker.add(id, sessionIdHigh(id), sessionIdLow(id), timeoutMs, servingState.nowMs);
    session.timeoutMs = timeoutMs;
    session.passwordHash = passwordHash;
    // The leader S1 has refused a close that this server, S2, forwarded earlier:
    // 1. The client sends a close to S2, loses its connection, and renews the session at S3.
    // 2. The close reaches S1, which refuses it with SESSION_MOVED, for S3 has the session now.
    // 3. The client comes back to S2, whose table still says that the session is closing.
    // If S1 had accepted the close, it would not have called the session valid.
    session.closing = false;
    connectRequests.accept(connection, session);
  }

  #refuseOnceConfirmed(connection: Connection): void {
    const { config, zab, connectRequests, unconfirmedRefusals } = this.#parts;
    if (config.ensemble === undefined) {
      connectRequests.refuse(connection);
      return;
    }
    connection.phase = "renewing";
    unconfirmedRefusals.add(zab.checkLeadership(), undefined, () => this.#refuseIfRenewing(connection));
  }

  #refuseIfRenewing(connection: Connection): void {
    if (!connection.gone && connection.phase === "renewing") this.#parts.connectRequests.refuse(connection);
  }

  /** The role has ended: the leader's answers do not come any more. */
  clear(): void {
    this.#revalidations.clear();
  }
}
