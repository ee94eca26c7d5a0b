import type { Zxid } from "@zooid/model/storage";

/**
 * The sessions in an exported snapshot, with their ephemeral nodes. `derived`: those that Apache's
 * servers can continue, since they derive the same password from the session's id.
 */
export type ExportedSessions = "kept" | "derived" | "left out";

export interface ExportOptions {
  /** Default: kept. */
  readonly sessions?: ExportedSessions;
  /**
   * A history of Apache's begins at this zxid. Parents of nodes that are left out have it as their
   * pzxid, so that clients which watch them learn of the change, and `/zookeeper/config` is empty,
   * as in Apache's own first state. Default: the zxid at which the state stands, and no change.
   */
  readonly newHistoryAt?: Zxid;
}
