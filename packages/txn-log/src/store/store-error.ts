import { errorJson, keepCode, unknownLevelText } from "@zooid/model/storage";

/** Why a store cannot be opened, read or written. */
export type StoreErrorDetail =
  /** Another process holds the directory. */
  | {
      readonly code: "LOCKED";
      readonly directory: string;
      readonly pid: number | undefined;
      readonly since: string | undefined;
    }
  /** The directory is Apache's, another server's, or another ensemble's. */
  | {
      readonly code: "FOREIGN";
      readonly directory: string;
      readonly expected: string;
      readonly found: string;
      readonly hint?: string;
    }
  /** An offline command that makes the directory did not come to its end. */
  | { readonly code: "UNFINISHED"; readonly directory: string; readonly command?: string }
  /** A later version wrote the file; it may say for which feature level. */
  | {
      readonly code: "NEWER_FORMAT";
      readonly file: string;
      readonly known: number;
      readonly found: number;
      readonly level?: number;
      /** The first version that knows the level. */
      readonly since?: string;
    }
  /** The feature level of the data is none that this version knows. */
  | {
      readonly code: "UNKNOWN_LEVEL";
      readonly directory: string;
      readonly level: number;
      readonly known: { readonly lowest: number; readonly highest: number };
    }
  /** Something is not what was written. `place` names table and row; `hint` says what to do. */
  | {
      readonly code: "DAMAGED";
      readonly file: string;
      readonly place: string;
      readonly found: string;
      readonly hint?: string;
    }
  /** The system does not let us read or write. */
  | { readonly code: "UNREADABLE"; readonly file: string; readonly reason: string }
  /** The log lacks what it once acked or promised: this server is an amnesiac. */
  | { readonly code: "LOG_SHORTENED"; readonly file: string; readonly expected: string; readonly found: string }
  /** SQLite does not keep the promise that was asked of it. */
  | { readonly code: "NOT_DURABLE"; readonly file: string; readonly expected: string; readonly found: string }
  /** No epoch is left to take. */
  | { readonly code: "EPOCH_EXHAUSTED"; readonly epoch: number }
  /** The entry that follows the zxid asked for has been purged. */
  | { readonly code: "BELOW_FLOOR"; readonly asked: string; readonly floor: string }
  /**
   * The leader's state is not a whole one, or not the one that was announced. None of it was kept.
   */
  | { readonly code: "SNAPSHOT_REFUSED"; readonly place: string; readonly found: string }
  /** A state that was being sent cannot be sent on. */
  | { readonly code: "SNAPSHOT_ENDED"; readonly reason: string }
  /** A write or sync failed; the process must end. */
  | { readonly code: "WRITE_FAILED"; readonly file: string; readonly reason: string }
  /** SQLite could not open a file, make one beside it, or shorten one; it does not say why. */
  | { readonly code: "NOT_OPENED"; readonly file: string; readonly reason: string }
  /** There is no room to open it; once there is, it can be opened. */
  | { readonly code: "DISK_FULL"; readonly file: string; readonly reason: string }
  /** The caller broke the log's rules; the process must end. */
  | { readonly code: "DEFECT"; readonly reason: string }
  | { readonly code: "CLOSED" };

export type StoreErrorCode = StoreErrorDetail["code"];

/**
 * Why a data directory cannot be used, or not any longer. `detail` says what was found, and where.
 */
export class StoreError extends Error {
  override readonly name = "StoreError";
  readonly detail: StoreErrorDetail;

  constructor(detail: StoreErrorDetail, options?: ErrorOptions) {
    super(describe(detail), options);
    this.detail = detail;
    keepCode(this, detail.code);
  }

  /** As JSON, in a bounded size; see `errorJson`. */
  toJSON(): object {
    return errorJson(this);
  }

  get code(): StoreErrorCode {
    return this.detail.code;
  }
}

function describe(detail: StoreErrorDetail): string {
  switch (detail.code) {
    case "LOCKED": {
      const holder = detail.pid === undefined ? "another process" : `process ${detail.pid}, started ${detail.since}`;
      return `${detail.directory} is in use by ${holder}; two servers cannot share a data directory`;
    }
    case "FOREIGN":
      return `${detail.directory} is not this server's: expected ${detail.expected}, found ${detail.found}; nothing was changed${detail.hint === undefined ? "" : `; ${detail.hint}`}`;
    case "UNFINISHED":
      return `${detail.directory} is unfinished: ${detail.command ?? "zooid-server restore or import"} was stopped before its end; repeat that command, which begins again, or remove the directory`;
    case "NEWER_FORMAT":
      return `${detail.file} has format ${detail.found}${levelText(detail)}, this version knows formats up to ${detail.known}; nothing was changed`;
    case "UNKNOWN_LEVEL":
      return `${unknownLevelText(detail.directory, detail.level, detail.known)}; nothing was changed`;
    case "DAMAGED":
      return `${detail.file} is damaged at ${detail.place}: ${detail.found}${detail.hint === undefined ? "" : `; ${detail.hint}`}`;
    case "UNREADABLE":
      return `${detail.file} cannot be used: ${detail.reason}`;
    case "LOG_SHORTENED":
      return `${detail.file} has lost what this server once acknowledged: expected ${detail.expected}, found ${detail.found}`;
    case "NOT_DURABLE":
      return `${detail.file}: asked SQLite for ${detail.expected}, read back ${detail.found}`;
    case "EPOCH_EXHAUSTED":
      return `epoch ${detail.epoch} is the last one; no further leader can be elected`;
    case "BELOW_FLOOR":
      return `entries after ${detail.asked} were purged; the log begins after ${detail.floor}`;
    case "SNAPSHOT_REFUSED":
      return `a snapshot was refused at ${detail.place}: ${detail.found}; nothing of it was kept`;
    case "SNAPSHOT_ENDED":
      return `a snapshot was not sent to its end: ${detail.reason}`;
    case "WRITE_FAILED":
      return `${detail.file} could not be written: ${detail.reason}`;
    case "NOT_OPENED":
      return `${detail.file}, or a file beside it, could not be opened or shortened: ${detail.reason}`;
    case "DISK_FULL":
      return `the disk of ${detail.file} is full: ${detail.reason}`;
    case "DEFECT":
      return detail.reason;
    case "CLOSED":
      return "the store is closed";
  }
}

function levelText({ level, since }: Extract<StoreErrorDetail, { code: "NEWER_FORMAT" }>): string {
  return level === undefined ? "" : ` of feature level ${level}, which version ${since} and later know`;
}
