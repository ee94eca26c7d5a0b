import { errorJson, keepCode } from "@zooid/model";

/** Why nothing was done to a data directory that no server has open. */
export class OfflineError extends Error {
  override readonly name = "OfflineError";
  readonly code = "OFFLINE_REFUSED";
  /** One sentence each. */
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join("\n"));
    this.problems = problems;
    keepCode(this, this.code);
  }

  /** As JSON, in a bounded size; see `errorJson`. */
  toJSON(): object {
    return errorJson(this);
  }
}
