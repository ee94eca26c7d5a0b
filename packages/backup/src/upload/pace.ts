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
    await this.#pause(Math.ceil(this.#paidMs - now));
  }
}
