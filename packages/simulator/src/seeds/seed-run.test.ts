import { serverId } from "@zooid/model";
import { describe, expect, test } from "vitest";
import { FAULTS } from "../faults/fault-names.ts";
import type { Plan } from "../runs/plan.ts";
import type { RunReport } from "../runs/report.ts";
import { type PlanChanges, planOf } from "./draw-plan.ts";
import { runPlan } from "./seed-run.ts";
import { optionsOf } from "./shrink.ts";

function run(seed: number, changes: PlanChanges = {}): RunReport {
  return runPlan(planOf(seed, changes));
}

/**
 * 1. S1 has all of the weight and commits without S2.
 * 2. Resets interrupt each transfer to S2.
 * 3. The faults end, and S2 gets some 15 entries a second.
 */
const longHistory: Plan = {
  ...planOf(1, {
    voters: 2,
    observers: 0,
    clients: 4,
    tenants: 0,
    isChangeable: false,
    faultsUntilMs: 5000,
    sessions: "replicated",
    hasPlainManners: true,
    hasSmallLimits: false,
    hasNodeKinds: false,
  }),
  groups: [
    { sid: serverId(1), group: 0, weight: 1 },
    { sid: serverId(2), group: 0, weight: 0 },
  ],
  thinkMs: 60,
  counterMax: undefined,
  windowBytes: 1,
  runBytes: 1,
  delayMsMin: 10,
  delayMsMax: 30,
  syncMsMin: 1,
  syncMsMax: 30,
  faults: new Map([["reset", 700]]),
  faultsFromMs: 1500,
};

function expectNoViolation({ violation }: RunReport): void {
  expect(violation?.message).toBeUndefined();
}

describe("an ensemble with its clients and its faults", () => {
  test.each([100_003, 100_004])("seed %i keeps every promise", (seed) => {
    const report = run(seed);
    expectNoViolation(report);
    expect(report.virtualMs).toBeGreaterThan(20_000);
  });

  test.each([2])("seed %i runs the same way twice", (seed) => {
    const [first, second] = [run(seed), run(seed)];
    expect(second).toEqual(first);
    expect(first.traceHash).not.toBe(run(seed + 1000).traceHash);
  });

  test("a run with a transcript equals the run without one", () => {
    const lines: string[] = [];
    const report = runPlan(planOf(7), { lines });
    expect(report).toEqual(run(7));
    expect(lines.length).toBeGreaterThan(1000);
  });
});

describe("a learner that lacks a long history", () => {
  test("gets it, however long that takes", () => {
    const report = runPlan(longHistory);
    expectNoViolation(report);
    expect(report.virtualMs).toBeGreaterThan(5000 + 15_000);
  });

  test("is reported if it gets nothing", () => {
    // Its leader gives it up before its first answer comes.
    const report = runPlan({ ...longHistory, delayMsMin: 1200, delayMsMax: 1200 });
    expect(report.violation?.message).toMatch(/^L5: 15000 ms after the last fault: server 2 does not serve/);
    expect(report.virtualMs).toBe(5000 + 15_000);
  });
});

describe("an ensemble of one", () => {
  test("expires sessions, fires watches and survives crashes", () => {
    const reports = Array.from({ length: 6 }, (_, i) => run(200 + i, { voters: 1, observers: 0, isStandalone: true }));
    for (const report of reports) expectNoViolation(report);
    const sum = (field: "crashes" | "events" | "acknowledged"): number =>
      reports.reduce((all, report) => all + report[field], 0);
    expect(sum("crashes")).toBeGreaterThan(10);
    expect(sum("events")).toBeGreaterThan(50);
    expect(sum("acknowledged")).toBeGreaterThan(500);
  });

  test("a crash at any step of the log loses nothing that was acknowledged", () => {
    const changes = { voters: 1, observers: 0, isStandalone: true, only: [], faultsUntilMs: 1500 } as const;
    const { logSteps } = run(7, { ...changes, crashAtLogStep: 1_000_000 });
    expect(logSteps).toBeGreaterThan(10);
    for (let step = 1; step <= logSteps; step++) {
      const report = run(7, { ...changes, crashAtLogStep: step });
      expectNoViolation(report);
      expect(report.crashes).toBe(1);
    }
  });
});

describe("a plan", () => {
  test("without a fault leaves the others as they were", () => {
    const plan = planOf(11);
    const [left] = plan.faults.keys();
    if (left === undefined) throw new Error("seed 11 has faults");
    const rest = planOf(11, { without: [left] });
    expect([...rest.faults]).toEqual([...plan.faults].filter(([fault]) => fault !== left));
    expect({ ...rest, faults: plan.faults }).toEqual(plan);
  });

  test("draws every fault, and every size from 1 to 7", () => {
    const plans = Array.from({ length: 200 }, (_, i) => planOf(i));
    expect(new Set(plans.flatMap(({ faults }) => [...faults.keys()]))).toEqual(
      new Set(FAULTS.filter((fault) => !["restore", "open", "close", "version", "finalize"].includes(fault))),
    );
    expect(planOf(1, { hasRestores: true }).faults.has("restore")).toBe(true);
    const closed = Array.from({ length: 20 }, (_, i) => planOf(i, { hasClosedClients: true }));
    const { faults: ofClosed } = closed.find(({ members }) => members?.clients === "closed") ?? {};
    expect([ofClosed?.has("open"), ofClosed?.has("close")]).toEqual([true, true]);
    const { faults } = planOf(1, { hasLevels: true });
    expect([faults.has("version"), faults.has("finalize")]).toEqual([true, true]);
    expect(new Set(plans.map(({ voters }) => voters.length))).toEqual(new Set([1, 2, 3, 4, 5, 6, 7]));
  });
});

test("changes of a plan are printed as options", () => {
  expect(
    optionsOf({
      without: ["crash", "wipe"],
      clients: 2,
      hasNodeKinds: false,
      hasSmallLimits: true,
      sessions: "local",
      tenants: 1,
      faultsUntilMs: 500,
    }),
  ).toBe("--without crash,wipe --clients 2 --kinds no --limits small --sessions local --tenants 1 --until 500");
});
