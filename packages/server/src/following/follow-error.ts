import { errorJson, keepCode } from "@zooid/model";

/** An Apache ensemble cannot be followed any further; what was followed up to there is kept. */
export class FollowError extends Error {
  override readonly name = "FollowError";
  readonly code = "NOT_FOLLOWED";

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    keepCode(this, this.code);
  }

  /** As JSON, in a bounded size; see `errorJson`. */
  toJSON(): object {
    return errorJson(this);
  }
}
