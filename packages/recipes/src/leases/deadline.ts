import { startTimer, type Timer } from "@zooid/client";
import { checkFit, rules, type Shape, shape } from "@zooid/model";
import { RecipeError } from "../recipe-error.ts";
import { unlessAborted } from "./waiting.ts";

/** Limits of a wait; when one is reached, everything that was begun is undone. */
export interface WaitOptions {
  /** Cancels the wait; the call rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Time limit in milliseconds, then LOCK_TIMEOUT. Default: none. */
  readonly timeoutMs?: number | undefined;
}

/** The rules for {@link WaitOptions}. */
export const WAIT: Shape<WaitOptions> = shape<WaitOptions>({ signal: rules.signal, timeoutMs: rules.duration });
/** The rules for a call that does not wait. */
export const TRY: Shape<Pick<WaitOptions, "signal">> = shape({ signal: rules.signal });

/**
 * Waits for what has begun already, within a caller's limits; beyond them it continues unawaited.
 *
 * @throws LOCK_TIMEOUT, the signal's reason, or its own error
 */
export async function within(begun: Promise<unknown>, options: WaitOptions, what: string): Promise<void> {
  // Reported to a caller that waits for it.
  begun.catch(() => {});
  using deadline = new Deadline(options, what);
  await unlessAborted(begun, deadline.signal);
}

/** A caller's limits as one signal for all steps of the call. */
export class Deadline implements Disposable {
  readonly signal: AbortSignal;
  readonly #timer: Timer | undefined;

  /**
   * @param expected the rules for the call's options, with names beyond those of a wait
   * @throws ArgumentError; the signal's reason
   */
  constructor(options: WaitOptions, what: string, expected: Shape<WaitOptions> | Shape<object> = WAIT) {
    checkFit(what, options, expected);
    const { signal, timeoutMs } = options;
    signal?.throwIfAborted();
    if (timeoutMs === undefined) {
      this.signal = signal ?? new AbortController().signal;
      return;
    }
    const controller = new AbortController();
    const error = new RecipeError("LOCK_TIMEOUT", `${what}: not within ${timeoutMs} ms`);
    this.#timer = startTimer(timeoutMs, () => controller.abort(error));
    this.signal = signal === undefined ? controller.signal : AbortSignal.any([signal, controller.signal]);
  }

  [Symbol.dispose](): void {
    this.#timer?.cancel();
  }
}
