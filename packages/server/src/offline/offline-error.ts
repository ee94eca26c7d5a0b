import { CodedError } from "@zooid/model";

/** Why nothing was done to a data directory that no server has open. */
export class OfflineError extends CodedError<"OFFLINE_REFUSED"> {
  override readonly name = "OfflineError";
  /** One sentence each. */
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super("OFFLINE_REFUSED", problems.join("\n"));
    this.problems = problems;
  }
}
