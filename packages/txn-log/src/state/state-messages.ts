import type { MessagePort } from "node:worker_threads";
import type { Zxid } from "@zooid/model";
import type { TestBreak } from "../disk/test-break.ts";
import type { StoreErrorDetail } from "../store/store-error.ts";
import type { LivePosition } from "./live-tree.ts";
import type { StateSlice } from "./state-slices.ts";
import type { CheckpointMark, StateMeta } from "./state-store.ts";

/** The messages between the state thread and the driver's thread. */

export interface StateThreadData {
  readonly stateFile: string;
  readonly logDirectory: string;
  readonly leases: SharedArrayBuffer;
  readonly port: MessagePort;
  /** The module whose `TxnReader` decodes records. */
  readonly decoderModule: string;
  readonly checkpointBytes: number;
  readonly checkpointMs: number;
  readonly testBreak: TestBreak | undefined;
}

export type StateCommand =
  | { readonly kind: "mark"; readonly mark: CheckpointMark }
  | { readonly kind: "flush"; readonly id: number }
  /**
   * Answered by "standing" once nothing more is checkpointed, with `isCheckpointed` after
   * everything marked so far is.
   */
  | { readonly kind: "stand-still"; readonly isCheckpointed: boolean }
  | { readonly kind: "resume" }
  /** Another file is the state: what was marked belongs to another history. */
  | { readonly kind: "adopt"; readonly stateFile: string }
  /** While it stands still. Each is answered by "rebuilt" or "not-rebuilt". */
  | { readonly kind: "rebuild"; readonly step: RebuildStep }
  | { readonly kind: "close" };

/** A step in rebuilding the state file from the tree in memory. */
export type RebuildStep =
  | { readonly kind: "begin" }
  | { readonly kind: "slice"; readonly slice: StateSlice }
  /**
   * The changes that were applied meanwhile are read from the log; then the file takes the place of
   * the old one.
   */
  | {
      readonly kind: "end";
      readonly from: Zxid;
      readonly nextNodeId: number;
      readonly level: number;
      readonly to: LivePosition;
    }
  | { readonly kind: "abandon" };

export type StateReport =
  | { readonly kind: "checkpointed"; readonly checkpoint: CheckpointReport }
  | { readonly kind: "flushed"; readonly id: number }
  | { readonly kind: "standing" }
  | { readonly kind: "adopted" }
  | { readonly kind: "rebuilt" }
  /** The new file is removed, and the old one unchanged. */
  | { readonly kind: "not-rebuilt"; readonly detail: StoreErrorDetail }
  /** Checkpoints wait for room, for this reason; `undefined`: they have found room. */
  | { readonly kind: "room-changed"; readonly missing: string | undefined }
  | { readonly kind: "failed"; readonly detail: StoreErrorDetail };

export interface CheckpointReport {
  readonly meta: StateMeta;
  /** Marks and log bytes that are done with. */
  readonly marks: number;
  readonly bytes: number;
  readonly entries: number;
  readonly nodes: number;
  readonly ms: number;
}
