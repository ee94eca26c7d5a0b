/** How long the work goes on between two rests. */
const SLICE_MS = 0.25;
const REST_MS = 0.25;
/** Looking at the clock costs more than a step. */
const STEPS_PER_LOOK = 16;

/**
 * Breaks long work of a background thread into slices with rests between. A low priority alone does not keep others from waiting: a
 * scheduler lets the running thread finish its slice, up to some milliseconds, before it lets in a thread that wakes.
 */
export class Pace {
  /** No rests: the work is behind. */
  isHurried = false;
  readonly #sleep = new Int32Array(new SharedArrayBuffer(4));
  #steps = 0;
  #startedMs = 0;

  /** Called with each small piece of work. */
  step(): void {
    if (++this.#steps % STEPS_PER_LOOK !== 0 || this.isHurried) return;
    const nowMs = performance.now();
    if (nowMs - this.#startedMs < SLICE_MS) return;
    Atomics.wait(this.#sleep, 0, 0, REST_MS);
    this.#startedMs = performance.now();
  }
}
