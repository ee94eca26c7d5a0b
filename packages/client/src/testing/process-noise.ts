const NAMES = ["unhandledRejection", "uncaughtExceptionMonitor", "warning"] as const;

/** Records process events that must not happen: unhandled rejections, exceptions, warnings. */
export class ProcessNoise {
  readonly #heard: unknown[] = [];
  readonly #hear = (what: unknown): void => {
    this.#heard.push(what);
  };

  constructor() {
    for (const name of NAMES) process.on(name, this.#hear);
  }

  /** Stops recording and returns the events. */
  async end(): Promise<readonly unknown[]> {
    // Unhandled rejections are reported after the promises of a turn have run.
    await new Promise((resolve) => setImmediate(resolve));
    for (const name of NAMES) process.off(name, this.#hear);
    return this.#heard;
  }
}
