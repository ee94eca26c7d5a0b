import { composeZxid } from "@zooid/model";
import { assert, expect, test } from "vitest";
import { Crash, FAULTS, type Fault } from "../../testing/moving-world.ts";
import { type ReturningOptions, ReturningWorld } from "../../testing/returning-world.ts";
import { type ActKind, Asking, type Reply, type Yielded } from "./action.ts";
import type { Event } from "./event.ts";
import { type ReopenVerdict, reopen } from "./reopen.ts";
import { Return, type ReturnPlan, type Verdict } from "./return.ts";

const PLAN: ReturnPlan = { without: new Set(), isConfirmed: true, isPlan: false, withinMs: 60_000 };
/** More than any run takes. */
const ACTS_MAX = 5000;
const CHANGING: readonly ActKind[] = ["close", "export", "keep", "drop", "open"];

function driven<T>(world: ReturningWorld, steps: Generator<Yielded, T, Reply>, events: Event[] = []): T {
  let reply: Reply = { answer: { kind: "done", value: undefined }, nowMs: world.nowMs };
  for (let acts = 0; acts < ACTS_MAX; acts++) {
    const next = steps.next(reply);
    if (next.done === true) return next.value;
    if ("event" in next.value) events.push(next.value.event);
    else reply = world.reply(next.value.action);
  }
  throw new Error(`the machine does not end: ${world.acts.slice(-10).join(", ")}`);
}

function returned(world: ReturningWorld, plan: Partial<ReturnPlan> = {}, events: Event[] = []): Verdict {
  return driven(world, new Return({ ...PLAN, ...plan }).run(), events);
}

function reopened(world: ReturningWorld): ReopenVerdict {
  return driven(world, reopen(new Asking(), { isConfirmed: true }));
}

function codesOf(verdict: Verdict | ReopenVerdict): readonly string[] {
  return "obstacles" in verdict ? verdict.obstacles.map(({ code }) => code) : [];
}

test("an ensemble is closed and exported in the order of the steps, and a repeat finds the export", () => {
  const world = new ReturningWorld();
  const events: Event[] = [];
  const verdict = returned(world, {}, events);
  expect(verdict).toMatchObject({
    kind: "exported",
    isRepeat: false,
    record: { closedAt: world.closedAt, epoch: 8 + 1024, zxid: composeZxid(8 + 1024, 1) },
  });
  expect(events.flatMap((event) => (event.kind === "step" ? [event.step] : []))).toEqual([
    ...["look", "close", "prove", "export", "keep"],
  ]);
  expect(world.isReturned).toBe(true);
  expect(returned(world)).toMatchObject({ kind: "exported", isRepeat: true, closedForMs: undefined });
  expect(world.isReturned).toBe(true);
});

test("a plan changes nothing, and neither does a question that is answered with no", () => {
  const world = new ReturningWorld();
  expect(returned(world, { isPlan: true })).toEqual({ kind: "planned" });
  const asked = new ReturningWorld({ isConfirmed: false });
  expect(codesOf(returned(asked, { isConfirmed: false }))).toEqual(["not-confirmed"]);
  for (const each of [world, asked]) {
    expect(each.acts.filter((kind) => CHANGING.includes(kind))).toEqual([]);
    expect(each.isAsBefore).toBe(true);
  }
});

interface Run {
  readonly at: number;
  readonly how: Fault;
}

/** Each act of an undisturbed run, with each fault. */
function* everyFault(): Generator<Run> {
  const undisturbed = new ReturningWorld();
  returned(undisturbed);
  for (let at = 0; at < undisturbed.acts.length; at++) for (const how of FAULTS) yield { at, how };
}

function disturbed(fault: Run): { readonly world: ReturningWorld; readonly verdict: Verdict | "crashed" } {
  const world = new ReturningWorld();
  world.fault = fault;
  try {
    return { world, verdict: returned(world) };
  } catch (error) {
    if (!(error instanceof Crash)) throw error;
    return { world, verdict: "crashed" };
  } finally {
    world.fault = undefined;
  }
}

test("whatever act fails, has no answer, or takes too long: all is exported, or clients are served as before", () => {
  const verdicts = new Set<string>();
  for (const run of everyFault()) {
    const { world, verdict } = disturbed(run);
    if (verdict === "crashed") continue;
    const where = `${JSON.stringify(run)} ${world.acts[run.at]}: ${JSON.stringify(verdict)}`;
    verdicts.add(verdict.kind);
    switch (verdict.kind) {
      case "exported":
        expect(world.isReturned, where).toBe(true);
        break;
      case "undone":
        expect([verdict.problems, world.isAsBefore], where).toEqual([[], true]);
        break;
      case "refused":
        expect(world.isAsBefore, where).toBe(true);
        break;
      default:
        assert.fail(where);
    }
  }
  expect([...verdicts].sort()).toEqual(["exported", "refused", "undone"]);
});

test("wherever the process ends: a repeat exports all, and an abort opens the ensemble", () => {
  for (const run of everyFault()) {
    const { world, verdict } = disturbed(run);
    if (verdict !== "crashed") continue;
    const where = `${JSON.stringify(run)} ${world.acts[run.at]}`;
    expect([returned(world).kind, world.isReturned], where).toEqual(["exported", true]);
    const { world: other } = disturbed(run);
    expect([reopened(other).kind, other.isOpen], where).toEqual(["reopened", true]);
  }
});

test("whenever another operator opens the ensemble: no export is said to be complete that lacks a write", () => {
  const undisturbed = new ReturningWorld();
  returned(undisturbed);
  for (let at = 0; at < undisturbed.acts.length; at++) {
    const world = new ReturningWorld();
    world.openedBefore = at;
    const verdict = returned(world);
    const where = `${at} ${world.acts[at]}: ${JSON.stringify(verdict)}`;
    if (verdict.kind === "exported") expect(world.isReturned, where).toBe(true);
    else expect([verdict.kind, world.isAsBefore], where).toEqual(["undone", true]);
  }
});

const SILENT = { fault: "no answer", isLeader: false, isServing: false };

test.each<readonly [string, ReturningOptions, Verdict["kind"], string]>([
  ["a member does not answer", { members: { 0: SILENT } }, "refused", "member-silent"],
  ["no member leads", { members: { 1: { isLeader: false } } }, "refused", "members-no-leader"],
  ["members of two ensembles", { members: { 0: { isLeader: true } } }, "refused", "members-two-leaders"],
  ["a member is not named", { members: { 1: { sids: [1, 2, 3, 4] } } }, "refused", "member-unnamed"],
  ["a member of another ensemble", { members: { 0: { sid: 9 } } }, "refused", "member-unlisted"],
  ["a member without a quorum", { members: { 0: { isServing: false } } }, "refused", "member-not-serving"],
  ["a server alone", { members: { 1: { sids: undefined } } }, "refused", "member-alone"],
  ["an ensemble that was never opened", { isFounded: true }, "refused", "never-opened"],
  [
    "no epoch is left",
    { members: { 1: { apacheEpoch: undefined, apacheEpochNote: "the last epoch is near" } } },
    "refused",
    "epochs-used-up",
  ],
  ["a server of Apache's runs", { apache: ["refused", "open", "refused"] }, "refused", "apache-runs"],
  ["Apache's machines are off", { apache: ["silent", "silent", "silent"] }, "exported", ""],
  [
    "a directory with files",
    { directory: { kind: "unusable", text: "it is not empty" } },
    "refused",
    "directory-unusable",
  ],
  ["a client stays connected", { leak: 1 }, "undone", "time-over"],
])("%s", (_, options, kind, code) => {
  const world = new ReturningWorld(options);
  const verdict = returned(world);
  expect(verdict.kind).toBe(kind);
  if (code !== "") expect(codesOf(verdict)).toContain(code);
  if (kind === "refused") expect(world.acts.filter((each) => CHANGING.includes(each))).toEqual([]);
  if (kind === "undone") expect(world.isAsBefore).toBe(true);
});

test("a server that is stopped for good may be left out", () => {
  const sids = [1, 2, 3, 4];
  const world = new ReturningWorld({ members: { 0: { sids }, 1: { sids }, 2: { sids } } });
  world.leader = 1;
  expect(codesOf(returned(world))).toEqual(["member-unnamed"]);
  expect(returned(world, { without: new Set([4]) }).kind).toBe("exported");
});

test("an export of an earlier closing is no export of this one", () => {
  const world = new ReturningWorld();
  returned(world);
  const { kept } = world;
  expect(reopened(world)).toEqual({ kind: "reopened", isRepeat: false });
  expect(reopened(world)).toEqual({ kind: "reopened", isRepeat: true });
  const again = returned(world);
  expect([again.kind, codesOf(again), world.kept]).toEqual(["refused", ["directory-unusable"], kept]);
  expect(world.isOpen).toBe(true);
});

test("an ensemble stays closed while a server of Apache's runs, or may run", () => {
  for (const [apache, code] of [
    [["open", "refused", "refused"], "apache-runs"],
    [["silent", "silent", "refused"], "apache-unknown"],
  ] as const) {
    const world = new ReturningWorld({ apache });
    world.closedAt = composeZxid(7, 11);
    const verdict = reopened(world);
    expect([verdict.kind, codesOf(verdict), world.isOpen]).toEqual(["not-reopened", [code], false]);
  }
  const founded = new ReturningWorld({ isFounded: true });
  expect(codesOf(reopened(founded))).toEqual(["never-opened"]);
});
