import { Session } from "node:inspector/promises";

/** Which blocks of this project's code have run, by V8's own count. */
export class Coverage {
  readonly #session: Session;
  readonly #seen = new Set<string>();

  private constructor(session: Session) {
    this.#session = session;
  }

  static async start(): Promise<Coverage> {
    const session = new Session();
    session.connect();
    await session.post("Profiler.enable");
    // Without counts V8 reports a block once and then leaves it alone, so that code that is known
    // runs at its full speed.
    await session.post("Profiler.startPreciseCoverage", { callCount: false, detailed: true });
    return new Coverage(session);
  }

  /** Whether any block ran that had not run at the last call. */
  async hasGrown(): Promise<boolean> {
    const before = this.#seen.size;
    const { result } = await this.#session.post("Profiler.takePreciseCoverage");
    for (const { scriptId, url, functions } of result) {
      if (!url.includes("/packages/") && !url.includes("/apps/")) continue;
      for (const { ranges } of functions) {
        for (const { startOffset, endOffset, count } of ranges) {
          if (count > 0) this.#seen.add(`${scriptId}:${startOffset}:${endOffset}`);
        }
      }
    }
    return this.#seen.size > before;
  }
}
