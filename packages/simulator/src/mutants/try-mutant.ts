import { fork } from "node:child_process";
import { join } from "node:path";
import type { Mutant } from "./generate.ts";
import type { MutantTask, SeedResult } from "./worker.ts";

/**
 * A seed takes a fraction of a second, on a busy machine seconds; a mutant that reaches this limit
 * does not end.
 */
const SEED_LIMIT_MS = 60_000;

/**
 * How a mutant was noticed: by a rule, by an error at its import, or because a seed did not end.
 */
export interface Caught {
  readonly seed: number;
  readonly rule: string;
}

/** Runs seeds against a mutant until one notices it. @returns undefined where none does */
export function tryMutant(mutant: Mutant, from: number, seeds: number): Promise<Caught | undefined> {
  const worker = fork(join(import.meta.dirname, "worker.ts"), {
    execArgv: ["--conditions=@zooid/source"],
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  });
  return new Promise((resolve, reject) => {
    let next = from;
    let caught: Caught | undefined;
    const expire = (): void => {
      caught = { seed: next, rule: "time" };
      worker.kill("SIGKILL");
    };
    let timer = setTimeout(expire, SEED_LIMIT_MS);
    worker.on("message", (message) => {
      const { seed, rule } = message as SeedResult;
      clearTimeout(timer);
      timer = setTimeout(expire, SEED_LIMIT_MS);
      next = seed + 1;
      if (rule !== undefined) caught = { seed, rule };
    });
    worker.on("error", reject);
    worker.on("exit", () => {
      clearTimeout(timer);
      // A process that ends early could not load the mutant, or ended in an error outside a step.
      resolve(caught ?? (next < from + seeds ? { seed: next, rule: "error" } : undefined));
    });
    const task: MutantTask = { mutant, from, seeds };
    worker.send(task);
  });
}
