/** Polls for further connections before the work that waits is done, and the time of them all. */
const ROUNDS_MAX = 16;
const ROUNDS_MS = 1;

export interface PollRoundsOptions {
  /** A monotonic clock in milliseconds. */
  now(): number;
  /** Calls back after the next poll. */
  defer(callback: () => void): void;
}

/**
 * Work of the driver after the sockets were polled. Node.js accepts one connection each time that
 * its event loop polls (libuv since 1.46): a client that connects behind fifty others would wait
 * for fifty turns, however long each is. So while connections arrive, the loop polls again before
 * it does this work, for a millisecond and up to sixteen of them.
 */
export class PollRounds {
  readonly #options: PollRoundsOptions;
  #waiting: (() => void)[] = [];
  #hasArrived = false;
  #rounds = 0;
  #endMs = 0;

  constructor(options: PollRoundsOptions) {
    this.#options = options;
  }

  /** A connection was accepted, or reset: others may wait behind it. */
  arrived(): void {
    this.#hasArrived = true;
  }

  /**
   * Calls back after the next poll, or some polls later while connections arrive; in the order of
   * these calls.
   */
  later(callback: () => void): void {
    this.#waiting.push(callback);
    if (this.#waiting.length === 1) this.#options.defer(this.#run);
  }

  readonly #run = (): void => {
    if (this.#hasArrived && this.#mayPoll()) {
      this.#hasArrived = false;
      this.#rounds++;
      this.#options.defer(this.#run);
      return;
    }
    this.#hasArrived = false;
    this.#rounds = 0;
    const due = this.#waiting;
    this.#waiting = [];
    for (const callback of due) callback();
  };

  #mayPoll(): boolean {
    const nowMs = this.#options.now();
    if (this.#rounds === 0) this.#endMs = nowMs + ROUNDS_MS;
    return this.#rounds < ROUNDS_MAX && nowMs < this.#endMs;
  }
}
