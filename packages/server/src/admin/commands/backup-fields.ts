import type { BackupStatus } from "@zooid/backup";
import { formatZxid } from "@zooid/model";
import type { AdminView } from "../admin-view.ts";
import type { Json } from "../java-json.ts";

/** The state of the backup for operators; null where it is not known yet. */
export function backupFields({ backup }: AdminView): { readonly [key: string]: Json } | undefined {
  return backup === undefined ? undefined : fieldsOf(backup.status);
}

/** Begins a base. The answer's `asked` is done when the status has counted it in `done`. */
export function beginBackup({ backup }: AdminView): { readonly [key: string]: Json } | undefined {
  return backup === undefined ? undefined : fieldsOf(backup.begin());
}

function fieldsOf(status: BackupStatus): { readonly [key: string]: Json } {
  const { end, base, fault, holder, isHolder } = status;
  return {
    target: status.target,
    is_uploading: isHolder ?? false,
    uploaded_by: holder ?? null,
    last_zxid: end === undefined ? null : formatZxid(end),
    complete_at: timeOf(status.passedMs),
    base_zxid: base === undefined ? null : formatZxid(base),
    base_taken_at: timeOf(status.baseTakenMs),
    base_verified_at: timeOf(status.verifiedMs),
    gaps: status.gapCount,
    fault: fault ?? null,
    asked: status.askedCount,
    done: status.doneCount,
  };
}

function timeOf(ms: number | undefined): string | null {
  return ms === undefined ? null : new Date(ms).toISOString();
}
