import type { ZkErrorCode } from "@zooid/client";
import type { RecipeErrorCode } from "@zooid/recipes";

/**
 * Errors of this program, in addition to the protocol's; errors of the client stay `ZkError`, those
 * of recipes `RecipeError`.
 */
export type CliErrorCode =
  | ZkErrorCode
  | RecipeErrorCode
  | "COMMAND_UNKNOWN"
  | "USAGE"
  | "NO_QUOTA"
  | "QUOTA_CONFLICT"
  | "QUEUE_EMPTY"
  | "PROGRAM_MISSING"
  | "PROGRAM_UNUSABLE"
  | "NOT_CONNECTED"
  | "REFUSED"
  | "NO_MEMBER"
  | "MEMBER_EXISTS"
  | "NOT_SYNCED"
  | "NO_QUORUM"
  | "WAIT_TIMEOUT"
  | "INVALID_FILE"
  | "UNREADABLE_FILE"
  | "UNWRITABLE_FILE"
  | "UNREADABLE_ANSWER";

export interface CliErrorDetail {
  readonly code: CliErrorCode;
  readonly path?: string | undefined;
  /** In JSON, where the message is zkCli's and the same fact has a plain sentence of ours. */
  readonly plain?: string | undefined;
  /** The operator's remedy; default: by the code. */
  readonly hint?: string | undefined;
}

/** Its message is shown to the user. */
export class CliError extends Error {
  override readonly name = "CliError";
  readonly code: CliErrorCode;
  readonly path: string | undefined;
  readonly plain: string;
  readonly hint: string | undefined;

  constructor(message: string, { code, path, plain, hint }: CliErrorDetail) {
    super(message);
    this.code = code;
    this.path = path;
    this.plain = plain ?? message;
    this.hint = hint;
  }
}

export function usageError(message: string, more: Pick<CliErrorDetail, "plain" | "hint"> = {}): CliError {
  return new CliError(message, { code: "USAGE", ...more });
}
