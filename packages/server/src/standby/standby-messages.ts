import type { MessagePort } from "node:worker_threads";
import type { ArchiveSource } from "@zooid/backup";
import type { BuiltState } from "@zooid/txn-log/sqlite";

/** The messages of the thread that keeps a state ready, in both directions. */

export interface StandbyThreadData {
  readonly source: ArchiveSource;
  /** In the data directory. */
  readonly folder: string;
  readonly port: MessagePort;
}

export type StandbyCommand =
  /** Looks at the archive now. */
  | { readonly kind: "look" }
  /** Closes the state's file, and leaves it alone until `take-back`. */
  | { readonly kind: "lend"; readonly id: number }
  /** The file is unchanged, or is gone. */
  | { readonly kind: "take-back" }
  /** Removes the state, and begins again. */
  | { readonly kind: "drop"; readonly id: number }
  | { readonly kind: "close" };

export type StandbyReport =
  | {
      readonly kind: "stands";
      readonly state: BuiltState | undefined;
      /** Whether it has everything that the archive had at the last look. */
      readonly isLevel: boolean;
      /** Why the last look failed. */
      readonly fault: string | undefined;
    }
  | { readonly kind: "lent"; readonly id: number; readonly state: BuiltState | undefined }
  | { readonly kind: "dropped"; readonly id: number }
  | { readonly kind: "warned"; readonly text: string };
