import type { Zxid } from "@zooid/model/storage";

/** The fate of the sessions in a snapshot, and of their ephemeral nodes. */
export type ImportedSessions = "keep" | "drop";

/**
 * How many epochs the history of an imported state begins above those of Apache's servers. One of
 * them that is started again, with its clients, does not come to zxids of the new history.
 */
export const APACHE_EPOCH_GAP = 1024;

/** The operator's choices for the state of a snapshot. */
export interface ImportOptions {
  /** Default: dropped. */
  readonly sessions?: ImportedSessions;
  /** The history continues in this epoch or a later one. */
  readonly epochMin?: number;
  /** The history continues at least this number of epochs above any in the snapshot. Default: 2. */
  readonly epochGap?: number;
  /**
   * The state stands at this transaction of the history that it came from, which is continued.
   * Ephemeral nodes stay whose sessions are not in the snapshot. Default: a new history begins.
   */
  readonly at?: Zxid;
}
