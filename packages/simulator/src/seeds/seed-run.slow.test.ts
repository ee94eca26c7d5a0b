import { serverId } from "@zooid/model";
import { describe, expect, test } from "vitest";
import type { Deviation } from "../exhaustive/choice-points.ts";
import {
  beginExploring,
  type ExhaustiveResult,
  exploreAll,
  exploreTask,
  runDeviations,
} from "../exhaustive/explore.ts";
import { CoverageCounts } from "../runs/coverage.ts";
import type { RunReport } from "../runs/report.ts";
import { type PlanChanges, planOf } from "./draw-plan.ts";
import { runPlan } from "./seed-run.ts";
import { shrink } from "./shrink.ts";

// More seeds than `seed-run.test.ts` has, more runs of a small ensemble, and the seeds that once
// found a fault.

function run(seed: number, changes: PlanChanges = {}): RunReport {
  return runPlan(planOf(seed, changes));
}

/** As before these existed: seeds reach what they reached then. */
const BEFORE_LIMITS: PlanChanges = {
  hasSmallLimits: false,
  sessions: "replicated",
  tenants: 0,
  hasPlainManners: true,
};

function expectNoViolation({ violation }: RunReport): void {
  expect(violation?.message).toBeUndefined();
}

describe("an ensemble with its clients and its faults", () => {
  // `npm run simulate` runs a thousand more.
  test.each([100_001, 100_002, 100_005, 100_006, 100_007, 100_008])("seed %i keeps every promise", (seed) => {
    const report = run(seed);
    expectNoViolation(report);
    expect(report.virtualMs).toBeGreaterThan(20_000);
  });

  test.each([
    [2, "an ensemble of one voter begins its epoch"],
    [3, "learners serve no earlier than their leader"],
    [8, "a wiped voter gets no promise before a quorum has formed without it"],
    [33, "a session is over when its end is committed"],
    [42, "a server whose disk was lost does not answer the requests of its earlier life"],
    [45, "accepting an epoch answers the syncs that came before"],
    [58, "a promise to a leader that failed does not block later leaders"],
    [262, "acks sent before the acceptance count after it"],
    [282, "an ensemble forms even if the first attempt is interrupted"],
    [10_080, "acks count after their link has ended"],
    [10_593, "a promise made after a disk was lost does not let a voter vote"],
    [1861, "the ensemble id of a failed attempt does not block servers"],
    [751, "a voter that lost its disk gets the ensemble id with the history, and forms no other ensemble"],
  ])("seed %i: %s", (seed) => {
    // These were found before these faults, nodes and limits existed.
    const without = [
      "stale-leader",
      "crash-at-slice",
      "damaged-log",
      "wipe-beside-stale-leader",
      "late-answers",
    ] as const;
    expectNoViolation(run(seed, { without, hasNodeKinds: false, ...BEFORE_LIMITS }));
  });

  test.each([
    [110_858, "a server drops the id of an ensemble that never formed when it joins another"],
    [106_208, "acks of a disk that was lost twice count"],
  ])("seed %i: %s", (seed) => {
    expectNoViolation(run(seed, { without: ["crash-at-slice"], hasNodeKinds: false, ...BEFORE_LIMITS }));
  });

  test("seed 516559: a voter without weight is not named as successor", () => {
    expectNoViolation(run(516_559, { without: ["crash-at-slice"], ...BEFORE_LIMITS }));
  });

  test.each([
    [701_125, "a deposed leader that has not noticed ends no session that came after it"],
    [900_617, "a wiped voter votes after its leader dies mid-sync, once its disk holds the epoch"],
    [300_177, "a wiped voter that an older leader synced acked nothing in the newer epoch"],
  ])("seed %i: %s", (seed) => {
    expectNoViolation(run(seed, { without: ["crash-at-slice"], hasNodeKinds: true, ...BEFORE_LIMITS }));
  });

  test("seed 703534: two learners get a long history over slow links, after the usual time", () => {
    expectNoViolation(run(703_534));
  });

  test.each([1, 3, 4, 5])("seed %i runs the same way twice", (seed) => {
    const [first, second] = [run(seed), run(seed)];
    expect(second).toEqual(first);
    expect(first.traceHash).not.toBe(run(seed + 1000).traceHash);
  });
});

test("small limits split work and refuse requests, and servers crash in the middle", () => {
  const counts = new CoverageCounts();
  for (let seed = 1; seed <= 20; seed++) {
    const report = run(seed, { voters: 3, hasSmallLimits: true, only: ["crash-at-slice", "leadership-transfer"] });
    expectNoViolation(report);
    counts.addAll(report.sometimes);
  }
  for (const what of [
    "session closed in several parts",
    "transaction applied in slices",
    "multi prepared in slices",
    "crash while a multi is prepared",
    "crash in the middle of a transaction",
    "crash between the parts of the end of a session",
    "oversized transaction refused",
    "connection closed for its watches",
    "connection not read for a while",
  ] as const) {
    expect(counts.count(what), what).toBeGreaterThan(0);
  }
});

test("local sessions are upgraded, move once they are, and are refused elsewhere until then", () => {
  const counts = new CoverageCounts();
  for (let seed = 1; seed <= 12; seed++) {
    const report = run(seed, {
      voters: 3,
      sessions: seed % 4 === 0 ? "local" : "upgrading",
      only: ["crash", "leadership-transfer"],
    });
    expectNoViolation(report);
    counts.addAll(report.sometimes);
  }
  for (const what of [
    "local session upgraded",
    "local session refused at another server",
    "upgraded session moved to another server",
    "ephemeral of a local session refused",
  ] as const) {
    expect(counts.count(what), what).toBeGreaterThan(0);
  }
});

test("hostile tenants stop no replica, and no other client is refused for them", () => {
  const counts = new CoverageCounts();
  for (let seed = 1; seed <= 12; seed++) {
    const report = run(seed, {
      voters: 3,
      tenants: 2,
      hasSmallLimits: seed % 2 === 0,
      only: ["crash", "leadership-transfer"],
    });
    expectNoViolation(report);
    counts.addAll(report.sometimes);
  }
  expect(counts.count("hostile tenant disconnected")).toBeGreaterThan(0);
  expect(counts.count("hostile tenant refused for what the tree holds")).toBeGreaterThan(0);
});

test("a crowd of hostile tenants of many addresses stops no replica, and others' writes are carried out", () => {
  for (let seed = 1; seed <= 4; seed++) {
    const report = run(seed, {
      voters: 3,
      tenants: 6,
      faultsUntilMs: 4000,
      hasSmallLimits: seed % 2 === 0,
      only: ["crash", "leadership-transfer"],
    });
    expectNoViolation(report);
  }
});

describe("every run of a small ensemble", () => {
  test("with one deviation keeps the rules", async () => {
    const { failure, runs } = await exploreAll({ depth: 1, faults: 1 });
    expect(failure).toBeUndefined();
    expect(runs).toBeGreaterThan(200);
  });

  test("with two crashes and a cut: a slice of them keeps the rules", async () => {
    const space = { depth: 1, faults: 3, stride: 600 };
    const [pairs, triples] = [await exploreAll({ ...space, faults: 2 }), await exploreAll(space)];
    expect(triples.failure).toBeUndefined();
    expect(triples.runs).toBeGreaterThan(pairs.runs + 50);
  });

  test("slices share only the runs with one deviation, and together are the whole", async () => {
    const space = { depth: 2, faults: 2 };
    const { tasks } = beginExploring(space);
    const task = tasks[tasks.length >> 1];
    if (task === undefined) throw new Error("there is something to do");
    const whole = await exploreTask(space, task);
    const slices: ExhaustiveResult[] = [];
    for (const offset of [0, 1, 2]) slices.push(await exploreTask({ ...space, stride: 3, offset }, task));
    const alone = runDeviations([task.first.deviation]);
    const sum = slices.reduce((steps, slice) => steps + slice.steps - alone.steps, 0);
    expect(sum).toBe(whole.steps - alone.steps);
    expect(whole.runs).toBeGreaterThan(10);
  });

  test("a fault at any step ends like one at a place that is explored", () => {
    const { tasks, result } = beginExploring({ depth: 1, faults: 1 });
    const tried = tasks.map(({ first }) => first.deviation).filter(({ kind }) => kind !== "later");
    const ends = new Set(tried.map(endOf));
    const anywhere: Deviation[] = [];
    // Before the third step not all of them run.
    for (let step = 3; step < result.steps; step += 5) {
      for (const sid of [1, 2, 3].map(serverId)) {
        anywhere.push({ step, kind: "cut", sid }, { step, kind: "crash", sid, kept: 0 });
        anywhere.push({ step, kind: "crash", sid, kept: Number.POSITIVE_INFINITY });
      }
    }
    expect(anywhere.length).toBeGreaterThan(tried.length);
    expect(anywhere.filter((deviation) => !ends.has(endOf(deviation)))).toEqual([]);
  });
});

/**
 * How a run with one deviation ends, which situations it reached, and what a crash left; without
 * what died unseen with the server.
 */
function endOf(deviation: Deviation): string {
  const lines: string[] = [];
  const { violation, committed, acknowledged, answers, epochs, sometimes } = runDeviations([deviation], lines);
  const isOwn = (name: string): boolean =>
    name.startsWith("crash with") || name.startsWith("crash during") || name === "proposal died";
  // Which server the client connects to next is random and does not matter.
  const reached = Object.keys(sometimes).filter(
    (name) => name !== "session moved to another server" && !(deviation.kind === "crash" && isOwn(name)),
  );
  const left = lines.find((line) => line.includes("is dead"))?.slice(10);
  return JSON.stringify([violation?.message, committed, acknowledged, answers, epochs, reached.sort(), left]);
}

test("a plan that does not fail is not shrunk", () => {
  expect(shrink(1, "nothing fails by this rule", { clients: 1 })).toEqual({ clients: 1 });
});
