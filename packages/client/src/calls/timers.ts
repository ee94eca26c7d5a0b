/** Node's longest timer; a longer one fires after 1 ms. */
const TIMER_MS_MAX = 2 ** 31 - 1;

/** A timer that has not fired, or was cancelled. */
export interface Timer extends Disposable {
  cancel(): void;
}

export interface TimerOptions {
  /** False where the timer alone does not keep the process alive. Default true. */
  readonly ref?: boolean;
}

export interface PauseOptions extends TimerOptions {
  /** Ends the pause; it rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Calls back after a time in milliseconds, which may be any number: beyond 24.8 days, Node's own timers fire at once. For `Infinity` it never
 * calls back.
 */
export function startTimer(delayMs: number, callback: () => void, { ref = true }: TimerOptions = {}): Timer {
  let timer: NodeJS.Timeout | undefined;
  const wait = (leftMs: number): void => {
    timer =
      leftMs <= TIMER_MS_MAX
        ? setTimeout(callback, leftMs)
        : setTimeout(() => wait(leftMs - TIMER_MS_MAX), TIMER_MS_MAX);
    if (!ref) timer.unref();
  };
  wait(delayMs);
  const cancel = (): void => clearTimeout(timer);
  return { cancel, [Symbol.dispose]: cancel };
}

/** Resolves after a time in milliseconds, which may be any number, as for {@link startTimer}. */
export function pause(delayMs: number, { signal, ...options }: PauseOptions = {}): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) {
      reject(signal.reason);
      return;
    }
    const abort = (): void => {
      timer.cancel();
      reject(signal?.reason);
    };
    const over = (): void => {
      signal?.removeEventListener("abort", abort);
      resolve();
    };
    const timer = startTimer(delayMs, over, options);
    signal?.addEventListener("abort", abort, { once: true });
  });
}

/** A signal that aborts with a TimeoutError after a time in milliseconds, which may be any number. It keeps no process alive. */
export function limitSignal(delayMs: number): AbortSignal {
  const controller = new AbortController();
  startTimer(delayMs, () => controller.abort(new DOMException("the time limit is reached", "TimeoutError")), {
    ref: false,
  });
  return controller.signal;
}
