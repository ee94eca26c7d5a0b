/**
 * The part of a tick that counts where the machine has nothing to spare, or the test computes: it
 * may take ten times as long.
 */
const BUSY_SHARE = 0.1;

/**
 * Counts how long something is waited for, in time that could have brought it: only while this
 * process is served, and in full only where the machine has a core that nothing uses and this
 * thread is idle. A test that is slow because the machine is busy, or slow itself, is not ended
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

  /**
   * @param workedShare of the time since the last tick, the share in which this thread's event loop
   *   worked: 0 to 1
   * @returns whether the limit has passed
   */
  tick(cores: CoreTimes, workedShare: number): boolean {
    const spentMs = cores.spentMs - this.#cores.spentMs;
    const idleMs = cores.idleMs - this.#cores.idleMs;
    this.#cores = cores;
    const idleCores = spentMs > 0 ? (cores.count * idleMs) / spentMs : 0;
    // A tick that comes late was not served: it counts as one alone.
    this.#waitedMs += this.#tickMs * Math.min(1, Math.max(BUSY_SHARE, Math.min(idleCores, 1 - workedShare)));
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
