import type { MessagePort } from "node:worker_threads";
import { LATENCY_WORDS, type Zxid } from "@zooid/model/storage";
import type { SegmentName } from "../segments/segment-name.ts";
import type { StoreErrorDetail } from "../store/store-error.ts";
import type { RingMemory } from "./append-ring.ts";
import type { Chain } from "./chain.ts";
import type { LogFileOptions } from "./log-open.ts";
import type {
  DurableLog,
  EntryRun,
  EpochPromise,
  HistoryInstall,
  LogBranching,
  LogPosition,
  LogSettings,
  RunMarks,
} from "./txn-log.ts";

/** The messages between the threads of a log. Appends themselves travel in the ring. */

export interface LogThreadData {
  readonly options: LogFileOptions;
  readonly ring: RingMemory;
  readonly stats: SharedArrayBuffer;
  readonly port: MessagePort;
  readonly helper: MessagePort;
  /** How long a segment's WAL is. */
  readonly segmentBytes: number;
  readonly settings: LogSettings;
}

export interface HelperThreadData {
  /** The directory of the segments. */
  readonly directory: string;
  readonly leases: SharedArrayBuffer;
  readonly control: SharedArrayBuffer;
  readonly port: MessagePort;
  readonly log: MessagePort;
}

/** A task of the log thread for its helper; no reader has the named files open. */
export interface HelperTask {
  readonly remove: readonly SegmentName[];
  readonly spare:
    | { readonly recycle: SegmentName | undefined; readonly pageBytes: number; readonly walBytes: number }
    | undefined;
}

/** Each stands behind a MESSAGE record in the ring, so that its place among the appends is kept. */
export type LogCommand =
  | { readonly kind: "append"; readonly batch: AppendMessage }
  | { readonly kind: "promise"; readonly id: number; readonly promise: EpochPromise }
  | { readonly kind: "epoch"; readonly id: number; readonly epoch: number }
  | { readonly kind: "configs"; readonly id: number; readonly committed?: Uint8Array; readonly lastSeen?: Uint8Array }
  | { readonly kind: "ensemble"; readonly id: number; readonly ensembleId: string }
  | { readonly kind: "branch"; readonly id: number; readonly branching: LogBranching }
  | { readonly kind: "cut"; readonly id: number; readonly to: Zxid }
  | { readonly kind: "begin-stage"; readonly id: number; readonly after: LogPosition }
  | { readonly kind: "stage"; readonly id: number; readonly bytes: Uint8Array }
  | { readonly kind: "drop-stage"; readonly id: number }
  | { readonly kind: "install-history"; readonly id: number; readonly install: HistoryInstall }
  | { readonly kind: "committed"; readonly zxid: Zxid }
  /**
   * Up to where stands in the shared statistics, for a log that waits for room and takes no
   * command.
   */
  | { readonly kind: "purge" }
  | { readonly kind: "low"; readonly isLow: boolean }
  | { readonly kind: "settings"; readonly settings: LogSettings }
  | { readonly kind: "discard"; readonly id: number; readonly upTo: Zxid }
  /** Answered once the newest segment began with a WAL of zeros. */
  | { readonly kind: "renew"; readonly id: number }
  | { readonly kind: "close" };

/** An append that is no plain one: too large for the ring, or with marks. */
export interface AppendMessage {
  readonly generation: number;
  readonly committed: Zxid;
  readonly bytes: Uint8Array;
  readonly marks: RunMarks | undefined;
}

export type LogReport =
  | { readonly kind: "ready"; readonly log: DurableLog }
  /**
   * `done` holds, for each batch: generation, zxid, chain high, chain low, commit hint. `log` when
   * more than that has changed.
   */
  | { readonly kind: "appended"; readonly done: readonly number[]; readonly log: DurableLog | undefined }
  /** A write waits for room, for this reason; `undefined`: it has found room. */
  | { readonly kind: "room-changed"; readonly missing: string | undefined }
  | { readonly kind: "answer"; readonly id: number; readonly log: DurableLog; readonly at: LogPosition | undefined }
  | { readonly kind: "purged"; readonly log: DurableLog }
  /** The helper has a task, and may not have started yet. */
  | { readonly kind: "helper-due" }
  | { readonly kind: "warned"; readonly text: string }
  | { readonly kind: "failed"; readonly detail: StoreErrorDetail };

export type HelperRequest =
  | { readonly kind: "read"; readonly id: number; readonly after: Zxid; readonly bytesMax: number }
  | { readonly kind: "chain"; readonly id: number; readonly zxid: Zxid }
  | { readonly kind: "close" };

export type HelperAnswer =
  | { readonly kind: "run"; readonly id: number; readonly run: EntryRun }
  | { readonly kind: "chain"; readonly id: number; readonly chain: Chain | undefined }
  | { readonly kind: "failed"; readonly id: number; readonly detail: StoreErrorDetail };

/** Places in the shared statistics. The log thread writes them, but for one. */
export const LogStat = {
  BATCHES: 0,
  ENTRIES: 1,
  BYTES: 2,
  SYNCS: 3,
  SYNC_MS_TOTAL: 4,
  SYNC_MS_MAX: 5,
  SYNC_MS_LAST: 6,
  SLOW_SYNCS: 7,
  WAL_BYTES: 8,
  ROLLS: 9,
  ROLL_MS_TOTAL: 10,
  STALLS: 11,
  STALL_MS_TOTAL: 12,
  PURGED: 13,
  FULL: 14,
  SEGMENTS: 15,
  /** Up to which zxid segments may go: written by the log's user. */
  PURGE_ALLOWED: 16,
} as const;
/** Durations of commits, as `LatencyBuckets`, stand behind the other statistics. */
export const COMMIT_BUCKETS_AT = 17;
export const LOG_STAT_COUNT: number = COMMIT_BUCKETS_AT + LATENCY_WORDS;
