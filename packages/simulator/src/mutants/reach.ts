import { fork } from "node:child_process";
import { join } from "node:path";
import type { Mutant } from "./generate.ts";

/** A piece of source, and how often it ran. */
interface CountedRange {
  readonly startOffset: number;
  readonly endOffset: number;
  readonly count: number;
}

/** By file: the ranges that V8 counts, one within the other. */
export type Reach = Record<string, readonly CountedRange[]>;

/** The task of the process that counts. */
export interface ReachTask {
  readonly files: readonly string[];
  readonly from: number;
  readonly seeds: number;
}

/** Runs seeds against the unchanged source and counts what runs. */
export function countReach(mutants: readonly Mutant[], from: number, seeds: number): Promise<Reach> {
  const worker = fork(join(import.meta.dirname, "reach-worker.ts"), {
    execArgv: ["--conditions=@zooid/source"],
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  return new Promise((resolve, reject) => {
    worker.on("message", (message) => resolve(message as Reach));
    worker.on("error", reject);
    worker.on("exit", (code) => reject(new Error(`the process that counts what seeds reach ended with ${code}`)));
    const task: ReachTask = { files: [...new Set(mutants.map(({ file }) => file))], from, seeds };
    worker.send(task);
  });
}

/**
 * Whether the place of a mutation ran. Runs of a seed are equal until then, so seeds that do not
 * reach it cannot notice it.
 */
export function isReached({ file, start }: Mutant, reach: Readonly<Reach>): boolean {
  let innermost: CountedRange | undefined;
  for (const range of reach[file] ?? []) {
    if (start < range.startOffset || start >= range.endOffset) continue;
    if (innermost === undefined || lengthOf(range) <= lengthOf(innermost)) innermost = range;
  }
  return innermost !== undefined && innermost.count > 0;
}

function lengthOf({ startOffset, endOffset }: CountedRange): number {
  return endOffset - startOffset;
}
