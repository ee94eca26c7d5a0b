import type { ClientShare, ConnectionRef, Identity, PartsPosition, Zxid } from "@zooid/model";
import type { SaslExchange } from "../auth/auth-schemes.ts";
import type { WaitingFrames } from "../requests/waiting-frames.ts";
import type { Session } from "../sessions/session-tracker.ts";
import type { AddressWork } from "../writes/write-shares.ts";
import { ConnectionStats } from "./connection-stats.ts";

/**
 * - `new`: nothing but four-letter words and a connect request is legal
 * - `creating`: the transaction that creates its session is not applied; the connection is not read
 * - `renewing`: not known yet whether its session lives; the connection is not read
 * - `open`: requests
 * - `closing`: it is closed, or its socket is gone; it is not read
 */
export type ConnectionPhase = "new" | "creating" | "renewing" | "open" | "closing";

/** The answer to a step of SASL, and the identities that the step added. */
export interface SaslAnswer {
  readonly code: number;
  /** Undefined is the protocol's null. */
  readonly token: Uint8Array | undefined;
  readonly added: readonly Identity[];
  /** The connection is closed after it. */
  readonly isLast: boolean;
}

/** How far a setWatches is carried out that takes several turns. */
export interface SetWatchesProgress {
  /** After the paths that were read and, once all can be read, that were restored. */
  position: PartsPosition;
  /** All paths can be read. */
  isChecked: boolean;
}

/** A setWatches that is carried out in part. */
export interface UnfinishedSetWatches extends SetWatchesProgress {
  /** A copy of the request. */
  readonly frame: Uint8Array;
  readonly receivedMs: number;
}

export interface HeldWrite {
  /** A copy of the request. */
  readonly frame: Uint8Array;
  readonly priceUs: number;
  /** The number that the next of this server's own writes had when it came. */
  readonly after: number;
}

/** A client's sync that is not answered. */
export interface PendingSync {
  readonly connection: Connection;
  /** A copy of the request, until it is answered. */
  frame: Uint8Array;
  readonly receivedMs: number;
  /**
   * The leadership check that must be confirmed; 0 at a learner, whose leader does it, and in an
   * ensemble of one.
   */
  readonly check: number;
  /**
   * The zxid that must be applied here before the answer; undefined until the leader has sent it.
   */
  readAt: Zxid | undefined;
  /** The next one of the same connection. */
  next: PendingSync | undefined;
  isTaken: boolean;
}

/** Where a connection comes from, and what it counts as. */
export interface ConnectionOrigin extends ClientShare {
  readonly ref: ConnectionRef;
  readonly address: string;
}

/** A client connection as the replica sees it, without its socket. */
export class Connection {
  readonly ref: ConnectionRef;
  /** The peer's address in Java's form: it is the connection's first identity. */
  readonly address: string;
  /** The share that it counts as where clients have shares, see {@link ClientShare}. */
  readonly share: string;
  readonly isProxied: boolean;
  phase: ConnectionPhase = "new";
  session: Session | undefined;
  /** The identities for requests that arrive now and for watch events. They only grow. */
  identities: readonly Identity[];
  /**
   * The identities for the request that is answered now: those of the time when it was sent. An
   * auth packet that waits for a write of its connection counts here only once it is answered.
   */
  answeredAs: readonly Identity[];
  /** The password of a session that is being created or renewed, until the answer carries it. */
  password: Uint8Array | undefined;
  /** Writes and syncs so far that were received, and that were answered. */
  issued = 0;
  answered = 0;
  waiting: WaitingFrames | undefined;
  /** Bytes of the largest unanswered write: the answer to a read behind it may be as large. */
  largestWriteBytes = 0;
  /** The price of its writes in flight, see `WriteShares`. */
  workUs = 0;
  /** That of its address. */
  addressWork: AddressWork | undefined;
  /**
   * A write that waits until its address has room for it; the connection is not read until then.
   */
  heldWrite: HeldWrite | undefined;
  /** Requests after it wait until it is answered. */
  unfinished: UnfinishedSetWatches | undefined;
  /**
   * A question about the past: it waits for writes before it, or it is read. No request is read
   * behind it until it is answered, so that the answers keep the order of the requests.
   */
  history: "none" | "waiting" | "read" = "none";
  /** Its waiting requests wait for the rest of a transaction, or for the next turn. */
  isHeldBack = false;
  /** Bytes of its syncs that are not answered. */
  syncBytes = 0;
  /** The first and the last of these syncs. */
  oldestSync: PendingSync | undefined;
  newestSync: PendingSync | undefined;
  /** Its SASL exchange, once it has begun. */
  sasl: SaslExchange | undefined;
  /** The answers to the steps of SASL among its waiting requests, in their order. */
  readonly saslAnswers: SaslAnswer[] = [];
  /** It is not read until there is room. */
  stalled = false;
  /** Its socket is gone. Its number is free once nothing of it is unanswered. */
  gone = false;
  readonly stats: ConnectionStats = new ConnectionStats();

  constructor({ ref, address, share, isProxied }: ConnectionOrigin, certified: readonly Identity[]) {
    this.ref = ref;
    this.address = address;
    this.share = share;
    this.isProxied = isProxied;
    this.identities = [{ scheme: "ip", id: address }, ...certified];
    this.answeredAs = this.identities;
  }

  get isOpen(): boolean {
    return this.phase === "open";
  }

  /** Writes and syncs that are not answered. */
  get unanswered(): number {
    return this.issued - this.answered;
  }

  /** Whether its next request has to wait for one that is not answered. */
  get mustWait(): boolean {
    return (
      this.unanswered > 0 ||
      this.unfinished !== undefined ||
      this.history === "read" ||
      (this.waiting !== undefined && this.waiting.count > 0)
    );
  }

  get inFlight(): number {
    return this.unanswered + (this.waiting?.count ?? 0);
  }
}
