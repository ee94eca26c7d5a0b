import { OfflineError } from "@zooid/embedded-server";

/** Why a command ended early: a signal of an operator. */
export class InterruptedError extends Error {
  override readonly name = "InterruptedError";
}

/**
 * Does what can be ended by SIGINT or SIGTERM. A second signal ends the process at once.
 *
 * @param left in what state things are after a signal
 * @throws InterruptedError after a signal
 */
export async function interruptible<T>(left: string, act: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const ended = new AbortController();
  const end = (): void => ended.abort(new InterruptedError(`interrupted: ${left}`));
  process.once("SIGINT", end);
  process.once("SIGTERM", end);
  try {
    return await act(ended.signal);
  } catch (error) {
    // What failed because of the signal says that, and a refusal what was refused.
    if (error instanceof OfflineError) throw error;
    ended.signal.throwIfAborted();
    throw error;
  } finally {
    process.off("SIGINT", end);
    process.off("SIGTERM", end);
  }
}
