import type { Zxid } from "@zooid/model";

/** How Apache's digests compare with those of the tree here. */
export type DigestState =
  /** None came: the ensemble is of 3.5, or has `zookeeper.digest.enabled=false`. */
  | "none"
  /** None was equal yet since the last snapshot. */
  | "not-equal-yet"
  /** Each is equal since the first equal one. */
  | "equal"
  | "different";

/** A server that follows an Apache ensemble, for operators. */
export interface FollowStatus {
  /** The state of the link; `installing` while a snapshot becomes the state. */
  readonly state:
    | "starting"
    | "searching"
    | "synchronizing"
    | "installing"
    | "following"
    | "waiting-for-room"
    /** An operator has ended it for good. */
    | "finished"
    | "failed"
    | "closed";
  /** `host:port` that sends; undefined while there is none. */
  readonly server: string | undefined;
  readonly epoch: number;
  /** The last transaction that is applied here. */
  readonly zxid: Zxid;
  /** Whether a snapshot has become the state, now or before this start. */
  readonly hasState: boolean;
  /** Transactions that came and are not applied. */
  readonly lagTransactions: number;
  /** The age of the last transaction that is applied, while there are such; else 0. */
  readonly lagMs: number;
  readonly nodeCount: number;
  readonly sessionCount: number;
  /** Digest and chain at {@link zxid}, in hexadecimal; undefined while the log is behind. */
  readonly mark: { readonly digest: string; readonly chain: string } | undefined;
  readonly digest: DigestState;
  readonly digestCount: number;
  readonly transactionCount: number;
  readonly snapshotCount: number;
  /** How often the link ended. */
  readonly resyncCount: number;
  readonly spoolBytes: number;
  /**
   * The ensemble's servers as `/zookeeper/config` has them, and those before the last change;
   * undefined where they are not known.
   */
  readonly servers: string | undefined;
  readonly serversBefore: string | undefined;
  /** Why the last link, or the last attempt, ended. */
  readonly lastError: string | undefined;
}
