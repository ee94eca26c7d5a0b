import { startTimer, type Timer } from "../calls/timers.ts";

/**
 * The single timer of a client. It may fire before anything is due: firing early costs less than
 * setting it again for each packet. Times are those of `performance.now()`.
 */
export class OneTimer {
  readonly #wake: (nowMs: number, lateMs: number) => void;
  #timer: Timer | undefined;
  #atMs = Number.POSITIVE_INFINITY;

  /** @param wake called when it fires, with the time and the delay; then it is not set any more */
  constructor(wake: (nowMs: number, lateMs: number) => void) {
    this.#wake = wake;
  }

  /**
   * The time at which it fires; infinity when it is not set, minus infinity once it was stopped.
   */
  get atMs(): number {
    return this.#atMs;
  }

  /** Sets it, unless it already fires early enough. */
  set(atMs: number): void {
    if (atMs >= this.#atMs) return;
    this.#timer?.cancel();
    this.#atMs = atMs;
    this.#timer = startTimer(Math.max(0, atMs - performance.now()), () => {
      // Data that arrived while this process was busy must be read before the silence is judged.
      setImmediate(() => this.#goOff());
    });
  }

  /** Stops it for good. */
  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#atMs = Number.NEGATIVE_INFINITY;
  }

  #goOff(): void {
    if (this.#atMs === Number.NEGATIVE_INFINITY) return;
    // A timer that was set after this one fired.
    this.#timer?.cancel();
    const nowMs = performance.now();
    const lateMs = nowMs - this.#atMs;
    this.#atMs = Number.POSITIVE_INFINITY;
    this.#wake(nowMs, lateMs);
  }
}
