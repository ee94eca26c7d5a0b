import { type BatchTask, runBatch } from "./batch.ts";
import type { PlanChanges } from "./draw-plan.ts";

/** A process of its own that runs what it is sent, and sends what became of it. */
export function serveBatches(changes: PlanChanges): void {
  process.on("message", (task) => {
    process.send?.(runBatch(task as BatchTask, changes));
  });
}
