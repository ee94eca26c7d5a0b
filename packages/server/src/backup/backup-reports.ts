import type { BackupEvent } from "@zooid/backup";
import { counted, formatZxid } from "@zooid/model";
import type { LogFields } from "../operators/log-fields.ts";
import type { ReplayResult } from "./replay-check.ts";

/** The log of reports on a backup. */
export interface BackupLog {
  error(text: string, fields: LogFields): void;
  warn(text: string, fields: LogFields): void;
  info(text: string, fields: LogFields): void;
}

/** Writes an event of the uploads to a server's log. */
export function reportBackup(event: BackupEvent, target: string, log: BackupLog): void {
  switch (event.kind) {
    case "failed":
      return log.error(
        `the backup is not continued, and is tried again: ${event.reason}; the history keeps what is missing for zooid.history.retainMs`,
        { event: "backup-failed" },
      );
    case "works":
      return log.info(`the backup in ${target} is continued again`, { event: "backup-works" });
    case "holder":
      return log.info(
        event.isOwn
          ? `this server continues the backup in ${target}`
          : `${event.holder} continues the backup in ${target}`,
        { event: "backup-holder" },
      );
    case "gap": {
      const range = `after ${formatZxid(event.after)} and up to ${formatZxid(event.end)}`;
      return log.warn(`the backup in ${target} has no transactions ${range}: the history has them no longer`, {
        event: "backup-gap",
      });
    }
    case "other-history":
      return log.warn(
        `the backup in ${target} ends at ${formatZxid(event.end)} with another history than this server's, from before a restore: a new base follows`,
        { event: "backup-other-history" },
      );
    case "base":
      return log.info(
        `the backup in ${target} has the whole state at ${formatZxid(event.zxid)}, ${counted(event.bytes, "byte")}, which was read back`,
        { event: "backup-base" },
      );
    case "damaged":
      return log.error(`a file is left out of the backup: ${event.message}`, { event: "backup-damaged" });
    case "removed":
      return log.info(
        `${counted(event.count, "file")} of the backup in ${target} removed: older than zooid.backup.retainMs`,
        { event: "backup-pruned" },
      );
  }
}

/** Writes what the comparison of a new base with the one before it found. */
export function reportReplay(result: ReplayResult, target: string, log: BackupLog): void {
  switch (result.kind) {
    case "equal":
      return log.info(
        `the backup in ${target} leads from its base at ${formatZxid(result.from)} to the one at ${formatZxid(result.to)} by ${counted(result.entryCount, "transaction")}: digests are equal`,
        { event: "backup-replayed" },
      );
    case "differs":
      return log.error(
        `the backup in ${target} does not lead from its base at ${formatZxid(result.from)} to the one at ${formatZxid(result.to)}; ` +
          `at ${formatZxid(result.at)}: ${result.found}. Moments between them may be restored wrongly: zooid-server backup verify names damaged files`,
        { event: "backup-differs" },
      );
    case "skipped":
      return log.info(
        `the last base of the backup in ${target} was not compared with the one before it: ${result.reason}`,
        {
          event: "backup-not-replayed",
        },
      );
  }
}
