/** The part of a tick that counts where the machine has nothing to spare: a test may take five times as long there. */
const BUSY_SHARE = 0.2;

/**
 * Counts how long something is waited for, in time that could have brought it: only while this process is served, and in
 * full only where the machine has a core that nothing uses. A test that is slow because the machine is busy is not ended
 * early, and one that waits for an event that never comes is ended.
 */
export class WaitLimit {
  readonly #limitMs: number;
  readonly #tickMs: number;
  #waitedMs = 0;
  #cores: CoreTimes;

  /** @param tickMs how often `tick` is called at most */
  constructor(limitMs: number, tickMs: number, cores: CoreTimes) {
    this.#limitMs = limitMs;
    this.#tickMs = tickMs;
    this.#cores = cores;
  }

  /** @returns whether the limit has passed */
  tick(cores: CoreTimes): boolean {
    const spentMs = cores.spentMs - this.#cores.spentMs;
    const idleMs = cores.idleMs - this.#cores.idleMs;
    this.#cores = cores;
    const idleCores = spentMs > 0 ? (cores.count * idleMs) / spentMs : 0;
    // A tick that comes late was not served: it counts as one alone.
    this.#waitedMs += this.#tickMs * Math.min(1, Math.max(BUSY_SHARE, idleCores));
    return this.#waitedMs >= this.#limitMs;
  }
}

/** Times of all cores since the machine started. */
export interface CoreTimes {
  readonly count: number;
  readonly idleMs: number;
  /** With the idle ones. */
  readonly spentMs: number;
}
