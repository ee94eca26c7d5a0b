import { ArgumentError, errorJson, found, keepCode } from "@zooid/model";
import { type EnsembleEvent, formatEvent } from "./events.ts";
import { checkWork, type TestEnsembleOptions } from "./options.ts";
import { TestEnsemble } from "./test-ensemble.ts";

const EVENT_COUNT_SHOWN = 20;

/** Which seeds are run. */
export interface SeedRange extends Omit<TestEnsembleOptions, "seed"> {
  /** How many. */
  readonly seeds: number;
  /** The first one. Default 1. */
  readonly from?: number;
}

/** A seed has failed; its error is the `cause`. */
export class SeedError extends Error {
  override readonly name = "SeedError";
  readonly code = "SEED_FAILED";
  readonly seed: number;
  readonly events: readonly EnsembleEvent[];

  constructor(seed: number, events: readonly EnsembleEvent[], cause: unknown) {
    const shown = events.slice(-EVENT_COUNT_SHOWN).map(formatEvent);
    const reason = cause instanceof Error ? cause.message : String(cause);
    super(
      [
        `seed ${seed} failed: ${reason}`,
        `To run it alone: { from: ${seed}, seeds: 1 }. ${shown.length < events.length ? "The last events" : "Events"}:`,
        ...shown,
      ].join("\n"),
      { cause },
    );
    this.seed = seed;
    this.events = events;
    keepCode(this, this.code);
  }

  /** As JSON, in a bounded size; see `errorJson`. */
  toJSON(): object {
    return errorJson(this);
  }
}

/**
 * Runs a test once for each seed, with a new ensemble each time, until one fails.
 *
 * @throws SeedError with the seed that fails
 */
export async function forSeeds(
  range: SeedRange,
  work: (ensemble: TestEnsemble) => void | PromiseLike<void>,
): Promise<void> {
  checkWork("forSeeds", work);
  const { seeds, from = 1, ...options } = range ?? {};
  const problems: string[] = [];
  if (!Number.isInteger(seeds) || seeds < 1) problems.push(`seeds is a whole number from 1 on, found ${found(seeds)}`);
  if (!Number.isInteger(from) || from < 0) problems.push(`from is a whole number from 0 on, found ${found(from)}`);
  if (problems.length > 0) throw new ArgumentError("forSeeds", problems);
  for (let seed = from; seed < from + seeds; seed++) {
    let events: readonly EnsembleEvent[] = [];
    try {
      await TestEnsemble.run({ ...options, seed }, (ensemble) => {
        ({ events } = ensemble);
        return work(ensemble);
      });
    } catch (error) {
      throw new SeedError(seed, events, error);
    }
  }
}
