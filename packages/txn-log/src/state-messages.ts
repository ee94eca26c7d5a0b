import type { MessagePort } from "node:worker_threads";
import type { StateMark, StateMeta } from "./state-store.ts";
import type { StoreErrorDetail } from "./store-error.ts";

/** What the state thread and the driver's thread tell each other. */

export interface StateThreadData {
  readonly stateFile: string;
  readonly logFile: string;
  readonly port: MessagePort;
  /** The module whose `TxnReader` decodes records. */
  readonly decoderModule: string;
  readonly lagMarkBytes: number;
  readonly lagMarkMs: number;
}

export type StateCommand =
  | { readonly kind: "mark"; readonly mark: StateMark }
  | { readonly kind: "flush"; readonly id: number }
  | { readonly kind: "close" };

export type StateReport =
  | { readonly kind: "ready"; readonly meta: StateMeta }
  | { readonly kind: "folded"; readonly fold: FoldReport }
  | { readonly kind: "flushed"; readonly id: number }
  | { readonly kind: "failed"; readonly detail: StoreErrorDetail };

export interface FoldReport {
  readonly meta: StateMeta;
  /** Marks and log bytes that are done with. */
  readonly marks: number;
  readonly bytes: number;
  readonly entries: number;
  readonly nodes: number;
  readonly ms: number;
}
