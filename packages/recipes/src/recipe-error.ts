/** Why a recipe failed; failures of the client come through as the client's own. */
export type RecipeErrorCode =
  /** It did not get what it waited for in the time that the caller allowed. */
  | "LOCK_TIMEOUT"
  /** What was held is not held any more, or may not be. */
  | "LEASE_LOST"
  /** A reader asked for the write lock, which would wait for itself. */
  | "LOCK_UPGRADE"
  /** The directory's sequence numbers have run over 2^31 - 1, behind which nobody's order can be told. */
  | "SEQUENCE_OVERFLOW"
  /** A member's node is gone while it waits for the others. */
  | "BARRIER_BROKEN"
  /** What a node holds is not what the recipe writes there. */
  | "NOT_OURS"
  /** The name is somebody's already. */
  | "NAME_TAKEN"
  /** The recipe was closed. */
  | "RECIPE_CLOSED";

/** A recipe could not do what was asked, or cannot any more; `code` says why. */
export class RecipeError extends Error {
  override readonly name: string;
  readonly code: RecipeErrorCode;

  constructor(code: RecipeErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    // As the platform names what AbortSignal.timeout gives as its reason.
    this.name = code === "LOCK_TIMEOUT" ? "TimeoutError" : "RecipeError";
  }
}

/** Also of another copy of this package. */
export function isRecipeError(error: unknown, code: RecipeErrorCode): error is RecipeError {
  return error instanceof Error && "code" in error && error.code === code;
}
