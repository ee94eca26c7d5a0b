import { describe, expect, test } from "vitest";
import { summarize } from "../results/latency-summary.ts";
import { eachNullServer, never } from "../testing/null-load.ts";
import { runJob } from "./load-crew.ts";

// Load on a null server. Times are asserted by lower bounds, which no slow machine breaks.

const { jobOf } = eachNullServer();

describe("closed loop", () => {
  test("every answer of the window has its latency, and nothing is lost", async () => {
    const [outcome] = await runJob(jobOf(), { workers: 1, signal: never });
    const measured = summarize(outcome?.latencies[0] ?? new Int32Array()).count;
    expect(measured).toBeGreaterThan(0);
    expect(outcome?.answered[0]).toBeGreaterThan(0);
    // Requests sent and answers counted in the window differ by those in flight at its ends.
    expect(Math.abs(measured - (outcome?.answered[0] ?? 0))).toBeLessThanOrEqual(2 * 4 * 8);
    expect(outcome?.errors).toEqual({});
  });

  test("an early end returns the measurements until then", async () => {
    const aborting = new AbortController();
    const done = runJob(jobOf({ warmupMs: 0, durationMs: 600_000 }), {
      workers: 1,
      signal: aborting.signal,
      onProgress: (total) => {
        if (total > 0) aborting.abort();
      },
    });
    const [outcome] = await done;
    expect(outcome?.answered[0]).toBeGreaterThan(0);
  });
});

describe("open loop", () => {
  const RATE = 2000;

  test("as many requests are sent as the schedule has", async () => {
    const loop = { kind: "open", ratePerSecond: RATE, arrivals: "constant", inFlightMax: 10_000 } as const;
    const outcomes = await runJob(jobOf({ loop, durationMs: 500 }), { workers: 2, signal: never });
    const count = outcomes.reduce((sum, { latencies }) => sum + summarize(latencies[0] ?? new Int32Array()).count, 0);
    const lags = outcomes.reduce((sum, { lag }) => sum + summarize(lag).count, 0);
    expect(Math.abs(count - RATE / 2)).toBeLessThan(3);
    expect(lags).toBe(count);
  });

  test("room for one request only delays requests and skips none", async () => {
    const loop = { kind: "open", ratePerSecond: RATE, arrivals: "constant", inFlightMax: 1 } as const;
    const [outcome] = await runJob(jobOf({ loop, connections: 1, durationMs: 500 }), { workers: 1, signal: never });
    const { count } = summarize(outcome?.latencies[0] ?? new Int32Array());
    expect(Math.abs(count - RATE / 2)).toBeLessThan(2);
  });
});
