import { describe, expect, test } from "vitest";
import { runSimulation, SimulationFailure } from "./simulation.ts";

describe("one replica, many sessions", () => {
  test.each(Array.from({ length: 40 }, (_, i) => i + 1))("seed %i keeps every promise", (seed) => {
    const report = runSimulation({ seed });
    expect(report.acknowledgedWrites).toBeGreaterThan(0);
  });

  test("the seeds together crash, expire sessions and fire watches", () => {
    const reports = Array.from({ length: 10 }, (_, i) => runSimulation({ seed: 100 + i }));
    const sum = (field: "crashes" | "expiries" | "events"): number =>
      reports.reduce((all, report) => all + report[field], 0);
    expect(sum("crashes")).toBeGreaterThan(10);
    expect(sum("expiries")).toBeGreaterThan(3);
    expect(sum("events")).toBeGreaterThan(100);
  });

  test("a crash at any step of the log loses nothing that was acknowledged", () => {
    const { logSteps } = runSimulation({ seed: 7, steps: 400, crashRate: 0 });
    expect(logSteps).toBeGreaterThan(50);
    for (let step = 1; step <= logSteps; step++) {
      expect(runSimulation({ seed: 7, steps: 400, crashAtLogStep: step }).crashes).toBe(1);
    }
  });

  test("the same seed runs the same way twice", () => {
    for (const seed of [1, 2, 3]) {
      const [first, second] = [runSimulation({ seed }), runSimulation({ seed })];
      expect(second).toEqual(first);
      expect(first.traceHash).not.toBe(runSimulation({ seed: seed + 1000 }).traceHash);
    }
  });

  test("answers that leave before the sync are found", () => {
    expect(() => runSimulation({ seed: 1, replyBeforeSync: true })).toThrow(SimulationFailure);
  });
});
