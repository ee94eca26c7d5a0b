const NAMES = ["unhandledRejection", "uncaughtExceptionMonitor", "warning"] as const;

/** Listens for what must never reach a process: rejections without an owner, exceptions, warnings. */
export class ProcessNoise {
  readonly #heard: unknown[] = [];
  readonly #hear = (what: unknown): void => {
    this.#heard.push(what);
  };

  constructor() {
    for (const name of NAMES) process.on(name, this.#hear);
  }

  /** Stops, and says what was heard. */
  async end(): Promise<readonly unknown[]> {
    // Rejections without an owner are told once the promises of a turn have run.
    await new Promise((resolve) => setImmediate(resolve));
    for (const name of NAMES) process.off(name, this.#hear);
    return this.#heard;
  }
}
