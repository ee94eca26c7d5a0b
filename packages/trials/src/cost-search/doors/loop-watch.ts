/** The longest iteration of this process' event loop between two calls. */
export class LoopWatch {
  #heldMs = 0;
  #lastMs = 0;
  #isOn = false;

  begin(): void {
    this.#heldMs = 0;
    this.#lastMs = performance.now();
    this.#isOn = true;
    const look = (): void => {
      const nowMs = performance.now();
      this.#heldMs = Math.max(this.#heldMs, nowMs - this.#lastMs);
      this.#lastMs = nowMs;
      if (this.#isOn) setImmediate(look);
    };
    setImmediate(look);
  }

  /** @returns milliseconds */
  async end(): Promise<number> {
    await new Promise((resolve) => setImmediate(resolve));
    this.#isOn = false;
    return this.#heldMs;
  }
}
