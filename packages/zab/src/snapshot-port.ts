import { type EpochRange, InvariantError, type LinkRef, type LogPosition, type StateOrigin } from "@zooid/model";

/** Where a snapshot stands: the last entry in it and the epochs up to there. */
export interface SnapshotPosition {
  readonly position: LogPosition;
  readonly epochs: readonly EpochRange[];
  /** The state of another ensemble that it is made of, which learners may have ready. */
  readonly origin?: StateOrigin | undefined;
}

export type ReceivedSnapshot = { readonly stateFile: string } | { readonly failed: string };

/**
 * Transfers snapshots. It sends and paces its own `snapshot-chunk` and `snapshot-credit` messages;
 * the peer passes on those that arrive.
 */
export interface SnapshotPort {
  /**
   * At the leader: prepares the newest snapshot for sending and keeps the log after it until {@link
   * end}.
   *
   * @param opened where the snapshot stands, before any chunk is sent; undefined when none can be
   * sent
   */
  open(link: LinkRef, opened: (at: SnapshotPosition | undefined) => void): void;
  /**
   * Sends it. `sent` follows the receiver's credit for the last chunk, which it gives when the
   * snapshot is whole, checked and on disk.
   */
  start(link: LinkRef, sent: () => void): void;
  /** @param isWhole the receiver has all of it, and needs no further chunk */
  credit(link: LinkRef, next: number, isWhole?: boolean): void;
  /** The learner is synced or gone. */
  end(link: LinkRef): void;

  /**
   * At the learner: a snapshot follows. `stored` names its file once it is whole, checked and on
   * disk, or the failure.
   *
   * @param origin what the snapshot is made of: where this server has that state ready, it takes it
   *   and leaves the chunks
   */
  receive(link: LinkRef, position: LogPosition, stored: (result: ReceivedSnapshot) => void, origin?: StateOrigin): void;
  chunk(index: number, isLast: boolean, bytes: Uint8Array, start: number, end: number): void;
  /** The transfer is given up; the chunks received so far are of no use. */
  abandon(): void;
}

/**
 * For drivers without snapshots: a learner whose entries are purged from the leader's log is
 * refused.
 */
export const NO_SNAPSHOTS: SnapshotPort = {
  open: (_link, opened) => opened(undefined),
  start: notOpened,
  credit: notOpened,
  end: () => {},
  receive: (_link, _position, stored) => stored({ failed: "this server takes no snapshots" }),
  chunk: () => {},
  abandon: () => {},
};

function notOpened(): never {
  throw new InvariantError("no snapshot was opened");
}
