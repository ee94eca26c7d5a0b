/**
 * A grant, as an object of its holder. It ends on this side before any other client can get it:
 * when the session is lost by the client's clock, which is earlier than by any server's, or already
 * when the connection is.
 */
import type { SessionId, Transaction, Zxid } from "@zooid/client";
import { type Shape, shape, wordRule } from "@zooid/model";
import type { WaitOptions } from "./deadline.ts";

export type LostReason =
  /**
   * No server answers; the session, and with it the grant at the server, may live. With
   * `onSuspended: "lose"` only.
   */
  | "suspended"
  /** The session is over, or may be. */
  | "session-lost"
  /** Another client has deleted the node. */
  | "deleted"
  | "client-closed";

/** A grant of one or several nodes. */
export interface Grant extends AsyncDisposable {
  /** The nodes of the grant. */
  readonly paths: readonly string[];
  /**
   * Aborts with LEASE_LOST when it is lost, in whole or in part, or released; `lostReason`
   * distinguishes the two.
   */
  readonly signal: AbortSignal;
  /** The reason of its loss; undefined before. */
  readonly lostReason: LostReason | undefined;
  /** Whether it is held at this instant, by the clock: correct also if a timer is late. */
  isValid(): boolean;
  /** @throws LEASE_LOST unless `isValid()` */
  assertValid(): void;
  /**
   * Releases it. Resolves when the server has deleted its nodes, or the session may be over. May be
   * repeated.
   *
   * @throws LOCK_TIMEOUT or the signal's reason beyond the caller's limits; it is released all the
   *   same, as soon as a server answers
   */
  release(options?: WaitOptions): Promise<void>;
}

/** A grant of one node. */
export interface Lease extends Grant {
  readonly path: string;
  /**
   * A fencing token that grows with each grant on a path: a store can refuse requests with a
   * smaller one than it has seen.
   */
  readonly token: Zxid;
  readonly sessionId: SessionId;
  /** Another lease on the same grant; the last one to be released deletes the node. */
  reenter(): Lease;
  /**
   * A transaction that succeeds only if the grant is still held at that moment: the only check
   * without a gap.
   */
  guard(): Transaction<[undefined]>;
}

export interface HoldOptions {
  /**
   * Whether a grant ends at once with a lost connection, or only when the session is lost. Default:
   * the client's, `lose`.
   */
  readonly onSuspended?: "lose" | "keep" | undefined;
}

/** The rules for {@link HoldOptions}. */
export const HOLD: Shape<HoldOptions> = shape<HoldOptions>({ onSuspended: wordRule("lose", "keep") });
