import { readFileSync, writeFileSync } from "node:fs";

/** A file with the score below which a run fails, and what the last run found. */
export interface ScoreFile {
  /** In percent. Runs never change it: it is raised by hand, and never lowered. */
  readonly floor: number;
  /** The score of the last run at or above the floor. */
  readonly score: number;
  readonly [fact: string]: unknown;
}

/** The floors below which no file's floor may lie: those that have been reached. */
export const FLOORS_REACHED: Readonly<Record<string, number>> = {
  "tools/mutants/score.json": 50,
  "packages/simulator/mutation-score.json": 45,
};

/**
 * Compares a run's score with the file's floor. A score at or above it is written to the file with
 * the facts of the run, and the floor stays; below it the file stays as it is.
 *
 * @returns a sentence where the score is too low
 */
export function holdFloor(
  path: string,
  run: { readonly score: number; readonly [fact: string]: unknown },
): string | undefined {
  const { floor } = JSON.parse(readFileSync(path, "utf8")) as ScoreFile;
  if (typeof floor !== "number" || !(floor >= 0 && floor <= 100))
    throw new Error(`expected a floor from 0 to 100 in ${path}, found ${JSON.stringify(floor)}`);
  if (!(run.score >= floor)) {
    return `the score is ${run.score}, and at least ${floor} is needed (${path}): write tests for the survivors above, or judge those that are harmless`;
  }
  const kept = Object.assign({ floor }, run, { floor });
  writeFileSync(path, `${JSON.stringify(kept, undefined, 2)}\n`);
  return undefined;
}
