import { RecipeError } from "../recipe-error.ts";

/** How long a caller waits; at the end of it everything that was begun is undone. */
export interface WaitOptions {
  /** Gives up; the call rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Gives up after so many milliseconds, with LOCK_TIMEOUT. Default: never. */
  readonly timeoutMs?: number | undefined;
}

/** A caller's patience as one signal over everything that it takes to serve it. */
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
