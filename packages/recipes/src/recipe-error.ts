import { errorJson, keepCode } from "@zooid/model";

/** Codes of recipes; errors of the client are passed on unchanged. */
export type RecipeErrorCode =
  /** The wait exceeded the caller's time limit. */
  | "LOCK_TIMEOUT"
  /** The lease is not held any more, or may not be. */
  | "LEASE_LOST"
  /** A reader asked for the write lock, which would be a deadlock. */
  | "LOCK_UPGRADE"
  /** The directory's sequence numbers have exceeded 2^31 - 1, where their order is undefined. */
  | "SEQUENCE_OVERFLOW"
  /** A member's node is gone while it waits for the others. */
  | "BARRIER_BROKEN"
  /** The node's data are not in the recipe's format. */
  | "NOT_OURS"
  /** The name is taken. */
  | "NAME_TAKEN"
  /** The recipe was closed. */
  | "RECIPE_CLOSED";

/** An error of a recipe; `code` gives the reason. */
export class RecipeError extends Error {
  override readonly name: string;
  readonly code: RecipeErrorCode;

  constructor(code: RecipeErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    // The platform's name for the reason of AbortSignal.timeout.
    this.name = code === "LOCK_TIMEOUT" ? "TimeoutError" : "RecipeError";
    keepCode(this, code);
  }

  /** As JSON, in a bounded size; see `errorJson`. */
  toJSON(): object {
    return errorJson(this);
  }
}

/** Every code, also for errors of another copy of this package. */
const IS_CODE: Readonly<Record<RecipeErrorCode, true>> = {
  LOCK_TIMEOUT: true,
  LEASE_LOST: true,
  LOCK_UPGRADE: true,
  SEQUENCE_OVERFLOW: true,
  BARRIER_BROKEN: true,
  NOT_OURS: true,
  NAME_TAKEN: true,
  RECIPE_CLOSED: true,
};

/**
 * Also for errors of another copy of this package.
 *
 * @param code the expected code. Default: any
 */
export function isRecipeError(error: unknown, code?: RecipeErrorCode): error is RecipeError {
  if (!(error instanceof Error) || !("code" in error)) return false;
  if (code !== undefined) return error.code === code;
  return typeof error.code === "string" && Object.hasOwn(IS_CODE, error.code);
}
