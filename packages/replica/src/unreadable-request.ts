/** Whether a decoder threw it because of the bytes that it read: these errors have a name of their own. Anything else is a defect and goes on. */
export function isUnreadable(error: unknown): boolean {
  return error instanceof Error && error.name === "WireError";
}
