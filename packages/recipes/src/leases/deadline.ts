import { RecipeError } from "../recipe-error.ts";

/** Limits of a wait; when one is reached, everything that was begun is undone. */
export interface WaitOptions {
  /** Cancels the wait; the call rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Time limit in milliseconds, then LOCK_TIMEOUT. Default: none. */
  readonly timeoutMs?: number | undefined;
}

/** A caller's limits as one signal for all steps of the call. */
export class Deadline implements Disposable {
  readonly signal: AbortSignal;
  readonly #timer: NodeJS.Timeout | undefined;

  constructor({ signal, timeoutMs }: WaitOptions, what: string) {
    signal?.throwIfAborted();
    if (timeoutMs === undefined) {
      this.signal = signal ?? new AbortController().signal;
      return;
    }
    const controller = new AbortController();
    const error = new RecipeError("LOCK_TIMEOUT", `${what}: not within ${timeoutMs} ms`);
    this.#timer = setTimeout(() => controller.abort(error), timeoutMs);
    this.signal = signal === undefined ? controller.signal : AbortSignal.any([signal, controller.signal]);
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
  }
}
