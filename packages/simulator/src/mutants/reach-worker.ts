import { Session } from "node:inspector/promises";
import type { Reach, ReachTask } from "./reach.ts";

// Runs in a process of its own: the coverage of a process counts everything that it runs.
process.on("message", async (message) => {
  const { files, from, seeds } = message as ReachTask;
  const session = new Session();
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
  const { runPlan } = await import("../seeds/seed-run.ts");
  const { planOf } = await import("../seeds/draw-plan.ts");
  for (let seed = from; seed < from + seeds; seed++) {
    runPlan(planOf(seed));
    // The logs' promises settle and are collected.
    await Promise.resolve();
  }
  const { result } = await session.post("Profiler.takePreciseCoverage");
  const reach: Reach = {};
  for (const file of files) {
    const script = result.find(({ url }) => url.endsWith(`/${file}`));
    reach[file] = script?.functions.flatMap(({ ranges }) => ranges) ?? [];
  }
  await new Promise<void>((resolve) => process.send?.(reach, undefined, {}, () => resolve()));
  process.disconnect();
});
