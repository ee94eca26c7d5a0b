import { mix32 } from "@zooid/model";
import type { Scheduler } from "../cluster/scheduler.ts";

/**
 * The trace of a run: a hash that is equal for equal runs, and a transcript where one is wanted.
 */
export class Trace {
  readonly #scheduler: Scheduler;
  readonly #lines: string[] | undefined;
  #hash = 0;

  constructor(scheduler: Scheduler, lines: string[] | undefined) {
    this.#scheduler = scheduler;
    this.#lines = lines;
  }

  /** Whether there is a transcript. Without one, costly text need not be made. */
  get hasLines(): boolean {
    return this.#lines !== undefined;
  }

  get hash(): string {
    return (mix32(this.#hash) >>> 0).toString(16).padStart(8, "0");
  }

  /** A line of the transcript. */
  say(who: string, what: string): void {
    this.#lines?.push(`${this.#scheduler.nowMs.toFixed(3).padStart(10)} ${who.padEnd(5)} ${what}`);
  }

  mix(...values: readonly number[]): void {
    let hash = this.#hash;
    for (const value of values) hash = Math.imul(hash ^ (value | 0), 0x0100_0193) ^ (hash >>> 15);
    this.#hash = hash;
  }
}
