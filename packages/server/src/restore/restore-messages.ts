import type { UploadSettings } from "@zooid/backup";
import type { Zxid } from "@zooid/model";
import type { RestoreTarget } from "../offline/restore-plan.ts";

/** The messages of the thread that makes a state of the past, in both directions. */

export interface RestoreThreadData {
  readonly settings: UploadSettings;
  readonly moment: RestoreTarget;
  /** Whether only what the state would be made from is looked at. */
  readonly isPlan: boolean;
  /** A folder in the data directory. Its files are removed first. */
  readonly folder: string;
  /** Whose history it must be; empty for a server alone. */
  readonly ensembleId: string;
}

/** The source of a state. */
export interface RestoreSource {
  readonly zxid: Zxid;
  readonly baseZxid: Zxid;
  readonly baseTakenMs: number;
  readonly baseNodeCount: number;
  readonly fileCount: number;
}

export type RestoreReport =
  | { readonly kind: "planned"; readonly source: RestoreSource }
  | {
      readonly kind: "made";
      readonly source: RestoreSource;
      readonly nodeCount: number;
      readonly stateFile: string;
      /** Left out, for which older bases and more files stand in. */
      readonly warnings: readonly string[];
    }
  | { readonly kind: "failed"; readonly problem: string };
