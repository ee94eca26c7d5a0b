import { join } from "node:path";
import { formatZxid } from "@zooid/model";
import type { ArchiveEvent, ArchiveOptions, ArchiveSettings, ArchiveStatus } from "@zooid/txn-log/sqlite";
import { counter, gauge, type Metric } from "../admin/metric.ts";
import type { LogFields } from "../operators/log-fields.ts";

/** The archive of committed entries in the data directory. */
export interface HistoryOptions {
  /** How long entries are kept, in milliseconds. Default 0: there is no archive. */
  readonly retainMs?: number;
  /** The oldest go while the archive has more bytes. Default 0: no limit. */
  readonly retainBytes?: number;
  /** Bytes of the log that are kept for what is not archived yet. Default 1 GiB. */
  readonly lagBytesMax?: number;
  /**
   * How long a transaction waits before its file is written, in milliseconds: clients see it in
   * the history then. Fewer give more files. Default 10,000.
   */
  readonly fileMs?: number;
}

/** The parts that an archive's reports need. */
export interface HistoryLog {
  error(text: string, fields: LogFields): void;
  warn(text: string, fields: LogFields): void;
  info(text: string, fields: LogFields): void;
}

/** Undefined where nothing is archived. */
export function archiveOptionsOf(
  history: Required<HistoryOptions>,
  directory: string,
  log: HistoryLog,
): ArchiveOptions | undefined {
  if (history.retainMs === 0) return undefined;
  const folder = join(directory, "archive");
  return { folder, ...archiveSettingsOf(history), noted: (event) => report(event, folder, log) };
}

export function archiveSettingsOf({
  retainMs,
  retainBytes,
  lagBytesMax,
  fileMs,
}: Required<HistoryOptions>): ArchiveSettings {
  return { retainMs, ...(retainBytes === 0 ? {} : { retainBytes }), lagBytesMax, fileMs };
}

function report(event: ArchiveEvent, folder: string, log: HistoryLog): void {
  switch (event.kind) {
    case "gap": {
      const range = `after ${formatZxid(event.after)} and up to ${formatZxid(event.end)}`;
      return log.warn(
        `the history in ${folder} has no entries ${range}: they were purged from the log before they were archived`,
        { event: "history-gap" },
      );
    }
    case "unable":
      return log.error(
        event.part === "files"
          ? `the history in ${folder} cannot be written: ${event.reason}; the log is kept for it up to zooid.history.lagBytesMax`
          : `no copy of the whole state can be added to the history in ${folder}: ${event.reason}; transactions are added to it, and the copy is tried again`,
        { event: "history-not-written" },
      );
    case "able":
      return log.info(
        event.part === "files"
          ? `the history in ${folder} is written again`
          : `a copy of the whole state was added to the history in ${folder} again`,
        { event: "history-written" },
      );
  }
}

export function* historyMetrics(status: ArchiveStatus | undefined): IterableIterator<Metric> {
  yield gauge("zooid_history_files", status?.files.count ?? 0);
  yield gauge("zooid_history_bytes", status?.files.bytes ?? 0);
  yield gauge("zooid_history_lag_bytes", status?.lagBytes ?? 0);
  yield counter("zooid_history_gaps_total", status?.gapCount ?? 0);
  const { files, base } = status?.unable ?? {};
  yield gauge("zooid_history_failing", files === undefined && base === undefined ? 0 : 1);
}
