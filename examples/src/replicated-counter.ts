/**
 * Shows a counter that is replicated by `@zooid/zab` alone, on the simulated network and disks:
 * servers crash and are isolated, by seed, and no acknowledged increment is lost.
 *
 *     npm run example examples/src/replicated-counter.ts [FIRST-SEED]
 */
import { CounterRun } from "./replicated-counter/counter-run.ts";

const SEEDS = 20;
const first = Number(process.argv[2] ?? 1);
for (let seed = first; seed < first + SEEDS; seed++) {
  const { acknowledged, crashes, partitions, total } = new CounterRun(seed).run();
  console.log(
    `seed ${seed}: ${crashes} crashes, ${partitions} partitions, ${acknowledged} increments acknowledged, ${total} on each server`,
  );
}
console.log(`${SEEDS} seeds: no acknowledged increment is lost`);
