import { type BatchTask, runBatch } from "./batch.ts";
import type { PlanChanges } from "./draw-plan.ts";

/** Runs in a worker process: runs the batches that it receives and sends back the results. */
export function serveBatches(changes: PlanChanges): void {
  process.on("message", (task) => {
    process.send?.(runBatch(task as BatchTask, changes));
  });
}
