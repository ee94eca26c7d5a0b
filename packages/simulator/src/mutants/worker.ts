import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { join } from "node:path";
import { type Mutant, mutated, ROOT } from "./generate.ts";

/** Message to a process that runs seeds against a mutant. */
export interface MutantTask {
  readonly mutant: Mutant;
  readonly from: number;
  readonly seeds: number;
}

/** A seed has ended; the rule that noticed the mutant, if one did. */
export interface SeedResult {
  readonly seed: number;
  readonly rule?: string;
}

// Runs in a process of its own: the simulator is imported behind the hook, with the mutant in it.
process.on("message", async (message) => {
  const { mutant, from, seeds } = message as MutantTask;
  const source = mutated(readFileSync(join(ROOT, mutant.file), "utf8"), mutant);
  registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context);
      return url.endsWith(`/${mutant.file}`) ? { ...loaded, source } : loaded;
    },
  });
  const { runPlan } = await import("../seeds/seed-run.ts");
  const { planOf } = await import("../seeds/draw-plan.ts");
  for (let seed = from; seed < from + seeds; seed++) {
    const { violation } = runPlan(planOf(seed));
    const result: SeedResult = violation === undefined ? { seed } : { seed, rule: violation.rule };
    await new Promise<void>((resolve) => process.send?.(result, undefined, {}, () => resolve()));
    if (violation !== undefined) break;
  }
  process.disconnect();
});
