import type { EpochRange, LogPosition, Zxid } from "@zooid/model";

/** How an attempt to begin an epoch with a restored state ended at the server that made it. */
export type RestoreEnd =
  /** A quorum has the state on its disks: it is the ensemble's history. */
  | { readonly kind: "restored"; readonly epoch: number; readonly zxid: Zxid }
  /** Nothing has changed. */
  | { readonly kind: "given-up"; readonly detail: string }
  /** This server has the state on its disk. The next leader decides which history continues. */
  | { readonly kind: "undecided"; readonly epoch: number };

/**
 * A state of the past with which the leader of an ensemble begins its next epoch, see {@link
 * ZabPeer.restore}.
 */
export interface RestoredState {
  /** The epoch is this one or a later one. Default: two above all that were promised. */
  readonly epochMin?: number;
  /**
   * A quorum has promised the epoch: the state becomes a file on this server's disk that stands at
   * `zxid`, an entry that no leader has proposed and none will. `done` names the file and the
   * position, whose chain is that of no other history, once the file is whole and durable; or the
   * failure. It is called once, never from within the call.
   */
  standAt(
    zxid: Zxid,
    epochs: readonly EpochRange[],
    done: (
      result: { readonly stateFile: string; readonly position: LogPosition } | { readonly failed: string },
    ) => void,
  ): void;
  /** Called once, whatever becomes of it. */
  ended(end: RestoreEnd): void;
}
