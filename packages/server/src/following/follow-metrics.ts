import { counter, gauge, type Metric, secondsGauge } from "../admin/metric.ts";
import type { FollowStatus } from "./follow-status.ts";

export function* followMetrics(status: FollowStatus | undefined): IterableIterator<Metric> {
  if (status === undefined) return;
  yield gauge("zooid_follow_linked", status.server === undefined ? 0 : 1);
  yield gauge("zooid_follow_spool_bytes", status.spoolBytes);
  yield gauge("zooid_follow_lag_transactions", status.lagTransactions);
  yield secondsGauge("zooid_follow_lag_seconds", status.lagMs);
  yield counter("zooid_follow_transactions_total", status.transactionCount);
  yield counter("zooid_follow_digests_compared_total", status.digestCount);
  yield gauge("zooid_follow_digest_differs", status.digest === "different" ? 1 : 0);
  yield counter("zooid_follow_snapshots_total", status.snapshotCount);
  yield counter("zooid_follow_resyncs_total", status.resyncCount);
}
