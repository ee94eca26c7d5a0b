import { formatZxid } from "@zooid/model";
import type { AdminView } from "../admin-view.ts";
import { Failure, type Fields } from "./command.ts";

/** Commands that act on clients or data, which are Apache's as long as it is followed. */
export const ACTS_ON_OWN_DATA: ReadonlySet<string> = new Set([
  "drain",
  "end_session",
  "finalize_upgrade",
  "purge_history",
  "restore",
  "restore_state",
  "transfer_leadership",
  "undrain",
]);

export const FOLLOWS = "this server follows an Apache ensemble: clients and data are changed there";

/** Which server of Apache's is followed, how far, and whether its digests are those of the tree. */
export function followStatus(view: AdminView): Fields | Failure {
  const status = view.following();
  if (status === undefined) return new Failure("this server follows no Apache ensemble");
  return {
    state: status.state,
    server: status.server ?? null,
    epoch: status.epoch,
    zxid: formatZxid(status.zxid),
    has_state: status.hasState,
    lag_transactions: status.lagTransactions,
    lag_ms: status.lagMs,
    nodes: status.nodeCount,
    sessions: status.sessionCount,
    tree_digest: status.mark?.digest ?? null,
    chain: status.mark?.chain ?? null,
    digest: status.digest,
    digests_compared: status.digestCount,
    transactions: status.transactionCount,
    snapshots: status.snapshotCount,
    resyncs: status.resyncCount,
    spool_bytes: status.spoolBytes,
    last_error: status.lastError ?? null,
  };
}
