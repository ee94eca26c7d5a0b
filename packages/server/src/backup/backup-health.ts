import type { BackupStatus } from "@zooid/backup";
import { formatZxid } from "@zooid/model";
import { counter, gauge, type Metric } from "../admin/metric.ts";
import type { ReplayStatus } from "./replay-checks.ts";

/** The facts that a check of the backup looks at. */
export interface BackupAge {
  readonly status: BackupStatus;
  readonly baseEveryMs: number;
  /** When the uploads began, in ms since 1970: nothing is late before. */
  readonly sinceMs: number;
}

/** Time without a completed upload, or beyond the time of a base, that is no fault yet. */
const LATE_MS = 900_000;

/** Why the backup is too old; undefined while it is not. */
export function backupFault(
  { status, baseEveryMs, sinceMs }: BackupAge,
  { differs }: ReplayStatus,
  nowMs: number,
): string | undefined {
  const { baseTakenMs, fault, passedMs, target } = status;
  if (differs !== undefined)
    return `the backup in ${target} does not lead from its base at ${formatZxid(differs.from)} to the one at ${formatZxid(differs.to)}: ${differs.found}`;
  const reason = fault === undefined ? "" : `: ${fault}`;
  if (nowMs - Math.max(passedMs ?? 0, sinceMs) > LATE_MS)
    return `the backup in ${target} was not continued for ${minutes(nowMs - (passedMs ?? sinceMs))} minutes${reason}`;
  const baseLateMs = nowMs - Math.max(baseTakenMs ?? 0, sinceMs);
  if (baseLateMs > 2 * baseEveryMs + LATE_MS)
    return `the last whole state in the backup ${target} is ${minutes(nowMs - (baseTakenMs ?? sinceMs))} minutes old${reason}`;
  return undefined;
}

export function* backupMetrics(
  status: BackupStatus,
  { differs, replayedMs }: ReplayStatus,
  nowMs: number,
): IterableIterator<Metric> {
  yield gauge("zooid_backup_uploading", status.isHolder === true ? 1 : 0);
  yield gauge("zooid_backup_failing", status.fault === undefined ? 0 : 1);
  yield counter("zooid_backup_gaps_total", status.gapCount);
  yield* age("zooid_backup_age_seconds", status.passedMs, nowMs);
  yield* age("zooid_backup_base_age_seconds", status.baseTakenMs, nowMs);
  yield* age("zooid_backup_verified_age_seconds", status.verifiedMs, nowMs);
  yield gauge("zooid_backup_replay_differs", differs === undefined ? 0 : 1);
  yield* age("zooid_backup_replayed_age_seconds", replayedMs, nowMs);
}

/** Nothing where there was none yet. */
function* age(name: string, sinceMs: number | undefined, nowMs: number): IterableIterator<Metric> {
  if (sinceMs !== undefined) yield gauge(name, Math.max(0, Math.round((nowMs - sinceMs) / 1000)));
}

function minutes(ms: number): number {
  return Math.round(ms / 60_000);
}
