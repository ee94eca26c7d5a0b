import type { Client } from "./client.ts";

export interface CloseOnExitOptions {
  /** Default SIGTERM and SIGINT. */
  readonly signals?: readonly NodeJS.Signals[];
  /** How long the process waits for it at most, in milliseconds. Default 5000. */
  readonly graceMs?: number;
}

const SIGNALS: readonly NodeJS.Signals[] = ["SIGTERM", "SIGINT"];
const GRACE_MS = 5_000;

/**
 * Closes a client when the process is told to end, so that its ephemeral nodes and locks go at once, and not when its session expires. Then
 * the process ends as the signal has it, unless somebody else listens to that signal, to whom it is left.
 *
 * @returns takes it back; a client that is closed takes it back by itself
 */
export function closeOnExit(client: Client, options: CloseOnExitOptions = {}): Disposable {
  const { signals = SIGNALS, graceMs = GRACE_MS } = options;
  const stop = (): void => {
    for (const signal of signals) process.off(signal, end);
    states.unsubscribe();
  };
  const end = (signal: NodeJS.Signals): void => {
    stop();
    const late = Promise.withResolvers<void>();
    const timer = setTimeout(late.resolve, graceMs);
    Promise.race([client.close(), late.promise])
      .finally(() => {
        clearTimeout(timer);
        if (process.listenerCount(signal) === 0) process.kill(process.pid, signal);
      })
      // A client does not fail to close.
      .catch(() => {});
  };
  for (const signal of signals) process.on(signal, end);
  const states = client.state$.subscribe({ complete: () => queueMicrotask(stop) });
  return { [Symbol.dispose]: stop };
}
