import { CreateMode } from "@zooid/model";
import { describe, expect, test } from "vitest";
import { createTemplate, multiSetTemplate, readTemplate, setTemplate } from "../connections/request-template.ts";
import { type NullServerThread, startNullServer } from "../null-server/null-server-thread.ts";
import { summarize } from "../results/latency-summary.ts";
import { eachNullServer, never } from "../testing/null-load.ts";
import { runJob } from "./load-crew.ts";
import type { RequestJob } from "./request-load.ts";

// Load on a null server, in addition to `request-load.test.ts`. Times are asserted by lower bounds,
// which no slow machine breaks.

const { jobOf, server } = eachNullServer();

describe("closed loop", () => {
  test("kinds are counted apart and come as often as their weights say", async () => {
    const payload = new Uint8Array(10);
    const templates = [readTemplate("read", "/b/n-#######"), setTemplate("write", "/b/n-#######", payload)];
    const [outcome] = await runJob(jobOf({ templates, weights: [3, 1] }), { workers: 1, signal: never });
    const [reads = 0, writes = 0] = outcome?.answered ?? [];
    expect(reads / writes).toBeGreaterThan(2.5);
    expect(reads / writes).toBeLessThan(3.5);
  });

  test("more threads share the connections; each has its own outcome", async () => {
    const outcomes = await runJob(jobOf(), { workers: 2, signal: never });
    expect(outcomes).toHaveLength(2);
    for (const { answered } of outcomes) expect(answered[0]).toBeGreaterThan(0);
  });

  test("each connection's counter continues from where it began", async () => {
    const path = "/b/c-@@@/%%%%%%%";
    const template = createTemplate("create", { path, payload: new Uint8Array(1), mode: CreateMode.PERSISTENT });
    const [outcome] = await runJob(jobOf({ templates: [template], counterFrom: 1000 }), { workers: 1, signal: never });
    expect(outcome?.counterEnd).toBeGreaterThan(1000);
  });

  test("a connection that loses its server moves to the next with its session, if requested", async () => {
    await using other = await startNullServer({ payloadBytes: 100 });
    const lost = await startNullServer({ payloadBytes: 100 });
    const hosts = [lost, other].map(({ port }) => ({ name: "127.0.0.1", port }));
    const durationMs = 1000;
    const job = jobOf({ hosts, connections: 1, warmupMs: 0, durationMs, sliceMs: 50, movesOn: true });
    let isLost = false;
    const [outcome] = await runJob(job, {
      workers: 1,
      signal: never,
      onProgress: (total) => {
        if (total === 0 || isLost) return;
        isLost = true;
        void lost[Symbol.asyncDispose]();
      },
    });
    expect(outcome?.reconnects).toBe(1);
    expect(outcome?.slices?.answered[0]?.at(-1)).toBeGreaterThan(0);
    const inSlices = outcome?.slices?.answered[0]?.reduce((sum, count) => sum + count, 0) ?? 0;
    // Requests lost with the server are not counted as answers.
    expect(inSlices).toBe((outcome?.answered[0] ?? 0) - (outcome?.errors["CONNECTION_LOSS"] ?? 0));
  });

  test("values of a megabyte arrive whole", async () => {
    await using large = await startNullServer({ payloadBytes: 1_000_000 });
    const templates = [
      readTemplate("read", "/b/n-#######"),
      setTemplate("write", "/b/n-#######", new Uint8Array(1_000_000)),
      multiSetTemplate("multi", ["/b/n-#######", "/b/n-#######"], new Uint8Array(500_000)),
    ];
    const hosts = [{ name: "127.0.0.1", port: large.port }];
    const job = jobOf({ hosts, templates, weights: [1, 1, 1], connections: 2, loop: { kind: "closed", inFlight: 3 } });
    const [outcome] = await runJob(job, { workers: 1, signal: never });
    expect(outcome?.errors).toEqual({});
    for (const answered of outcome?.answered ?? []) expect(answered).toBeGreaterThan(0);
  });
});

test.each([
  ["closed", { kind: "closed", inFlight: 4 }],
  ["open", { kind: "open", ratePerSecond: 2000, arrivals: "constant", inFlightMax: 10_000 }],
] as const)("%s loop: a server that dies costs errors by code, and load continues when it is back", async (_, loop) => {
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
});

test("an open loop of poisson arrivals sends as many requests as the schedule has", async () => {
  const ratePerSecond = 2000;
  const loop = { kind: "open", ratePerSecond, arrivals: "poisson", inFlightMax: 10_000 } as const;
  const outcomes = await runJob(jobOf({ loop, durationMs: 500 }), { workers: 2, signal: never });
  const count = outcomes.reduce((sum, { latencies }) => sum + summarize(latencies[0] ?? new Int32Array()).count, 0);
  const lags = outcomes.reduce((sum, { lag }) => sum + summarize(lag).count, 0);
  // Poisson's own deviation for a thousand is 32.
  expect(Math.abs(count - ratePerSecond / 2)).toBeLessThan(200);
  expect(lags).toBe(count);
});

describe("a server that freezes for a while", () => {
  const FREEZE = { atMs: 150, forMs: 300 };

  async function p99Of(loop: RequestJob["loop"]): Promise<{ p99: number; max: number; count: number }> {
    await using frozen = await startNullServer({ payloadBytes: 100, freeze: FREEZE });
    const hosts = [{ name: "127.0.0.1", port: frozen.port }];
    const job = jobOf({ hosts, loop, connections: 2, warmupMs: 0, durationMs: 600 });
    const [outcome] = await runJob(job, { workers: 1, signal: never });
    expect(outcome?.errors).toEqual({});
    return summarize(outcome?.latencies[0] ?? new Int32Array());
  }

  test.each([
    ["requests leave on time all the same", 100_000],
    ["there is room for one request, and the others wait for it since they were due", 1],
  ])("shows in an open loop in which %s", async (_, inFlightMax) => {
    const loop = { kind: "open", ratePerSecond: 1000, arrivals: "constant", inFlightMax } as const;
    const { p99, max, count } = await p99Of(loop);
    expect(count).toBe(600);
    // Half of the requests were due during the freeze. The one that was due in the n-th millisecond
    // of the freeze waited for the rest of it, so the 99th percentile is 98 % of the freeze.
    expect(p99).toBeGreaterThan(0.97 * FREEZE.forMs * 1000);
    expect(max).toBeGreaterThan(0.998 * FREEZE.forMs * 1000);
  });

  test("is hidden in a closed loop, where it only affects the few requests in flight", async () => {
    const { p99, max } = await p99Of({ kind: "closed", inFlight: 1 });
    // A request of this loop is due when the one before it is answered, so a late client sends it
    // into the middle of the freeze, and it waits for the rest.
    expect(max).toBeGreaterThan((FREEZE.forMs * 1000) / 2);
    expect(p99).toBeLessThan((FREEZE.forMs * 1000) / 2);
  });
});
