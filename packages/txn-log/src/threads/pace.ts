/** How long the work goes on between two rests. */
const SLICE_MS = 0.25;
const REST_MS = 0.25;
/** Looking at the clock costs more than a small step. */
const STEPS_PER_LOOK = 16;
/** Bytes that take as long as a small step. */
const STEP_BYTES = 4096;

export interface PaceHost {
  nowMs(): number;
  rest(ms: number): void;
}

/**
 * Breaks long work of a background thread into slices with rests between. A low priority alone does not keep others from waiting: a
 * scheduler lets the running thread finish its slice, up to some milliseconds, before it lets in a thread that wakes.
 */
export class Pace {
  /** No rests: the work is behind. */
  isHurried = false;
  readonly #host: PaceHost;
  #steps = 0;
  #startedMs = 0;

  constructor(host: PaceHost = newThreadHost()) {
    this.#host = host;
  }

  /** Called with each piece of work. @param bytes that it copied or wrote */
  step(bytes: number): void {
    this.#steps += 1 + Math.floor(bytes / STEP_BYTES);
    if (this.#steps < STEPS_PER_LOOK || this.isHurried) return;
    this.#steps = 0;
    if (this.#host.nowMs() - this.#startedMs < SLICE_MS) return;
    this.#host.rest(REST_MS);
    this.#startedMs = this.#host.nowMs();
  }
}

function newThreadHost(): PaceHost {
  const sleep = new Int32Array(new SharedArrayBuffer(4));
  return { nowMs: () => performance.now(), rest: (ms) => void Atomics.wait(sleep, 0, 0, ms) };
}
