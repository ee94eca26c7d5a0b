/**
 * Calls an error listener, which may be an async function. An error of the listener itself is
 * dropped: it must end neither the recipe nor the process.
 */
export function reportError(listener: ((error: unknown) => unknown) | undefined, error: unknown): void {
  const call = async (): Promise<unknown> => listener?.(error);
  call().catch(() => {
    // See above.
  });
}
