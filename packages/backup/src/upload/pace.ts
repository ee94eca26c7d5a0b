/** Node's longest timer; a longer one fires after 1 ms. */
const PAUSE_MS_MAX = 2 ** 31 - 1;

/** Keeps uploads at a number of bytes a second, over some seconds. */
export class Pace {
  readonly #bytesPerSecond: number;
  readonly #pause: (ms: number) => Promise<void>;
  readonly #nowMs: () => number;
  /** When what was sent would have been sent at that pace. */
  #paidMs = 0;

  /** @param bytesPerSecond 0: no limit */
  constructor(bytesPerSecond: number, nowMs: () => number, pause: (ms: number) => Promise<void>) {
    this.#bytesPerSecond = bytesPerSecond;
    this.#nowMs = nowMs;
    this.#pause = pause;
  }

  /** Waits until more may be sent, after some bytes were. */
  async spend(bytes: number): Promise<void> {
    if (this.#bytesPerSecond === 0) return;
    const now = this.#nowMs();
    this.#paidMs = Math.max(this.#paidMs, now) + (bytes / this.#bytesPerSecond) * 1000;
    for (let leftMs = Math.ceil(this.#paidMs - now); leftMs > 0; leftMs -= PAUSE_MS_MAX)
      await this.#pause(Math.min(leftMs, PAUSE_MS_MAX));
  }
}
