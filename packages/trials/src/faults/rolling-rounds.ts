/** Rounds in which the servers of an ensemble are changed one after the other, under load. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { inMs, quantiles } from "../figures/quantiles.ts";
import { longestGapMs } from "./ensemble-history.ts";
import { printFaults } from "./ensemble-report.ts";
import { Ensemble, type EnsembleOptions, type EnsembleServer, until } from "./ensemble-servers.ts";
import { ReplaceLoad } from "./replace-load.ts";

export const DEADLINE_MS = 60_000;
const SESSION_TIMEOUT_MS = 20_000;
/** Load before the first step and after each. */
const SETTLE_MS = 300;

export interface RollingOptions {
  /** The tool, for folders. */
  readonly name: string;
  readonly ensemble: Omit<EnsembleOptions, "folder">;
  /** Number of servers that run at first. */
  readonly founders: number;
  /** Another build of the server for these. */
  readonly program?: string | undefined;
  /** Numbers of clients of `@zooid/client`, and of kazoo. */
  readonly own: number;
  readonly kazoo: number;
  /** Whether folders are kept where nothing is wrong, too. */
  readonly keep: boolean;
}

/** One round, under load until its steps are done. */
export class RollingRound {
  readonly ensemble: Ensemble;
  /** Those that run at first. */
  readonly founders: readonly EnsembleServer[];
  readonly load: ReplaceLoad;
  /** A text for each step that was taken. */
  readonly steps: string[] = [];
  readonly faults: string[] = [];
  readonly #program: string | undefined;

  constructor(ensemble: Ensemble, { founders, program, own: ownCount, kazoo: kazooCount }: RollingOptions) {
    this.ensemble = ensemble;
    this.#program = program;
    this.founders = ensemble.servers.slice(0, founders);
    const sessionTimeoutMs = SESSION_TIMEOUT_MS;
    this.load = new ReplaceLoad({
      first: this.founders,
      all: ensemble.servers,
      sessionTimeoutMs,
      ownCount,
      kazooCount,
    });
  }

  /** Starts the founders and the clients. */
  async begin(): Promise<void> {
    for (const server of this.founders) server.launch(this.#program);
    await this.ensemble.untilLevel(DEADLINE_MS, this.founders);
    await this.load.start();
    await this.settle();
  }

  /** Acts, until the clients write again. @returns the longest time without an answer, in ms */
  async gapOf(act: () => Promise<unknown>): Promise<number> {
    const beganAt = process.hrtime.bigint();
    await act();
    await this.settle();
    return longestGapMs(this.load.writes, { after: beganAt });
  }

  /** Waits until the clients have written for a while. */
  async settle(): Promise<void> {
    const { doneCount } = this.load;
    await delay(SETTLE_MS);
    await until("writes", DEADLINE_MS, () => this.load.doneCount > doneCount);
  }
}

/** All rounds of a tool, until one has failed. */
export class RollingRounds {
  /** For each step that counts, the longest time without an answered write. */
  readonly gapsMs: number[] = [];
  hasFailed = false;
  readonly #options: RollingOptions;
  #writeCount = 0;

  constructor(options: RollingOptions) {
    this.#options = options;
  }

  /**
   * Plays a round with a new ensemble, and checks what the clients have seen and the servers hold.
   *
   * @param take begins the round and takes all steps. @returns the members at the end
   */
  async play(title: string, take: (round: RollingRound) => Promise<readonly EnsembleServer[]>): Promise<void> {
    if (this.hasFailed) return;
    const { name, keep, ensemble: options } = this.#options;
    const folder = mkdtempSync(join(tmpdir(), `${name}-`));
    await using ensemble = await Ensemble.create({ folder, ...options });
    const round = new RollingRound(ensemble, this.#options);
    const { load, steps, faults } = round;
    try {
      faults.push(...(await load.finish(await take(round))));
      this.#writeCount += load.doneCount;
      const unanswered = load.writes.length - load.doneCount;
      const counts = `${load.doneCount} writes (${unanswered} without an answer)`;
      console.log(`${title}: ${steps.join("; ")}; ${counts}${faults.length > 0 ? " FAILED" : ""}`);
    } catch (error) {
      faults.push(error instanceof Error ? error.message : String(error));
      if (steps.length > 0) console.log(`${title}: ${steps.join("; ")}`);
    }
    if (options.apacheJars !== undefined) for (const fault of faults) console.log(`${title}: ${fault.split("\n")[0]}`);
    else this.hasFailed = faults.length > 0;
    if (this.hasFailed) printFaults(faults, ensemble);
    if (this.hasFailed || keep) console.log(`data and logs are kept in ${folder}`);
    else rmSync(folder, { recursive: true, force: true });
  }

  /** Prints the outcome, and ends the process: clients that reach no server would continue. */
  end(unit = "step"): never {
    if (this.gapsMs.length > 0)
      console.log(`longest time without a write, per ${unit}: ${inMs(quantiles(this.gapsMs))}`);
    console.log(`${this.gapsMs.length} ${unit}s, ${this.#writeCount} writes answered`);
    console.log(
      this.hasFailed ? "FAILED" : "no acknowledged write lost, no order violated, no session lost, all servers equal",
    );
    process.exit(this.hasFailed ? 1 : 0);
  }
}
