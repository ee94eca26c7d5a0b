/**
 * The return of an ensemble's clients to Apache ZooKeeper, as a machine that knows no clock and no
 * network: it yields acts, one at a time, and is given their replies.
 *
 * ```
 *  look ─▶ close ─▶ prove ─▶ export ─▶ keep ─▶ the operator starts Apache
 *   │        └────────┴─────────┘        │
 *  refused:       undone: clients        no way back but
 *  nothing was    are served again       migrate return --abort
 *  changed
 * ```
 *
 * The rules of this file:
 *
 * - The ensemble says itself whether it is closed, and by which change. So a repeat needs no file
 *   to know how far an earlier process was.
 * - An export counts for the closing that it was made of. It is complete only where, behind it,
 *   each server still says that it has no client, and was closed by the same change.
 * - An export that was said to be complete is never undone here: Apache may have been started from
 *   it.
 */
import { assert, type Zxid } from "@zooid/model";
import type { Failed } from "../acts.ts";
import { lasting, passing, StepFailed } from "../obstacles.ts";
import { type Action, type ActKind, type Answer, Asking, type Reply, type Yielded } from "./action.ts";
import type { Step } from "./event.ts";
import type { ExportRecord, MemberFacts } from "./facts.ts";
import {
  apacheEpochOf,
  type Beginning,
  beginObstacles,
  closedObstacles,
  leaderOf,
  remarksOf,
  situationOf,
} from "./judge.ts";
import type { Obstacle } from "./obstacle.ts";
import { undo } from "./reopen.ts";

export interface ReturnPlan {
  /** Numbers of servers that are stopped for good. */
  readonly without: ReadonlySet<number>;
  /** Whether the operator is not asked. */
  readonly isConfirmed: boolean;
  /** Whether it ends before anything is changed. */
  readonly isPlan: boolean;
  /** Time from the closing until the export is complete. */
  readonly withinMs: number;
}

export type Verdict =
  | { readonly kind: "planned" }
  /** Nothing was changed. */
  | { readonly kind: "refused"; readonly obstacles: readonly Obstacle[] }
  /** Clients are served again, but for these problems. */
  | {
      readonly kind: "undone";
      readonly step: Step;
      readonly obstacles: readonly Obstacle[];
      readonly problems: readonly Obstacle[];
    }
  /** The ensemble is closed, and its export is complete. */
  | {
      readonly kind: "exported";
      readonly isRepeat: boolean;
      readonly record: ExportRecord;
      /** Time since the request to close; undefined where an earlier process has closed. */
      readonly closedForMs: number | undefined;
    };

/** Members have this long to find a leader, before anything is changed. */
const READY_MS = 30_000;
const READY_POLL_MS = 500;
const LOOK_MS = 15_000;
const POLL_MS = 100;

type Steps<T> = Generator<Yielded, T, Reply>;

/** One return; it is run once. */
export class Return {
  readonly #plan: ReturnPlan;
  readonly #asking = new Asking();
  #step: Step = "look";
  #deadlineMs = Number.POSITIVE_INFINITY;
  #closedAtMs: number | undefined;
  readonly #waits = new Set<string>();
  #lastObstacles: readonly Obstacle[] = [];

  constructor(plan: ReturnPlan) {
    this.#plan = plan;
  }

  *run(): Steps<Verdict> {
    try {
      return yield* this.#run();
    } catch (error) {
      if (!(error instanceof StepFailed)) throw error;
      const obstacles: readonly Obstacle[] = error.obstacles;
      const step = this.#step;
      if (step === "look") return { kind: "refused", obstacles };
      yield { event: { kind: "undoing", step, reasons: obstacles.map(({ text }) => text) } };
      const problems = yield* undo(this.#asking);
      return { kind: "undone", step, obstacles, problems };
    }
  }

  *#run(): Steps<Verdict> {
    yield* this.#enter("look");
    const begun = yield* this.#look();
    const situation = situationOf(begun.members, begun.directory);
    yield { event: { kind: "found", situation } };
    if (situation === "exported" && begun.directory.kind === "exported")
      return { kind: "exported", isRepeat: true, record: begun.directory.record, closedForMs: undefined };
    if (this.#plan.isPlan) return { kind: "planned" };
    yield* this.#confirm();
    yield* this.#enter("close");
    this.#deadlineMs = this.#asking.nowMs + this.#plan.withinMs;
    if (situation === "begin") yield* this.#close();
    yield* this.#enter("prove");
    const { epoch, closedAt } = yield* this.#prove();
    yield* this.#enter("export");
    const record = yield* this.#need({ kind: "export", epoch, closedAt, withinMs: this.#plan.withinMs });
    yield* this.#untilClosed(closedAt);
    yield { event: { kind: "seen", seen: { kind: "exported", record } } };
    yield* this.#enter("keep");
    yield* this.#need({ kind: "keep", withinMs: LOOK_MS });
    yield* this.#untilClosed(closedAt);
    yield { event: { kind: "seen", seen: { kind: "kept" } } };
    const closedForMs = this.#closedAtMs === undefined ? undefined : this.#asking.nowMs - this.#closedAtMs;
    return { kind: "exported", isRepeat: false, record, closedForMs };
  }

  *#look(): Steps<Beginning> {
    let untilMs: number | undefined;
    for (;;) {
      const begun = yield* this.#beginning();
      const obstacles = beginObstacles(begun);
      const leader = leaderOf(begun.members);
      if (obstacles.length === 0 && leader !== undefined) {
        for (const text of remarksOf(begun)) yield { event: { kind: "remark", text } };
        const { sessions, keptSessions } = leader;
        const memberCount = begun.members.length;
        const { withinMs } = this.#plan;
        yield { event: { kind: "seen", seen: { kind: "ready", memberCount, sessions, keptSessions, withinMs } } };
        return begun;
      }
      untilMs ??= this.#asking.nowMs + READY_MS;
      const isLasting = obstacles.some(({ isForNow }) => !isForNow);
      if (isLasting || this.#asking.nowMs >= untilMs) throw new StepFailed(obstacles);
      yield* this.#waitFor(obstacles, READY_POLL_MS);
    }
  }

  *#beginning(): Steps<Beginning> {
    const members = yield* this.#members();
    const apache = yield* this.#need({ kind: "look-apache", withinMs: LOOK_MS });
    const directory = yield* this.#need({ kind: "look-directory", withinMs: LOOK_MS });
    return { members, without: this.#plan.without, apache, directory };
  }

  /** Those that are left out need not answer. */
  *#members(): Steps<readonly MemberFacts[]> {
    return yield* this.#need({ kind: "look-members", withinMs: LOOK_MS });
  }

  *#confirm(): Steps<void> {
    if (this.#plan.isConfirmed) return;
    const isConfirmed = yield* this.#need({ kind: "confirm", withinMs: Number.POSITIVE_INFINITY });
    if (!isConfirmed) throw new StepFailed([lasting("not-confirmed", "nothing is changed")]);
  }

  /** The answer may be lost: whether the ensemble is closed, its members say. */
  *#close(): Steps<void> {
    this.#closedAtMs = this.#asking.nowMs;
    for (;;) {
      const closed: Answer<"close"> = yield* this.#ask({ kind: "close", withinMs: LOOK_MS });
      if (closed.kind === "done") break;
      if (closed.isRefused) throw new StepFailed([failure(closed)]);
      const leader = leaderOf(yield* this.#members());
      if (leader?.closedAt !== undefined) break;
      yield* this.#waitFor([passing("request-failed", closed.reason)], POLL_MS);
    }
  }

  *#prove(): Steps<{ readonly epoch: number; readonly closedAt: Zxid }> {
    for (;;) {
      const leader = leaderOf(yield* this.#members());
      const closedAt = leader?.closedAt;
      if (closedAt === undefined) {
        const text = leader === undefined ? "no member leads" : `${leader.name} serves clients still`;
        yield* this.#waitFor([passing("not-closed", text)], POLL_MS);
        continue;
      }
      const members = yield* this.#untilClosed(closedAt);
      const now = leaderOf(members);
      assert(now !== undefined, "members of which nothing is missing have a leader");
      const [epoch, memberCount] = [apacheEpochOf(members), members.length];
      yield { event: { kind: "seen", seen: { kind: "closed", closedAt } } };
      yield { event: { kind: "seen", seen: { kind: "proved", memberCount, zxid: now.zxid, epoch } } };
      return { epoch, closedAt };
    }
  }

  /** No server has a client, and none of Apache's runs. */
  *#untilClosed(closedAt: Zxid): Steps<readonly MemberFacts[]> {
    for (;;) {
      const members = yield* this.#members();
      const obstacles = closedObstacles(members, this.#plan.without, closedAt);
      if (obstacles.length === 0) return members;
      if (obstacles.some(({ isForNow }) => !isForNow)) throw new StepFailed(obstacles);
      yield* this.#waitFor(obstacles, POLL_MS);
    }
  }

  *#enter(step: Step): Steps<void> {
    this.#step = step;
    this.#lastObstacles = [];
    this.#waits.clear();
    yield { event: { kind: "step", step } };
  }

  *#ask<K extends ActKind>(action: Action & { readonly kind: K }): Steps<Answer<K>> {
    const withinMs = Math.min(action.withinMs, this.#left());
    return yield* this.#asking.ask<K>({ ...action, withinMs });
  }

  /** Does what the step needs. @throws StepFailed */
  *#need<K extends ActKind>(action: Action & { readonly kind: K }): Steps<(Answer<K> & { kind: "done" })["value"]> {
    const answer = yield* this.#ask<K>(action);
    if (answer.kind === "failed") throw new StepFailed([failure(answer)]);
    return answer.value;
  }

  /** @throws StepFailed with the obstacles where the time is over */
  *#waitFor(obstacles: readonly Obstacle[], ms: number): Steps<void> {
    this.#lastObstacles = obstacles;
    const reasons: string[] = [];
    for (const { code, subject = "", text } of obstacles) {
      const key = `${code} ${subject}`;
      if (!this.#waits.has(key)) reasons.push(text);
      this.#waits.add(key);
    }
    if (reasons.length > 0) yield { event: { kind: "waits", step: this.#step, reasons } };
    yield* this.#need({ kind: "wait", ms, withinMs: ms + LOOK_MS });
  }

  /** @throws StepFailed where no time is left */
  #left(): number {
    const leftMs = this.#deadlineMs - this.#asking.nowMs;
    if (leftMs > 0) return leftMs;
    const text = `the time is over: ${this.#plan.withinMs} ms from the closing until the export is complete`;
    throw new StepFailed([lasting("time-over", text), ...this.#lastObstacles]);
  }
}

function failure({ reason }: Failed): Obstacle {
  return lasting("request-failed", reason);
}
