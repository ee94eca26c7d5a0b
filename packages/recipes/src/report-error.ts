/**
 * Calls an error listener. An error of the listener itself is dropped: it must end neither the
 * recipe nor the process.
 */
export function reportError(listener: ((error: unknown) => void) | undefined, error: unknown): void {
  try {
    listener?.(error);
  } catch {
    // See above.
  }
}
