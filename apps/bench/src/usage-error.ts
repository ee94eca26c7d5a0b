/** What was asked for cannot be, and why: one sentence, and status 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}
