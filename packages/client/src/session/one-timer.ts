const TIMER_MS_MAX = 2 ** 31 - 1;

/**
 * The one timer of a client, for everything that is due. It may go off before anything is: coming early costs less than setting it again
 * for each packet. Times are those of `performance.now()`.
 */
export class OneTimer {
  readonly #wake: (nowMs: number, lateMs: number) => void;
  #timer: NodeJS.Timeout | undefined;
  #atMs = Number.POSITIVE_INFINITY;

  /** @param wake called when it went off, with the time and by how much that was late; then it is not set any more */
  constructor(wake: (nowMs: number, lateMs: number) => void) {
    this.#wake = wake;
  }

  /** When it goes off; infinity when it is not set, minus infinity once it was stopped. */
  get atMs(): number {
    return this.#atMs;
  }

  /** Sets it, unless it already comes early enough. */
  set(atMs: number): void {
    if (atMs >= this.#atMs) return;
    clearTimeout(this.#timer);
    this.#atMs = atMs;
    this.#timer = setTimeout(
      () => {
        // What has arrived while this process was busy must be heard before silence is judged.
        setImmediate(() => this.#goOff());
      },
      Math.min(TIMER_MS_MAX, Math.max(0, atMs - performance.now())),
    );
  }

  /** For good: it cannot be set again. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#atMs = Number.NEGATIVE_INFINITY;
  }

  #goOff(): void {
    if (this.#atMs === Number.NEGATIVE_INFINITY) return;
    // One that was set since this turn's timer went off.
    clearTimeout(this.#timer);
    const nowMs = performance.now();
    const lateMs = nowMs - this.#atMs;
    this.#atMs = Number.POSITIVE_INFINITY;
    this.#wake(nowMs, lateMs);
  }
}
