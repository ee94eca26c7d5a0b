import type { Acl, Zxid } from "@zooid/model";
import type { ApacheTransaction } from "@zooid/wire/apache";
import type { QuorumAddress } from "../core/leader-search.ts";
import type { ApachePeerError } from "../core/peer-error.ts";

/** An event of a followed ensemble; they come in order. */
export type FollowEvent =
  /** A leader was accepted. */
  | { readonly kind: "connected"; readonly address: QuorumAddress; readonly epoch: number }
  /** The history is continued, without a gap. */
  | { readonly kind: "continued" }
  /**
   * The history is replaced: sessions, access lists and nodes come next, parents first. They may
   * contain transactions behind this zxid, and lack some up to it; those follow.
   */
  | { readonly kind: "snapshot"; readonly zxid: Zxid }
  | { readonly kind: "session"; readonly id: bigint; readonly timeoutMs: number }
  /** Keys are the sender's, of this snapshot alone; -1, the open list, is not among them. */
  | { readonly kind: "acl"; readonly key: bigint; readonly acl: Acl }
  | {
      readonly kind: "node";
      /** The root's is empty. */
      readonly path: string;
      readonly data: Buffer | null;
      /** A transaction that follows may bring a list that is missing. */
      readonly aclKey: bigint;
      /** 60 bytes, as Apache's servers store it; `storedStat` reads it. */
      readonly stat: Buffer;
    }
  | { readonly kind: "snapshot-end"; readonly zxid: Zxid }
  /** Behind a snapshot it may be contained in it, and older than its zxid. */
  | {
      readonly kind: "transaction";
      readonly zxid: Zxid;
      readonly transaction: ApacheTransaction;
      /** As Apache's servers log it. */
      readonly bytes: Buffer;
    }
  /**
   * Everything that the leader had committed has come. A snapshot is whole from here on, apart from
   * what its transactions will still change.
   */
  | { readonly kind: "up-to-date"; readonly epoch: number; readonly servers: string }
  /** The answer to a `sync`. */
  | { readonly kind: "synced" }
  /** The link has ended, and is looked for again. */
  | {
      readonly kind: "disconnected";
      readonly error: ApachePeerError;
      /** Whether a snapshot was lost that had begun: another one will come. */
      readonly isSnapshotLost: boolean;
    }
  /** No address has led to a leader; the search continues. */
  | { readonly kind: "no-leader"; readonly failures: readonly FailedAttempt[] };

export interface FailedAttempt {
  readonly address: QuorumAddress;
  readonly error: ApachePeerError;
}
