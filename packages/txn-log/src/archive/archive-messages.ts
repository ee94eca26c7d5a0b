import type { MessagePort } from "node:worker_threads";
import type { Zxid } from "@zooid/model";
import type { LogPosition } from "../log/txn-log.ts";
import type { ArchiveMark } from "./archive-file-writer.ts";
import type { FeedMemory } from "./entry-feed.ts";

/**
 * Maximum number of marks that wait for a file. While no file can be written, each further mark
 * replaces the newest one.
 */
export const MARKS_MAX = 10_000;

/** The messages between the archive's thread and the driver's thread. */

export interface ArchiveThreadData extends ArchiveLimits {
  readonly archive: string;
  readonly logDirectory: string;
  readonly leases: SharedArrayBuffer;
  readonly feed: FeedMemory;
  readonly port: MessagePort;
  readonly decoderModule: string;
  /** Where an archive without files begins. Transactions behind it that the log lacks are a gap. */
  readonly begin: Zxid;
}

export interface ArchiveLimits {
  /** A file ends at the first mark at which it has that many bytes of frames, or that age. */
  readonly fileBytes: number;
  readonly fileMs: number;
  /** Files whose last entry is older are removed, and the oldest ones while all have more bytes. */
  readonly retainMs: number;
  readonly retainBytes: number;
}

export type ArchiveCommand =
  /** Everything up to here is committed and durable. Marks rise, up to a `restart`. */
  | { readonly kind: "mark"; readonly mark: ArchiveMark }
  /**
   * The log was truncated or replaced, or no longer waits for the archive: the thread drops the
   * unfinished file and reads its entries again from the log.
   */
  | { readonly kind: "restart"; readonly begin: Zxid; readonly restoredAt: Zxid | undefined }
  /** Ends the file that is being written, at its last mark. */
  | { readonly kind: "flush"; readonly id: number }
  /** Replaces the limits, also for the file that is being written. */
  | { readonly kind: "change"; readonly limits: ArchiveLimits }
  | { readonly kind: "close" };

export type ArchiveReport =
  /** A file is on the disk: the log may be purged up to its end. */
  | {
      readonly kind: "archived";
      readonly end: LogPosition;
      readonly bytes: number;
      readonly files: ArchiveFiles;
    }
  /** As `archived`: all up to here is in earlier files, or was never in the log. */
  | { readonly kind: "contained"; readonly end: Zxid }
  /** Entries after the first zxid and up to the second one are in no file. */
  | { readonly kind: "gap"; readonly after: Zxid; readonly end: Zxid }
  | { readonly kind: "flushed"; readonly id: number }
  /** A file could not be written, or the log not be read. It is tried again later. */
  | { readonly kind: "unable"; readonly reason: string };

/** All files together. */
export interface ArchiveFiles {
  readonly count: number;
  readonly bytes: number;
}
