/** Rounds of faults on one ensemble, each with a history of its own. */
import type { EnsembleLoad } from "./ensemble-load.ts";
import { keepFaults } from "./ensemble-report.ts";
import type { Ensemble } from "./ensemble-servers.ts";

const DEADLINE_MS = 60_000;

export interface LoadRounds {
  readonly ensemble: Ensemble;
  readonly load: EnsembleLoad;
  readonly rounds: number;
}

/**
 * Starts the ensemble and plays rounds until one has a fault; then all that was ever made is
 * compared. With a fault, the history is kept beside the data and the logs. The servers have ended.
 *
 * @param play plays a round. @returns what is wrong with it
 * @returns whether nothing was wrong
 */
export async function playRounds(
  { ensemble, load, rounds }: LoadRounds,
  play: (round: number) => Promise<readonly string[]>,
): Promise<boolean> {
  let faults: readonly string[] = [];
  try {
    await ensemble.start(DEADLINE_MS);
    await load.prepare();
    for (let round = 1; round <= rounds && faults.length === 0; round++) faults = await play(round);
    if (faults.length === 0) {
      faults = await load.checkAll();
      await load.close();
    }
  } catch (error) {
    faults = [error instanceof Error ? error.message : String(error)];
  }
  if (faults.length > 0) keepFaults(ensemble.options.folder, { faults, load, ensemble });
  await ensemble[Symbol.asyncDispose]();
  return faults.length === 0;
}
