/** A listener's own failure is nobody's to mend here, and may end neither what goes on nor the process. */
export function reportError(listener: ((error: unknown) => void) | undefined, error: unknown): void {
  try {
    listener?.(error);
  } catch {
    // See above.
  }
}
