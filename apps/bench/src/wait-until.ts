/** Waits for a time on this thread's clock, or for the signal. */
export async function waitUntil(timeMs: number, signal: AbortSignal): Promise<void> {
  const waitMs = timeMs - performance.now();
  if (waitMs <= 0 || signal.aborted) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const wake = (): void => resolve();
  const timer = setTimeout(wake, waitMs);
  signal.addEventListener("abort", wake, { once: true });
  await promise;
  clearTimeout(timer);
  signal.removeEventListener("abort", wake);
}
