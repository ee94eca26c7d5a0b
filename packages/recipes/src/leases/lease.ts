/**
 * What is held, as its holder has it: possession of the object is ownership. A grant ends on this side before anybody else can have it: when
 * the session is lost by the client's own clock, which is earlier than by any server's, or already when the connection is.
 */
import type { SessionId, Transaction, Zxid } from "@zooid/client";

export type LostReason =
  /** No server answers; the session, and with it the grant at the server, may live. Under `onSuspended: "lose"` only. */
  | "suspended"
  /** The session is over, or may be. */
  | "session-lost"
  /** Somebody has deleted the node. */
  | "deleted"
  | "client-closed";

/** Whatever is granted: one node or several. */
export interface Grant extends AsyncDisposable {
  /** The nodes that stand for it. */
  readonly paths: readonly string[];
  /** Aborts with LEASE_LOST when it is lost, in whole or in part, or released; `lostReason` tells one from the other. */
  readonly signal: AbortSignal;
  /** Why it was lost; undefined while it was not. */
  readonly lostReason: LostReason | undefined;
  /** Whether it is held at this instant, by the clock: true also where a timer that would say otherwise has not run yet. */
  isValid(): boolean;
  /** @throws LEASE_LOST unless `isValid()` */
  assertValid(): void;
  /** Gives it back. Resolves when the server has deleted its nodes, or the session may be over. Twice is harmless. */
  release(): Promise<void>;
}

/** A grant for which one node stands. */
export interface Lease extends Grant {
  readonly path: string;
  /** Grows with each grant on a path: what keeps state elsewhere can refuse those who come with a smaller one than it has seen. */
  readonly token: Zxid;
  readonly sessionId: SessionId;
  /** A second lease on the same grant; the node goes with the last of them. */
  reenter(): Lease;
  /** Lets a transaction happen only if the grant still stands at that moment: the one case in which nothing can come between. */
  guard(): Transaction<[undefined]>;
}

export interface HoldOptions {
  /** What a lost connection does to a grant: ends it at once, or only when the session is lost. Default: the client's, `lose`. */
  readonly onSuspended?: "lose" | "keep" | undefined;
}
