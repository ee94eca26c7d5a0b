import { type ConnectionRef, type Identity, OpCode, type PartsPlace } from "@zooid/model";
import type { SaslExchange } from "../auth/auth-schemes.ts";
import type { PendingSync } from "../requests/pending-syncs.ts";
import type { WaitingFrames } from "../requests/waiting-frames.ts";
import type { Session } from "../sessions/session-table.ts";

/**
 * - `new`: nothing but four-letter words and a connect request is legal
 * - `creating`: its session is being written; what it sends meanwhile waits
 * - `renewing`: the leader is asked whether its session lives; what it sends meanwhile waits
 * - `open`: requests
 * - `closing`: its last word was said or its end decided; nothing it sends is read
 */
export type ConnectionPhase = "new" | "creating" | "renewing" | "open" | "closing";

/** What one step of SASL is answered with, and whom it made of the client. */
export interface SaslAnswer {
  readonly code: number;
  /** Undefined is the protocol's null. */
  readonly token: Uint8Array | undefined;
  readonly added: readonly Identity[];
  /** The connection is closed behind it. */
  readonly isLast: boolean;
}

/** How far a setWatches was carried out whose paths are too many for one turn. */
export interface SetWatchesProgress {
  /** Behind the paths that were read, and, once all were read, that were taken. */
  place: PartsPlace;
  /** All paths can be read. */
  isChecked: boolean;
}

/** A setWatches that is carried out in part. */
export interface UnfinishedSetWatches extends SetWatchesProgress {
  /** A copy of the request. */
  readonly frame: Uint8Array;
  readonly receivedMs: number;
}

/** What a replica knows of one client connection. Sockets are not among it. */
export class Connection {
  readonly ref: ConnectionRef;
  /** The peer's address in Java's form: it is the connection's first identity. */
  readonly address: string;
  phase: ConnectionPhase = "new";
  session: Session | undefined;
  /** Who it is to what it sends now and to events: it only grows, and dies with the connection. */
  identities: readonly Identity[];
  /** Who it was when it sent what is answered now: an auth packet that waits for an own write counts here when its turn comes. */
  answeredAs: readonly Identity[];
  /** The password of a session that is being created or renewed, until the answer carries it. */
  password: Uint8Array | undefined;
  /** Writes and syncs of this connection, counted as they come and as they are answered. */
  issued = 0;
  answered = 0;
  waiting: WaitingFrames | undefined;
  /** The largest of its writes that are not answered: a read behind them may be answered with so much. */
  largestWriteBytes = 0;
  /** A setWatches that is carried out in part. */
  unfinished: UnfinishedSetWatches | undefined;
  /** It waits for the rest of a transaction that is applied in part. */
  isHeldBack = false;
  /** Syncs that are not answered yet hold so many bytes of it. */
  syncBytes = 0;
  /** The first and the last of them. */
  oldestSync: PendingSync | undefined;
  newestSync: PendingSync | undefined;
  /** Its SASL exchange, once it has begun one. */
  sasl: SaslExchange | undefined;
  /** What became of the steps of SASL among the waiting frames, in their order. */
  readonly saslAnswers: SaslAnswer[] = [];
  /** It was told to wait until there is room again. */
  stalled = false;
  /** The socket is gone; the number is kept until the last unanswered write has committed. */
  gone = false;
  readonly stats: ConnectionStats = new ConnectionStats();

  constructor(ref: ConnectionRef, address: string, certified: readonly Identity[]) {
    this.ref = ref;
    this.address = address;
    this.identities = [{ scheme: "ip", id: address }, ...certified];
    this.answeredAs = this.identities;
  }

  /** Writes and syncs that are not answered yet. */
  get unanswered(): number {
    return this.issued - this.answered;
  }

  /** Whether what it asks next stands behind something of it that is not answered. */
  get mustWait(): boolean {
    return (
      this.unanswered > 0 || this.unfinished !== undefined || (this.waiting !== undefined && this.waiting.count > 0)
    );
  }

  get inFlight(): number {
    return this.unanswered + (this.waiting?.count ?? 0);
  }
}

/** What `cons` and `stat` tell of a connection. Times are milliseconds. */
export class ConnectionStats {
  received = 0;
  sent = 0;
  lastOp = 0;
  /** The last xid answered; -1 while there was none that counts. */
  lastXid = -1;
  lastZxid = -1;
  lastResponseMs = 0;
  lastLatencyMs = 0;
  latencyMsMin: number = Number.POSITIVE_INFINITY;
  latencyMsMax = 0;
  latencyMsTotal = 0;
  latencyCount = 0;

  answered(op: number, xid: number, zxid: number, latencyMs: number, nowMs: number): void {
    this.sent++;
    this.lastOp = op;
    if (xid >= 0) this.lastXid = xid;
    this.lastZxid = zxid;
    this.lastResponseMs = nowMs;
    this.lastLatencyMs = latencyMs;
    if (op === OpCode.PING) return;
    if (latencyMs < this.latencyMsMin) this.latencyMsMin = latencyMs;
    if (latencyMs > this.latencyMsMax) this.latencyMsMax = latencyMs;
    this.latencyMsTotal += latencyMs;
    this.latencyCount++;
  }

  reset(): void {
    this.received = 0;
    this.sent = 0;
    this.lastOp = 0;
    this.lastXid = -1;
    this.lastZxid = -1;
    this.lastLatencyMs = 0;
    this.latencyMsMin = Number.POSITIVE_INFINITY;
    this.latencyMsMax = 0;
    this.latencyMsTotal = 0;
    this.latencyCount = 0;
  }
}
