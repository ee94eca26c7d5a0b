/**
 * The take-over of an Apache ensemble's clients, as a machine that knows no clock and no network:
 * it yields acts, one at a time, and is given their replies.
 *
 * ```
 *  level ─▶ block ─▶ prove ─▶ fence ─▶ verify ─▶ install ─▶ open
 *    │        └────────┴────────┴────────┴─────────┘          │
 *  refused:              aborted: the way back              no way back
 *  nothing was changed
 * ```
 *
 * The rules of this file:
 *
 * - The follower ends for good (`finish`) only behind a proof that it has all that Apache has
 *   acknowledged, and behind the fence. So a follower that has ended is that proof for a repeat.
 * - A state is installed only where each member has the one that the follower ended with.
 * - From the first request to open on, nothing is undone: whether a client was answered is not
 *   known.
 * - Between the block and that request no more time passes than was allowed; else all is undone.
 */
import { assert, epochOf, type Zxid } from "@zooid/model";
import type { Failed } from "../acts.ts";
import { lasting, passing, StepFailed } from "../obstacles.ts";
import { abort } from "./abort.ts";
import type { Action, ActKind, Answer, Reply, Yielded } from "./action.ts";
import { Asking } from "./asking.ts";
import type { Situation, Step } from "./event.ts";
import type {
  ApacheServer,
  CommandResult,
  DiskFacts,
  FollowerFacts,
  HistoryPlace,
  MemberFacts,
  SyncFacts,
} from "./facts.ts";
import {
  aloneObstacles,
  blockObstacles,
  closedAgainObstacle,
  commandObstacles,
  diskObstacles,
  endObstacles,
  installedObstacles,
  installObstacles,
  judgeFence,
  levelObstacles,
  reconfigObstacles,
  situationOf,
} from "./judge.ts";
import type { Obstacle } from "./obstacle.ts";

export interface TakeOverPlan {
  /** How Apache is kept from committing: one voter is left and stopped, or all are stopped. */
  readonly fence: "reconfig" | "stop";
  /** Whether the disks of Apache's voters are read. */
  readonly hasDisks: boolean;
  /** Whether the operator is not asked. */
  readonly isConfirmed: boolean;
  /** Whether it ends before anything is changed. */
  readonly isPlan: boolean;
  /** Time from the block to the opening; undefined: half of the shortest timeout, at most 5 s. */
  readonly withinMs: number | undefined;
}

export type Verdict =
  | { readonly kind: "planned"; readonly situation: Situation; readonly obstacles: readonly Obstacle[] }
  /** Nothing was changed. */
  | { readonly kind: "refused"; readonly step: Step; readonly obstacles: readonly Obstacle[] }
  /** Apache serves again, but for these problems. */
  | {
      readonly kind: "aborted";
      readonly step: Step;
      readonly obstacles: readonly Obstacle[];
      readonly problems: readonly Obstacle[];
    }
  /** The members were asked to open, and have not said that they have. */
  | { readonly kind: "unknown"; readonly obstacles: readonly Obstacle[] }
  | { readonly kind: "taken-over"; readonly isRepeat: boolean };

const WITHIN_MS_MAX = 5000;
/** An operator's command may take all that is left. */
const COMMAND_MS = Number.POSITIVE_INFINITY;
/** One part of the shortest timeout: clients count from their own last contact. */
const TIMEOUT_SHARE = 2;
/** A repeat of the last steps: Apache does not serve meanwhile in any case. */
const REPEAT_MS = 30_000;
/** Members and archive have this long to come level, before anything is changed. */
const LEVEL_MS = 60_000;
const LEVEL_POLL_MS = 500;
/** Members read what was archived. */
const MEMBERS_MS = 10_000;
const MEMBERS_POLL_MS = 100;
const LOOK_MS = 15_000;
const SYNC_APART_MS = 200;
const POLL_MS = 50;
/** Time until members that were asked to open say that they have. */
const OPEN_MS = 60_000;
const OPEN_POLL_MS = 200;
/** Behind the epochs of an Apache that comes back. */
const EPOCHS_AHEAD = 1024;

type Steps<T> = Generator<Yielded, T, Reply>;

/** The findings of the steps before. */
interface Begun {
  readonly apache: readonly ApacheServer[];
  readonly leader: ApacheServer;
  readonly follower: FollowerFacts;
}

/** The measure that keeps Apache from committing. */
interface Fenced {
  readonly results: readonly CommandResult[];
  readonly voters: readonly number[];
  readonly isWeighted: boolean;
  /** The last SYNC; none follows it. */
  readonly proof: SyncFacts;
}

/** One take-over; it is run once. */
export class TakeOver {
  readonly #plan: TakeOverPlan;
  readonly #asking = new Asking();
  #step: Step = "level";
  #deadlineMs = Number.POSITIVE_INFINITY;
  #blockedAtMs: number | undefined;
  readonly #waits = new Set<string>();
  /** The event that the step has waited for. */
  #lastObstacles: readonly Obstacle[] = [];

  constructor(plan: TakeOverPlan) {
    this.#plan = plan;
  }

  *run(): Steps<Verdict> {
    try {
      return yield* this.#run();
    } catch (error) {
      if (!(error instanceof StepFailed)) throw error;
      const obstacles: readonly Obstacle[] = error.obstacles;
      const step = this.#step;
      if (step === "level") return { kind: "refused", step, obstacles };
      yield { event: { kind: "aborting", step, reasons: obstacles.map(({ text }) => text) } };
      const problems = yield* abort(this.#asking, { mayBeOpen: false });
      return { kind: "aborted", step, obstacles, problems };
    }
  }

  *#run(): Steps<Verdict> {
    const follower = yield* this.#need({ kind: "look-follower", withinMs: LOOK_MS });
    const members = yield* this.#need({ kind: "look-members", withinMs: LOOK_MS });
    const closedAgain = closedAgainObstacle(members);
    if (closedAgain !== undefined) throw new StepFailed([closedAgain]);
    const situation = situationOf(follower, members);
    yield { event: { kind: "found", situation } };
    if (situation === "open") return { kind: "taken-over", isRepeat: true };
    if (situation === "begin") return yield* this.#runFromBegin();
    if (this.#plan.isPlan) return { kind: "planned", situation, obstacles: [] };
    yield* this.#confirm();
    this.#deadlineMs = this.#asking.nowMs + REPEAT_MS;
    return yield* this.#runFromEnd(situation, follower);
  }

  *#runFromBegin(): Steps<Verdict> {
    yield* this.#enter("level");
    const begun = yield* this.#level();
    if (this.#plan.isPlan) return { kind: "planned", situation: "begin", obstacles: [] };
    yield* this.#confirm();
    yield* this.#enter("block");
    yield* this.#block(begun);
    yield* this.#enter("prove");
    const proof = yield* this.#prove(begun);
    yield* this.#enter("fence");
    const fenced = yield* this.#fence(begun, proof);
    yield* this.#enter("verify");
    const { end, disks } = yield* this.#verify(fenced);
    yield* this.#install(end, Math.max(begun.follower.epoch, disks?.epoch ?? 0));
    return yield* this.#open();
  }

  /** The follower has ended, so the steps before were done by an earlier take-over. */
  *#runFromEnd(situation: "finished" | "installed", follower: FollowerFacts): Steps<Verdict> {
    yield* this.#enter("verify");
    const { voters, isWeighted } = follower;
    yield* this.#untilFenced({ results: [], voters, isWeighted });
    if (situation === "finished") {
      const end = yield* this.#need({ kind: "finish", zxid: follower.zxid, withinMs: LOOK_MS });
      const disks = this.#plan.hasDisks ? yield* this.#disks(end, follower) : undefined;
      yield* this.#install(end, Math.max(follower.epoch, disks?.epoch ?? 0));
    }
    return yield* this.#open();
  }

  *#level(): Steps<Begun> {
    const untilMs = this.#asking.nowMs + LEVEL_MS;
    for (;;) {
      const apache = yield* this.#need({ kind: "look-apache", withinMs: LOOK_MS });
      const follower = yield* this.#need({ kind: "look-follower", withinMs: LOOK_MS });
      const archived = yield* this.#asking.ask({ kind: "archive", withinMs: LOOK_MS });
      const place = archived.kind === "done" ? archived.value : undefined;
      const members = yield* this.#membersAt(place);
      const obstacles = [
        ...levelObstacles({ apache, follower, place, members }),
        ...(this.#plan.fence === "reconfig" ? reconfigObstacles(follower) : []),
        ...(archived.kind === "failed" ? [passing("request-failed", archived.reason)] : []),
      ];
      const leader = apache.find(({ mode }) => mode === "leader");
      if (obstacles.length === 0 && place !== undefined && leader !== undefined) {
        yield* this.#setDeadline(place, members);
        return { apache, leader, follower };
      }
      const isLasting = obstacles.some(({ isForNow }) => !isForNow);
      if (isLasting || this.#asking.nowMs >= untilMs) throw new StepFailed(obstacles);
      yield* this.#waitFor(obstacles, LEVEL_POLL_MS);
    }
  }

  /** The members, once they have read the archive up to there, or have had the time for it. */
  *#membersAt(place: HistoryPlace | undefined): Steps<readonly MemberFacts[]> {
    const untilMs = this.#asking.nowMs + MEMBERS_MS;
    for (;;) {
      const members = yield* this.#need({ kind: "look-members", withinMs: LOOK_MS });
      const isThere =
        place === undefined || members.every(({ standby }) => standby === undefined || standby.zxid >= place.zxid);
      if (isThere || this.#asking.nowMs >= untilMs) return members;
      yield* this.#need({ kind: "wait", ms: MEMBERS_POLL_MS, withinMs: LOOK_MS });
    }
  }

  /** The time is counted from the block. */
  *#setDeadline(place: HistoryPlace, members: readonly MemberFacts[]): Steps<void> {
    const shortestMs = yield* this.#need({ kind: "look-sessions", withinMs: LOOK_MS });
    const share = shortestMs === undefined ? Number.POSITIVE_INFINITY : Math.floor(shortestMs / TIMEOUT_SHARE);
    const withinMs = this.#plan.withinMs ?? Math.min(WITHIN_MS_MAX, share);
    if (withinMs > share)
      throw new StepFailed([
        lasting(
          "timeout-too-short",
          `--within is ${withinMs} ms, and the shortest timeout of a session ${shortestMs} ms: half of that is the most`,
        ),
      ]);
    this.#withinMs = withinMs;
    const memberCount = members.length;
    yield { event: { kind: "seen", seen: { kind: "level", place, memberCount, shortestMs, withinMs } } };
  }

  #withinMs = WITHIN_MS_MAX;

  *#confirm(): Steps<void> {
    if (this.#plan.isConfirmed) return;
    const isConfirmed = yield* this.#need({ kind: "confirm", withinMs: Number.POSITIVE_INFINITY });
    if (!isConfirmed) throw new StepFailed([lasting("not-confirmed", "nothing is changed")]);
  }

  *#block({ apache }: Begun): Steps<void> {
    this.#blockedAtMs = this.#asking.nowMs;
    this.#deadlineMs = this.#blockedAtMs + this.#withinMs;
    const addresses = apache.map(({ address }) => address);
    const results = yield* this.#need({ kind: "run", command: "block", addresses, withinMs: COMMAND_MS });
    this.#refuse(commandObstacles("block", results));
    yield* this.#need({ kind: "touch", withinMs: WITHIN_MS_MAX });
    yield { event: { kind: "seen", seen: { kind: "blocked", serverCount: addresses.length } } };
  }

  /** @returns the last SYNC of the proof */
  *#prove({ apache, follower: before }: Begun): Steps<SyncFacts> {
    for (;;) {
      const first = yield* this.#need({ kind: "sync", withinMs: WITHIN_MS_MAX });
      yield* this.#need({ kind: "wait", ms: SYNC_APART_MS, withinMs: WITHIN_MS_MAX });
      const clients = yield* this.#need({ kind: "look-clients", withinMs: WITHIN_MS_MAX });
      const second = yield* this.#need({ kind: "sync", withinMs: WITHIN_MS_MAX });
      const follower = yield* this.#need({ kind: "look-follower", withinMs: WITHIN_MS_MAX });
      if (follower.epoch !== before.epoch)
        throw new StepFailed([
          lasting(
            "leader-changed",
            `Apache's epoch is ${follower.epoch}, and was ${before.epoch}: another server leads`,
          ),
        ]);
      const obstacles = blockObstacles({ clients, first, second, hasDisks: this.#plan.hasDisks });
      if (obstacles.length === 0) {
        const serverCount = apache.length;
        yield { event: { kind: "seen", seen: { kind: "proved", zxid: second.zxid, serverCount } } };
        return second;
      }
      yield* this.#waitFor(obstacles, POLL_MS);
    }
  }

  *#fence(begun: Begun, proof: SyncFacts): Steps<Fenced> {
    return this.#plan.fence === "reconfig"
      ? yield* this.#fenceByReconfig(begun, proof)
      : yield* this.#fenceByStop(begun, proof);
  }

  /**
   * Servers that were removed never serve again, and one disk holds the truth. They are not
   * stopped: their configuration does not list them any more, and with that Apache does not start,
   * but it is added again while it runs.
   */
  *#fenceByReconfig({ leader }: Begun, before: SyncFacts): Steps<Fenced> {
    const { sid, address } = leader;
    assert(sid !== undefined, "each server of Apache's has a number before the first step ends");
    const session = yield* this.#need({ kind: "reconfig-alone", sid, address, withinMs: WITHIN_MS_MAX });
    const proof = yield* this.#need({ kind: "sync", withinMs: WITHIN_MS_MAX });
    const follower = yield* this.#need({ kind: "look-follower", withinMs: WITHIN_MS_MAX });
    this.#refuse(aloneObstacles(proof, { after: before, session, sid }, follower));
    yield { event: { kind: "seen", seen: { kind: "alone", sid, zxid: proof.zxid } } };
    const results = yield* this.#need({ kind: "run", command: "fence", addresses: [address], withinMs: COMMAND_MS });
    yield this.#fencedEvent(results);
    return { results, voters: [sid], isWeighted: false, proof };
  }

  /** Followers first: while the leader has a quorum it keeps its role. */
  *#fenceByStop({ apache, leader, follower }: Begun, proof: SyncFacts): Steps<Fenced> {
    const others = apache.filter((server) => server !== leader).map(({ address }) => address);
    const stopped = yield* this.#need({ kind: "run", command: "fence", addresses: others, withinMs: COMMAND_MS });
    const last = yield* this.#need({
      kind: "run",
      command: "fence",
      addresses: [leader.address],
      withinMs: COMMAND_MS,
    });
    const results = [...stopped, ...last];
    yield this.#fencedEvent(results);
    const { voters, isWeighted } = follower;
    return { results, voters, isWeighted, proof };
  }

  #fencedEvent(results: readonly CommandResult[]): Yielded {
    const faults = commandObstacles("fence", results).map(({ text }) => text);
    return { event: { kind: "seen", seen: { kind: "fenced", faults, serverCount: results.length } } };
  }

  *#verify(fenced: Fenced): Steps<{ readonly end: HistoryPlace; readonly disks: DiskFacts | undefined }> {
    const unverified = yield* this.#untilFenced(fenced);
    const follower = yield* this.#untilUnlinked();
    const end = yield* this.#need({ kind: "finish", zxid: follower.zxid, withinMs: WITHIN_MS_MAX });
    this.#refuse(endObstacles(end, fenced.proof));
    const disks = this.#plan.hasDisks ? yield* this.#disks(end, fenced) : undefined;
    const { zxid, chain, digest } = end;
    const place = { zxid, chain, digest };
    yield { event: { kind: "seen", seen: { kind: "verified", place, unverified, diskCount: disks?.count } } };
    return { end, disks };
  }

  *#disks({ zxid }: { readonly zxid: Zxid }, quorum: Pick<FollowerFacts, "voters" | "isWeighted">): Steps<DiskFacts> {
    const disks = yield* this.#need({ kind: "look-disks", withinMs: REPEAT_MS });
    this.#refuse(diskObstacles(disks, zxid, quorum));
    return disks;
  }

  /** @returns the servers of which nothing is known */
  *#untilFenced({ results, voters, isWeighted }: Omit<Fenced, "proof">): Steps<readonly string[]> {
    for (;;) {
      const all = yield* this.#need({ kind: "look-ports", withinMs: WITHIN_MS_MAX });
      // Servers that were removed run on.
      const ports =
        this.#plan.fence === "stop" ? all : all.filter(({ sid }) => sid !== undefined && voters.includes(sid));
      const { obstacles, unverified } = judgeFence({ ports, results, voters, isWeighted });
      if (obstacles.length === 0) return unverified;
      yield* this.#waitFor(obstacles, POLL_MS);
    }
  }

  /** The link to Apache has ended, and all that came by it is applied. */
  *#untilUnlinked(): Steps<FollowerFacts> {
    for (;;) {
      const follower = yield* this.#need({ kind: "look-follower", withinMs: WITHIN_MS_MAX });
      if (follower.state === "searching" && follower.lagTransactions === 0) return follower;
      const text = `the follower is ${follower.state} still, ${follower.lagTransactions} transactions behind`;
      yield* this.#waitFor([passing("follower-state", text)], POLL_MS);
    }
  }

  *#install(end: HistoryPlace, apacheEpoch: number): Steps<void> {
    yield* this.#enter("install");
    for (;;) {
      const members = yield* this.#need({ kind: "look-members", withinMs: WITHIN_MS_MAX });
      const obstacles = installObstacles(members, end);
      if (obstacles.length === 0) break;
      if (obstacles.some(({ isForNow }) => !isForNow)) throw new StepFailed(obstacles);
      yield* this.#waitFor(obstacles, POLL_MS);
    }
    const { zxid, digest } = end;
    const epoch = Math.max(apacheEpoch, epochOf(zxid)) + EPOCHS_AHEAD;
    const installed = yield* this.#need({ kind: "take-over", zxid, digest, epoch, withinMs: REPEAT_MS });
    this.#refuse(installedObstacles(installed, digest));
    yield { event: { kind: "seen", seen: { kind: "installed", epoch, zxid } } };
  }

  /** Behind the first request nothing is undone. */
  *#open(): Steps<Verdict> {
    yield* this.#enter("open");
    this.#left();
    const opened = yield* this.#asking.ask({ kind: "open", withinMs: LOOK_MS });
    let last: Failed | undefined = opened.kind === "failed" ? opened : undefined;
    if (last?.isRefused === true) throw new StepFailed([failure(last)]);
    const untilMs = this.#asking.nowMs + OPEN_MS;
    while (last !== undefined) {
      const members: Answer<"look-members"> = yield* this.#asking.ask({ kind: "look-members", withinMs: LOOK_MS });
      if (members.kind === "done" && members.value.some(({ clients }) => clients === "open")) break;
      if (this.#asking.nowMs >= untilMs) return { kind: "unknown", obstacles: [failure(last)] };
      yield* this.#tell([failure(last)]);
      yield* this.#asking.ask({ kind: "wait", ms: OPEN_POLL_MS, withinMs: LOOK_MS });
      const again: Answer<"open"> = yield* this.#asking.ask({ kind: "open", withinMs: LOOK_MS });
      last = again.kind === "failed" ? again : undefined;
    }
    const sinceBlockMs = this.#blockedAtMs === undefined ? undefined : this.#asking.nowMs - this.#blockedAtMs;
    yield { event: { kind: "seen", seen: { kind: "opened", sinceBlockMs } } };
    return { kind: "taken-over", isRepeat: false };
  }

  *#enter(step: Step): Steps<void> {
    this.#step = step;
    this.#lastObstacles = [];
    this.#waits.clear();
    yield { event: { kind: "step", step } };
  }

  /** Does what the step needs. @throws StepFailed */
  *#need<K extends ActKind>(action: Action & { readonly kind: K }): Steps<(Answer<K> & { kind: "done" })["value"]> {
    const withinMs = Math.min(action.withinMs, this.#left());
    const answer = yield* this.#asking.ask<K>({ ...action, withinMs });
    if (answer.kind === "failed") throw new StepFailed([failure(answer)]);
    return answer.value;
  }

  #refuse(obstacles: readonly Obstacle[]): void {
    if (obstacles.length > 0) throw new StepFailed(obstacles);
  }

  /** @throws StepFailed with the obstacles where the time is over */
  *#waitFor(obstacles: readonly Obstacle[], ms: number): Steps<void> {
    yield* this.#tell(obstacles);
    yield* this.#need({ kind: "wait", ms, withinMs: ms + LOOK_MS });
  }

  /** Each reason once in a step, whatever its numbers are then. */
  *#tell(obstacles: readonly Obstacle[]): Steps<void> {
    this.#lastObstacles = obstacles;
    const reasons: string[] = [];
    for (const { code, subject = "", text } of obstacles) {
      const key = `${code} ${subject}`;
      if (!this.#waits.has(key)) reasons.push(text);
      this.#waits.add(key);
    }
    if (reasons.length > 0) yield { event: { kind: "waits", step: this.#step, reasons } };
  }

  /** @throws StepFailed where no time is left */
  #left(): number {
    const leftMs = this.#deadlineMs - this.#asking.nowMs;
    if (leftMs <= 0) throw new StepFailed([this.#timeOver, ...this.#lastObstacles]);
    return leftMs;
  }

  get #timeOver(): Obstacle {
    const ms = this.#blockedAtMs === undefined ? REPEAT_MS : this.#withinMs;
    return lasting("time-over", `the time is over: ${ms} ms from the block to the opening`);
  }
}

function failure({ reason }: Failed): Obstacle {
  return lasting("request-failed", reason);
}
