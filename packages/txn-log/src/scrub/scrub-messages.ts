import type { MessagePort } from "node:worker_threads";
import type { Zxid } from "@zooid/model";

/** The messages between the scrub's thread and the driver's thread. */

export interface ScrubThreadData {
  readonly logDirectory: string;
  readonly leases: SharedArrayBuffer;
  readonly port: MessagePort;
  readonly stateFile: string;
  readonly bytesPerSecond: number;
  readonly everyMs: number;
}

export type ScrubCommand =
  /** Another file is the state. */
  | { readonly kind: "state"; readonly stateFile: string }
  /** A round begins at once, or behind the one that is under way. Numbers rise. */
  | { readonly kind: "now"; readonly number: number }
  | { readonly kind: "close" };

/** A file that is not what was written. */
export interface FoundDamage {
  readonly part: "state" | "segment";
  readonly file: string;
  readonly place: string;
  readonly found: string;
  /** For a segment: it holds the entries after `after` and up to `end`. */
  readonly after: Zxid;
  readonly end: Zxid;
}

export type ScrubReport =
  | {
      readonly kind: "damage";
      /** As that of the round. */
      readonly number: number;
      readonly damage: FoundDamage;
    }
  | {
      readonly kind: "round";
      /** The number of the last command that the round answers; 0: none. */
      readonly number: number;
      readonly stateFile: string;
      readonly bytes: number;
      readonly ms: number;
      /** All files that are damaged now. */
      readonly damaged: readonly string[];
    }
  /** Something else than damage kept a round from its end. */
  | { readonly kind: "unfinished"; readonly reason: string };
