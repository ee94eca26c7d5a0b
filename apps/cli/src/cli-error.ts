import type { ZkErrorCode } from "@zooid/client";
import type { RecipeErrorCode } from "@zooid/recipes";

/** Faults that this program finds itself, beside the protocol's; what the client throws stays its `ZkError`, what a recipe throws its `RecipeError`. */
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
  | "UNREADABLE_FILE"
  | "UNREADABLE_ANSWER";

export interface CliErrorDetail {
  readonly code: CliErrorCode;
  readonly path?: string | undefined;
}

/** Its message is the sentence that the user reads. */
export class CliError extends Error {
  override readonly name = "CliError";
  readonly code: CliErrorCode;
  readonly path: string | undefined;

  constructor(message: string, { code, path }: CliErrorDetail) {
    super(message);
    this.code = code;
    this.path = path;
  }
}

export function usageError(message: string): CliError {
  return new CliError(message, { code: "USAGE" });
}
