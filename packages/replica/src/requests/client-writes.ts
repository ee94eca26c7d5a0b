import {
  type ByteSlice,
  copySlice,
  ErrorCode,
  isEphemeralMode,
  newRequest,
  OpCode,
  PRICES,
  type Request,
} from "@zooid/model";
import type { Admission } from "../connections/admission.ts";
import type { Connection } from "../connections/connection.ts";
import type { SessionParts } from "../parts/sessions.ts";
import { nameCount, pathWork } from "../path-work.ts";
import type { Session } from "../sessions/session-tracker.ts";
import { addsData } from "../writes/additions.ts";
import { longMultiPriceUs, writePriceUs } from "../writes/write-shares.ts";
import type { WaitingRequests } from "./waiting-requests.ts";

interface Parts extends SessionParts {
  readonly admission: Admission;
  readonly waiting: WaitingRequests;
}

/** A multi up to this length is priced by its parts. */
const LOOKED_AT_BYTES = 64 * 1024;

/**
 * Writes of this server's clients: each gets its place among this server's own writes, and then
 * goes to the proposer of this server or is forwarded to the leader. It is answered when its
 * transaction is applied here (`CommitProcessor`).
 */
export class ClientWrites {
  readonly #parts: Parts;
  readonly #part: Request = newRequest();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  write(
    connection: Connection,
    session: Session,
    request: Request,
    frame: Readonly<ByteSlice>,
    isReleased = false,
  ): void {
    const sizeBytes = frame.end - frame.start;
    const { config, counters, tools, sinks, servingState, inFlightWrites, forwarder, proposer, zab } = this.#parts;
    const { op, xid } = request;
    if (servingState.isReadOnly) return this.#refuseReadOnly(connection, session, request);
    if (op !== OpCode.CLOSE_SESSION) {
      try {
        tools.requests.body(request);
      } catch {
        this.#refuse(connection, request, ErrorCode.MARSHALLING_ERROR, frame);
        return;
      }
    }
    const priceUs = this.#priceUs(request, sizeBytes);
    if (!isReleased && this.#mustHold(connection, op, priceUs)) {
      const after = inFlightWrites.nextSequence;
      this.#parts.admission.holdWrite(connection, { frame: copySlice(frame), priceUs, after });
      return;
    }
    if (zab.lacksRoom && addsData(request, tools.requests)) {
      if (!connection.mustWait) counters.values.refusedForRoom++;
      this.#refuse(connection, request, ErrorCode.OPERATION_TIMEOUT, frame);
      return;
    }
    if (session.isLocal && !this.#mayPropose(session, request)) {
      if (op === OpCode.CLOSE_SESSION && !connection.mustWait) {
        this.closeLocalSession(connection, xid, servingState.nowMs);
      } else this.#refuse(connection, request, ErrorCode.EPHEMERAL_ON_LOCAL_SESSION, frame);
      return;
    }
    if (sizeBytes > connection.largestWriteBytes) connection.largestWriteBytes = sizeBytes;
    const sequence = inFlightWrites.issue(connection, xid, op, sizeBytes, priceUs);
    sinks.requested?.(sequence, connection, request);
    if (op === OpCode.CLOSE_SESSION) session.closing = true;
    if (!servingState.isLeading) {
      forwarder.forward(sequence, session, connection, frame);
      return;
    }
    const requester = inFlightWrites.requester(session, xid, op, sequence);
    if (session.owner !== config.sid && !session.isLocal) proposer.refuse(requester, ErrorCode.SESSION_MOVED);
    else if (op === OpCode.CLOSE_SESSION) proposer.closeSession(requester);
    else proposer.write(requester, connection.identities, request, session.isLocal);
  }

  /**
   * Whether a write waits for its share, or a large multi, which takes several turns, for the
   * writes before it:
   *
   * 1. A small write is in the log. A multi of twenty thousand parts arrives.
   * 2. The small write is committed. It could not be applied before all of the multi is prepared.
   */
  #mustHold(connection: Connection, op: number, priceUs: number): boolean {
    const { inFlightWrites, writeShares } = this.#parts;
    if (!writeShares.admits(connection, priceUs)) return true;
    return op === OpCode.MULTI && writeShares.isLarge(priceUs) && inFlightWrites.count > 0;
  }

  /**
   * The price of a write, whose body has been read, until it is applied; the watches that it may
   * fire here are in it.
   */
  #priceUs(request: Request, bytes: number): number {
    const { op, hasPath } = request;
    if (op === OpCode.MULTI) return this.#multiPriceUs(bytes);
    const priceUs = writePriceUs(bytes);
    return !hasPath || op === OpCode.CLOSE_SESSION ? priceUs : priceUs + this.#pathPriceUs(request.path);
  }

  /** The parts of a long multi are not looked at: it is a large write, whatever they are. */
  #multiPriceUs(bytes: number): number {
    if (bytes > LOOKED_AT_BYTES) return longMultiPriceUs(bytes);
    const { requests } = this.#parts.tools;
    let priceUs = writePriceUs(bytes);
    try {
      while (requests.nextPart(this.#part)) {
        priceUs += PRICES.preparedPartUs + PRICES.appliedOpUs;
        if (this.#part.hasPath && this.#part.op !== OpCode.CHECK) priceUs += this.#pathPriceUs(this.#part.path);
      }
    } catch {
      // The proposer refuses an unreadable multi.
    }
    requests.rewindParts();
    return priceUs;
  }

  /**
   * The price that the path of a write adds: the watches that its change may fire, and its length.
   */
  #pathPriceUs(path: Readonly<ByteSlice>): number {
    const { watches } = this.#parts.tree;
    const firedUs = PRICES.firedWatchUs * watches.watchersOf(path);
    const workUs = pathWork(path);
    // A short path costs less than the rest of its write.
    if (workUs === 0) return firedUs;
    return firedUs + PRICES.pathOfWriteTimes * workUs + watches.ancestorWork(path.end - path.start, nameCount(path));
  }

  /** The client closes its local session. */
  closeLocalSession(connection: Connection, xid: number, receivedMs: number): void {
    const { sinks, counters, connections, servingState, sessions } = this.#parts;
    const { session } = connection;
    const { visible } = servingState;
    sinks.replies.header(connection.ref, xid, visible, ErrorCode.OK);
    counters.answered(connection, OpCode.CLOSE_SESSION, xid, visible, receivedMs);
    connections.close(connection);
    if (session !== undefined) sessions.tracker.remove(session);
  }

  /** Why a readable write was refused that waited for its turn; its body is read. */
  refusalOf({ session }: Connection, request: Request): ErrorCode {
    const mayUpgrade = this.#parts.config.ensemble?.localSessionsUpgrading === true;
    if (session?.isLocal === true && !mayUpgrade && this.#createsEphemeral(request)) {
      return ErrorCode.EPHEMERAL_ON_LOCAL_SESSION;
    }
    this.#parts.counters.values.refusedForRoom++;
    return ErrorCode.OPERATION_TIMEOUT;
  }

  /**
   * Refuses a write without a transaction. Where it has to wait, its frame is read again in its
   * turn.
   */
  #refuse(connection: Connection, { op, xid }: Request, code: ErrorCode, frame: Readonly<ByteSlice>): void {
    const { sinks, counters, servingState, waiting } = this.#parts;
    if (connection.mustWait) {
      waiting.wait(connection, frame);
      return;
    }
    sinks.replies.header(connection.ref, xid, servingState.visible, code);
    counters.answered(connection, op, xid, servingState.visible, servingState.nowMs);
  }

  /** Without a quorum nothing is written; a session of this server's own may close. */
  #refuseReadOnly(connection: Connection, session: Session, { op, xid }: Request): void {
    const { servingState } = this.#parts;
    if (op === OpCode.CLOSE_SESSION) {
      session.closing = true;
      this.closeLocalSession(connection, xid, servingState.nowMs);
      return;
    }
    this.refuseReadOnly(connection, op, xid);
  }

  /** Refuses a request that needs a quorum, where there is none. */
  refuseReadOnly(connection: Connection, op: number, xid: number): void {
    const { sinks, counters, servingState } = this.#parts;
    const { visible, nowMs } = servingState;
    sinks.replies.header(connection.ref, xid, visible, ErrorCode.NOT_READ_ONLY);
    counters.answered(connection, op, xid, visible, nowMs);
  }

  /**
   * Whether a write of a local session may become a transaction. If it creates an ephemeral, its
   * session becomes one of the ensemble first, where that is allowed: the creation of the session
   * is proposed before the write.
   */
  #mayPropose(session: Session, request: Request): boolean {
    if (request.op === OpCode.CLOSE_SESSION) {
      session.closing = true;
      return false;
    }
    if (!this.#createsEphemeral(request)) return true;
    if (this.#parts.config.ensemble?.localSessionsUpgrading !== true) return false;
    this.#parts.sessionCreation.upgrade(session);
    return true;
  }

  #createsEphemeral(request: Request): boolean {
    const { requests } = this.#parts.tools;
    if (request.op !== OpCode.MULTI) return isEphemeralCreate(request);
    let isFound = false;
    try {
      while (!isFound && requests.nextPart(this.#part)) isFound = isEphemeralCreate(this.#part);
    } catch {
      // The proposer refuses an unreadable multi.
    }
    requests.rewindParts();
    return isFound;
  }
}

/** createTTL and createContainer never create ephemerals, whatever their flags. */
function isEphemeralCreate({ op, flags }: Request): boolean {
  return (op === OpCode.CREATE || op === OpCode.CREATE2) && isEphemeralMode(flags);
}
