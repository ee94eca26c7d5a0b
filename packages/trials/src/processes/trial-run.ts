import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Random } from "@zooid/conformance/internal/random";

interface TrialOptions {
  readonly seed: number;
  /** Keeps the folder also where nothing is wrong. */
  readonly keep: boolean;
}

/**
 * A trial from its seed to its verdict: a folder for its data and logs, which stays where the trial
 * has found a fault, and what it has found.
 */
export class TrialRun {
  readonly random: Random;
  readonly folder: string;
  readonly faults: string[] = [];
  readonly #options: TrialOptions;

  /** @param name of the trial, which its folder's name begins with */
  constructor(name: string, options: TrialOptions) {
    this.random = new Random(options.seed);
    this.folder = mkdtempSync(join(tmpdir(), `${name}-`));
    this.#options = options;
  }

  /** Plays the trial; an error of it is a fault. @param title what is printed behind the seed */
  async play(title: string, rounds: () => Promise<void>): Promise<void> {
    console.log(`seed ${this.#options.seed}, ${title}${this.folder}`);
    try {
      await rounds();
    } catch (error) {
      this.faults.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
    }
  }

  /** Whether the folder stays. */
  get isKept(): boolean {
    return this.#options.keep || this.faults.length > 0;
  }

  /**
   * Prints the faults and a summary, and ends the process: with status 1 where there are faults.
   *
   * @param summary of what was played
   */
  end(summary: string): never {
    for (const fault of this.faults) console.log(fault);
    const hasPassed = this.faults.length === 0;
    if (this.isKept) console.log(`data and logs are kept in ${this.folder}`);
    else rmSync(this.folder, { recursive: true, force: true });
    console.log(`${summary}: ${hasPassed ? "passed" : "FAILED"}`);
    process.exit(hasPassed ? 0 : 1);
  }
}
