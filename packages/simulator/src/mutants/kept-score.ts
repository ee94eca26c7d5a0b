import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./generate.ts";

/** A score of a small sample moves with the source. */
const POINTS_MAX = 10;

/** The share of mutations that are noticed, in percent. */
export function scoreOf(noticed: number, count: number): number {
  return count === 0 ? 100 : Math.round((1000 * noticed) / count) / 10;
}

/**
 * Keeps a score with more about its run in a file; where it has fallen too far, the file stays and
 * the process ends with status 1.
 *
 * @param file from the root of the repository
 */
export function keepScore(file: string, run: { readonly score: number; readonly [fact: string]: unknown }): void {
  const path = join(ROOT, file);
  const before = existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as { score: number }).score : 0;
  if (run.score < before - POINTS_MAX) {
    console.error(`the score is ${run.score}, in ${file} it is ${before}: judge the survivors above`);
    process.exitCode = 1;
  } else writeFileSync(path, `${JSON.stringify(run, undefined, 2)}\n`);
}
