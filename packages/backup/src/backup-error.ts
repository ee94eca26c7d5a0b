import { errorJson, keepCode } from "@zooid/model";

/** Why a target cannot be used. `target` is as operators wrote it, and never has a secret. */
export type BackupErrorDetail =
  /** A setting that names a target, or its key, is invalid. */
  | { readonly code: "SETTING"; readonly problem: string }
  /** No answer, after all attempts. */
  | { readonly code: "UNREACHABLE"; readonly target: string; readonly reason: string }
  /** The access key, its secret or its rights are not those that are needed. */
  | { readonly code: "ACCESS_DENIED"; readonly target: string; readonly reason: string }
  /** There is no such directory or bucket. */
  | { readonly code: "NO_TARGET"; readonly target: string; readonly reason: string }
  | { readonly code: "FULL"; readonly target: string; readonly reason: string }
  /** An answer that the protocol does not have. */
  | {
      readonly code: "UNEXPECTED_ANSWER";
      readonly target: string;
      readonly call: string;
      readonly expected: string;
      readonly found: string;
    }
  /** Nothing that could be restored. */
  | { readonly code: "NO_BACKUP"; readonly target: string; readonly reason: string }
  /** The target belongs to another ensemble. */
  | { readonly code: "FOREIGN"; readonly target: string; readonly expected: string; readonly found: string };

export type BackupErrorCode = BackupErrorDetail["code"];

/** A target of backups refused, or has nothing to give. Nothing was changed that is not whole. */
export class BackupError extends Error {
  override readonly name = "BackupError";
  readonly detail: BackupErrorDetail;

  constructor(detail: BackupErrorDetail, options?: ErrorOptions) {
    super(describe(detail), options);
    this.detail = detail;
    keepCode(this, detail.code);
  }

  /** As JSON, in a bounded size; see `errorJson`. */
  toJSON(): object {
    return errorJson(this);
  }

  get code(): BackupErrorCode {
    return this.detail.code;
  }
}

function describe(detail: BackupErrorDetail): string {
  switch (detail.code) {
    case "SETTING":
      return detail.problem;
    case "UNREACHABLE":
      return `${detail.target} cannot be reached: ${detail.reason}`;
    case "ACCESS_DENIED":
      return `${detail.target} refuses access: ${detail.reason}`;
    case "NO_TARGET":
      return `${detail.target} does not exist: ${detail.reason}`;
    case "FULL":
      return `${detail.target} has no room: ${detail.reason}`;
    case "UNEXPECTED_ANSWER":
      return `${detail.target} answered ${detail.found} to ${detail.call}; expected ${detail.expected}`;
    case "NO_BACKUP":
      return `${detail.target} has no backup to restore from: ${detail.reason}`;
    case "FOREIGN":
      return `${detail.target} has the backup of ${detail.found}, not of ${detail.expected}; each ensemble needs a directory or prefix of its own`;
  }
}
