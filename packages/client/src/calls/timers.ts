import { checkArgument, checkFit, rules, type Shape, shape } from "@zooid/model";

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

const TIMER: Shape<TimerOptions> = shape<TimerOptions>({ ref: rules.flag });
const PAUSE: Shape<PauseOptions> = shape<PauseOptions>({ ref: rules.flag, signal: rules.signal });

/**
 * Calls back after a time in milliseconds, which may be any number: beyond 24.8 days, Node's own
 * timers fire at once. For `Infinity` it never calls back.
 */
export function startTimer(delayMs: number, callback: () => void, options: TimerOptions = {}): Timer {
  checkArgument("startTimer", "the delay", delayMs, rules.time);
  checkArgument("startTimer", "the callback", callback, rules.callable);
  checkFit("startTimer", options, TIMER);
  const { ref = true } = options;
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
export async function pause(delayMs: number, options: PauseOptions = {}): Promise<void> {
  checkArgument("pause", "the delay", delayMs, rules.time);
  checkFit("pause", options, PAUSE);
  const { signal, ref = true } = options;
  await new Promise<void>((resolve, reject) => {
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
    const timer = startTimer(delayMs, over, { ref });
    signal?.addEventListener("abort", abort, { once: true });
  });
}

/**
 * A signal that aborts with a TimeoutError after a time in milliseconds, which may be any number.
 * It keeps no process alive.
 */
export function limitSignal(delayMs: number): AbortSignal {
  checkArgument("limitSignal", "the delay", delayMs, rules.time);
  const controller = new AbortController();
  startTimer(delayMs, () => controller.abort(new DOMException("the time limit is reached", "TimeoutError")), {
    ref: false,
  });
  return controller.signal;
}
