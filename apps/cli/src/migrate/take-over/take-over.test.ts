import { assert, expect, test } from "vitest";
import { Crash, FAULTS, type Fault, MovingWorld, type WorldOptions } from "../../testing/moving-world.ts";
import { abort } from "./abort.ts";
import type { ActKind, Reply, Yielded } from "./action.ts";
import { Asking } from "./asking.ts";
import type { Event } from "./event.ts";
import type { Obstacle } from "./obstacle.ts";
import { TakeOver, type TakeOverPlan, type Verdict } from "./take-over.ts";

const PLAN: TakeOverPlan = {
  fence: "stop",
  hasDisks: false,
  isConfirmed: true,
  isPlan: false,
  withinMs: undefined,
};
const FENCES = ["stop", "reconfig"] as const;
/** More than any run takes. */
const ACTS_MAX = 5000;

function driven<T>(world: MovingWorld, steps: Generator<Yielded, T, Reply>, events: Event[] = []): T {
  let reply: Reply = { answer: { kind: "done", value: undefined }, nowMs: world.nowMs };
  for (let acts = 0; acts < ACTS_MAX; acts++) {
    const next = steps.next(reply);
    if (next.done === true) return next.value;
    if ("event" in next.value) events.push(next.value.event);
    else reply = world.reply(next.value.action);
  }
  throw new Error(`the machine does not end: ${world.acts.slice(-10).join(", ")}`);
}

function takenOver(world: MovingWorld, plan: Partial<TakeOverPlan> = {}, events: Event[] = []): Verdict {
  return driven(world, new TakeOver({ ...PLAN, ...plan }).run(), events);
}

function undone(world: MovingWorld): readonly Obstacle[] {
  return driven(world, abort(new Asking(), { mayBeOpen: true }));
}

function codesOf(verdict: Verdict): readonly string[] {
  return "obstacles" in verdict ? verdict.obstacles.map(({ code }) => code) : [];
}

test.each(FENCES)("clients are taken over, with a fence by %s, in the order of the steps", (fence) => {
  const world = new MovingWorld();
  const events: Event[] = [];
  expect(takenOver(world, { fence }, events)).toEqual({ kind: "taken-over", isRepeat: false });
  expect(events.flatMap((event) => (event.kind === "step" ? [event.step] : []))).toEqual([
    "level",
    "block",
    "prove",
    "fence",
    "verify",
    "install",
    "open",
  ]);
  expect(world.members.areOpen).toBe(true);
  expect(takenOver(world, { fence })).toEqual({ kind: "taken-over", isRepeat: true });
});

test.each(FENCES)("a plan changes nothing, with a fence by %s", (fence) => {
  const world = new MovingWorld();
  expect(takenOver(world, { fence, isPlan: true })).toMatchObject({ kind: "planned", situation: "begin" });
  expect(world.isAsBefore).toBe(true);
  const changing: readonly ActKind[] = [
    "run",
    "touch",
    "sync",
    "reconfig-alone",
    "finish",
    "take-over",
    "open",
    "drop",
  ];
  expect(world.acts.filter((kind) => changing.includes(kind))).toEqual([]);
});

interface Run {
  readonly fence: (typeof FENCES)[number];
  readonly at: number;
  readonly how: Fault;
}

/** Each act of an undisturbed run, with each fault. */
function* everyFault(): Generator<Run> {
  for (const fence of FENCES) {
    const undisturbed = new MovingWorld();
    takenOver(undisturbed, { fence });
    for (let at = 0; at < undisturbed.acts.length; at++) for (const how of FAULTS) yield { fence, at, how };
  }
}

function disturbed({ fence, at, how }: Run): { readonly world: MovingWorld; readonly verdict: Verdict | "crashed" } {
  const world = new MovingWorld();
  world.fault = { at, how };
  try {
    return { world, verdict: takenOver(world, { fence }) };
  } catch (error) {
    if (!(error instanceof Crash)) throw error;
    return { world, verdict: "crashed" };
  } finally {
    world.fault = undefined;
  }
}

test("whatever act fails, has no answer, or takes too long: either side serves, and Apache as before, or all is taken over", () => {
  const verdicts = new Map<string, number>();
  for (const run of everyFault()) {
    const { world, verdict } = disturbed(run);
    if (verdict === "crashed") continue;
    const where = `${JSON.stringify(run)} ${world.acts[run.at]}: ${JSON.stringify(verdict)}`;
    verdicts.set(verdict.kind, (verdicts.get(verdict.kind) ?? 0) + 1);
    switch (verdict.kind) {
      case "taken-over":
        expect(world.members.areOpen, where).toBe(true);
        break;
      case "refused":
        expect(world.isAsBefore, where).toBe(true);
        break;
      case "aborted":
        expect(verdict.problems, where).toEqual([]);
        expect(world.isAsBefore, where).toBe(true);
        break;
      default:
        assert.fail(where);
    }
  }
  expect([...verdicts.keys()].sort()).toEqual(["aborted", "refused", "taken-over"]);
});

test("wherever the process ends: abort brings Apache back, unless clients are served", () => {
  for (const run of everyFault()) {
    const { world, verdict } = disturbed(run);
    if (verdict !== "crashed") continue;
    const where = `${JSON.stringify(run)} ${world.acts[run.at]}`;
    const problems = undone(world);
    if (world.members.areOpen)
      expect(
        problems.map(({ code }) => code),
        where,
      ).toEqual(["member-open"]);
    else expect([problems, world.isAsBefore], where).toEqual([[], true]);
  }
});

test("wherever the process ends: a repeat takes over, or is refused, and after an abort a repeat takes over", () => {
  const verdicts = new Set<string>();
  for (const run of everyFault()) {
    const { world, verdict } = disturbed(run);
    if (verdict !== "crashed") continue;
    const where = `${JSON.stringify(run)} ${world.acts[run.at]}`;
    const again = takenOver(world, { fence: run.fence });
    verdicts.add(again.kind);
    if (again.kind === "taken-over") {
      expect(world.members.areOpen, where).toBe(true);
      continue;
    }
    expect(again.kind, where).toBe("refused");
    expect(codesOf(again), where).toContain("apache-stopped");
    expect([undone(world), world.isAsBefore], where).toEqual([[], true]);
    expect(takenOver(world, { fence: run.fence }).kind, where).toBe("taken-over");
  }
  expect([...verdicts].sort()).toEqual(["refused", "taken-over"]);
});

test.each<readonly [string, WorldOptions, Partial<TakeOverPlan>, Verdict["kind"], string]>([
  ["a client port is left open", { leak: 1 }, {}, "aborted", "time-over"],
  ["a client port is left open, and disks are read", { leak: 1 }, { hasDisks: true }, "aborted", "time-over"],
  ["connections are not known", { hidesClients: true }, {}, "aborted", "clients-unknown"],
  ["connections are not known, and disks are read", { hidesClients: true }, { hasDisks: true }, "taken-over", ""],
  ["a disk holds more", { disksAhead: true }, { hasDisks: true }, "aborted", "disks-ahead"],
  ["one voter of three is not reached", { lost: [2] }, {}, "taken-over", ""],
  ["two voters of three are not reached", { lost: [1, 2] }, {}, "aborted", "no-quorum-verified"],
  ["the one voter that is left is not reached", { lost: [3] }, { fence: "reconfig" }, "aborted", "no-quorum-verified"],
  ["removed voters are not reached", { lost: [1, 2] }, { fence: "reconfig" }, "taken-over", ""],
  ["a member does not install the state", { memberWithout: true }, {}, "aborted", "member-behind"],
  [
    "lines without ports for clients",
    { hasClientPorts: false },
    { fence: "reconfig" },
    "refused",
    "line-without-client-port",
  ],
  ["lines without ports for clients, and no reconfiguration", { hasClientPorts: false }, {}, "taken-over", ""],
  ["a session has a timeout that is too short", { shortestMs: 300 }, {}, "aborted", "time-over"],
  ["more time is asked for than a session has", {}, { withinMs: 4001 }, "refused", "timeout-too-short"],
])("%s", (_, options, plan, kind, code) => {
  const world = new MovingWorld(options);
  const verdict = takenOver(world, plan);
  expect(verdict.kind).toBe(kind);
  if (code !== "") expect(codesOf(verdict)).toContain(code);
  expect(world.isAsBefore).toBe(kind !== "taken-over");
});

test("members that never answer the request to open are asked again, and nothing is undone", () => {
  const world = new MovingWorld();
  const steps = new TakeOver(PLAN).run();
  let reply: Reply = { answer: { kind: "done", value: undefined }, nowMs: 0 };
  let verdict: Verdict | undefined;
  let isOpening = false;
  while (verdict === undefined) {
    const next = steps.next(reply);
    if (next.done === true) verdict = next.value;
    else if ("action" in next.value) {
      const { action } = next.value;
      isOpening ||= action.kind === "open";
      expect(isOpening && ["run", "drop", "resume"].includes(action.kind)).toBe(false);
      if (isOpening && action.kind !== "wait") {
        world.nowMs += 5000;
        reply = { answer: { kind: "failed", isRefused: false, reason: "silent" }, nowMs: world.nowMs };
      } else reply = world.reply(action);
    }
  }
  expect(verdict.kind).toBe("unknown");
});

test.each(FENCES)("members that are closed again are neither taken over nor given up, with a fence by %s", (fence) => {
  const world = new MovingWorld();
  takenOver(world, { fence });
  world.members.areOpen = false;
  world.members.isClosedAgain = true;
  world.acts.length = 0;
  const verdict = takenOver(world, { fence });
  expect([verdict.kind, codesOf(verdict)]).toEqual(["refused", ["member-open"]]);
  expect(undone(world).map(({ code }) => code)).toEqual(["member-open"]);
  expect(new Set(world.acts)).toEqual(new Set(["look-follower", "look-members"]));
});
