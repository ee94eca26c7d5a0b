/** An invalid request of the user, with the reason: one message, and status 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}
