import { describe, expect, test } from "vitest";
import { readTemplate, setTemplate } from "../connections/request-template.ts";
import { type NullServerThread, startNullServer } from "../null-server/null-server-thread.ts";
import { summarize } from "../results/latency-summary.ts";
import { eachNullServer, never } from "../testing/null-load.ts";
import { runJob } from "./load-crew.ts";

// Load on a null server. Times are asserted by lower bounds, which no slow machine breaks.

const { jobOf, server } = eachNullServer();

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

  test("kinds are counted apart and come as often as their weights say", async () => {
    const payload = new Uint8Array(10);
    const templates = [readTemplate("read", "/b/n-#######"), setTemplate("write", "/b/n-#######", payload)];
    const [outcome] = await runJob(jobOf({ templates, weights: [3, 1] }), { workers: 1, signal: never });
    const [reads = 0, writes = 0] = outcome?.answered ?? [];
    expect(reads / writes).toBeGreaterThan(2.5);
    expect(reads / writes).toBeLessThan(3.5);
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

test.each([["closed", { kind: "closed", inFlight: 4 }]] as const)(
  "%s loop: a server that dies costs errors by code, and load continues when it is back",
  async (_, loop) => {
    const stopping = new AbortController();
    const hosts = [{ name: "127.0.0.1", port: server().port }];
    let second: NullServerThread | undefined;
    let isRestarting = false;
    let totalAtRestart = 0;
    const restart = async (total: number): Promise<void> => {
      await server()[Symbol.asyncDispose]();
      second = await startNullServer({ port: hosts[0]?.port ?? 0, payloadBytes: 100 });
      totalAtRestart = total;
    };
    const [outcome] = await runJob(jobOf({ hosts, loop, warmupMs: 0, durationMs: 600_000 }), {
      workers: 1,
      signal: stopping.signal,
      onProgress: (total) => {
        if (total > 0 && !isRestarting) {
          isRestarting = true;
          void restart(total);
        }
        // Far more than can have been in flight when the first one died.
        if (second !== undefined && total > totalAtRestart * 2 + 2_000) stopping.abort();
      },
    });
    await second?.[Symbol.asyncDispose]();
    expect(outcome?.reconnects).toBeGreaterThanOrEqual(4);
    expect(Object.keys(outcome?.errors ?? {})).toEqual(["CONNECTION_LOSS"]);
    expect(outcome?.answered[0]).toBeGreaterThan(totalAtRestart);
  },
);

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
