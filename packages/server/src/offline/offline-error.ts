/** Why nothing was done to a data directory that no server has open. */
export class OfflineError extends Error {
  override readonly name = "OfflineError";
  /** One sentence each. */
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join("\n"));
    this.problems = problems;
  }
}
