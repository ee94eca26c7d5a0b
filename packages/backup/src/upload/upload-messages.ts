import type { MessagePort } from "node:worker_threads";
import type { TargetSettings } from "../targets/open-target.ts";
import type { BackupPurge, PassResult, PurgeOrder, UploadEvent } from "./backup-uploader.ts";

/** The messages between the thread that uploads and the server's thread. */

export interface UploadSettings extends Omit<TargetSettings, "credentials"> {
  /** Read again for each pass, so that a new key needs no restart. */
  readonly credentialsFile?: string | undefined;
  /** Time from one base to the next, in milliseconds. */
  readonly baseEveryMs: number;
  /** States of this time can be restored; 0: nothing is removed. */
  readonly retainMs: number;
  /** 0: no limit. */
  readonly bytesPerSecond: number;
}

export interface UploadThreadData {
  readonly settings: UploadSettings;
  readonly archive: string;
  readonly holder: string;
  readonly leaseMs: number;
  readonly port: MessagePort;
}

export type UploadCommand =
  | { readonly kind: "pass"; readonly id: number; readonly ensembleId: string; readonly isForced: boolean }
  | ({ readonly kind: "purge"; readonly id: number } & PurgeOrder)
  /** The answer to `write-archive`. */
  | { readonly kind: "archive-written"; readonly fault: string | undefined }
  /** Ends a pass where it is, and the thread. */
  | { readonly kind: "close" };

export type UploadReport =
  | { readonly kind: "passed"; readonly id: number; readonly result: PassResult }
  | { readonly kind: "purged"; readonly id: number; readonly result: BackupPurge }
  | { readonly kind: "failed"; readonly id: number; readonly reason: string }
  | { readonly kind: "noted"; readonly event: UploadEvent }
  /** The server shall write its transactions into the archive, and maybe copy its state there. */
  | { readonly kind: "write-archive"; readonly withBase: boolean };
