import { type EntryRun, earlierOf, laterOf, type Zxid } from "@zooid/model";
import { cutRun, type QueuedRun } from "../proposal-queue.ts";
import type { Leader } from "./leader.ts";
import type { LearnerHandler } from "./learner-handler.ts";

/** Minimum time between two messages of entries to an observer. */
const OBSERVER_PACE_MS = 5;
/** Time after a request from one of its clients in which an observer gets entries at once. */
const OBSERVER_ASKS_MS = 100;

/**
 * Entries to each learner, through one window: first the history up to the plan's end, then
 * new-leader, then what is proposed. Entries come from the proposal queue while it holds them, else
 * from the log.
 */
export class EntryStream {
  readonly #leader: Leader;
  /** When observers get what was held back. */
  #feedDueMs: number = Number.POSITIVE_INFINITY;

  constructor(leader: Leader) {
    this.#leader = leader;
  }

  get dueMs(): number {
    return this.#feedDueMs;
  }

  /**
   * From here on entries flow, up to where the history ends now, then new-leader, then whatever is
   * proposed.
   */
  begin(learner: LearnerHandler, from: Zxid): void {
    // 1. S2 logs entries as a voter.
    // 2. A change makes it an observer before they are committed.
    // 3. It reconnects: its history ends behind what is committed, and it keeps what it acked.
    const through = laterOf(this.#limitOf(learner), from);
    learner.becomeSyncing(this.#leader.epoch.streamPosition(from), through);
  }

  /** Sends what a learner lacks, as far as its window allows. */
  pump(learner: LearnerHandler): void {
    if (!learner.isStreaming || this.#isHeldBack(learner)) return;
    const { epoch, acceptance } = this.#leader;
    const { windowBytes, runBytes } = this.#leader.context.config;
    const { queue } = this.#leader.broadcast;
    for (;;) {
      if (learner.phase === "syncing" && this.#isThrough(learner) && acceptance.mayOffer(learner)) {
        acceptance.offer(learner);
      }
      const limit = this.#sendLimit(learner);
      if (epoch.logPosition(learner.sent) >= limit) return;
      if (learner.inFlightBytes >= windowBytes) return;
      if (!queue.holdsAfter(learner.sent)) {
        this.#readFor(learner);
        return;
      }
      this.#send(learner, queue.runAfter(learner.sent, limit, runBytes));
    }
  }

  /** A run that was read from the log, if it still continues what was sent. */
  sendRun(learner: LearnerHandler, { bytes, after, count }: EntryRun): void {
    if (count === 0 || after.zxid !== this.#leader.epoch.logPosition(learner.sent)) return;
    const limit = this.#sendLimit(learner);
    if (after.zxid >= limit) return;
    this.#send(learner, cutRun(bytes, 0, bytes.length, limit, bytes.length));
  }

  pumpObservers(): void {
    // rule: observers-get-what-is-committed
    for (const learner of this.#leader.learners.values()) if (learner.isObserver) this.pump(learner);
  }

  /** Gives observers what was held back, when it is time. */
  tick(): void {
    if (this.#leader.context.nowMs() < this.#feedDueMs) return;
    this.#feedDueMs = Number.POSITIVE_INFINITY;
    this.pumpObservers();
  }

  /**
   * Whether an observer gets its next entries a little later, together with what is committed until
   * then: no write waits for an observer, so it must not cost what voters do. One whose own clients
   * wait for writes gets them at once, and so does one that is behind.
   */
  #isHeldBack(learner: LearnerHandler): boolean {
    if (!learner.isObserver || learner.phase !== "synced") return false;
    const { broadcast, context, epoch } = this.#leader;
    if (
      epoch.logPosition(learner.sent) >= this.#leader.broadcast.committed ||
      !broadcast.queue.holdsAfter(learner.sent)
    )
      return false;
    const nowMs = context.nowMs();
    const dueMs = learner.sentMs + OBSERVER_PACE_MS;
    if (nowMs >= dueMs || nowMs - learner.askedMs < OBSERVER_ASKS_MS) return false;
    if (dueMs < this.#feedDueMs) this.#feedDueMs = dueMs;
    return true;
  }

  /** Whether a learner has been sent the history that its new-leader names. */
  #isThrough(learner: LearnerHandler): boolean {
    // The learner's acceptance says that it has all of the history: new-leader must not overtake an
    // entry.
    // rule: new-leader-behind-all-entries
    return learner.through !== undefined && this.#leader.epoch.logPosition(learner.sent) >= learner.through;
  }

  /** Where the learner's present stretch ends. */
  #sendLimit(learner: LearnerHandler): Zxid {
    if (learner.phase === "syncing" && learner.through !== undefined) return learner.through;
    return this.#limitOf(learner);
  }

  /** The last entry that a learner may have now. */
  #limitOf(learner: LearnerHandler): Zxid {
    return learner.isObserver ? this.#leader.broadcast.committed : this.#leader.broadcast.lastLogged;
  }

  #readFor(learner: LearnerHandler): void {
    if (learner.isReading) return;
    learner.isReading = true;
    const { context, epoch, learners } = this.#leader;
    context.log.read(epoch.logPosition(learner.sent), context.config.runBytes, (result) => {
      if (!learners.isKnown(learner)) return;
      learner.isReading = false;
      // rule: a-transfer-starts-anew-behind-a-purge
      if (result === "below-floor") learners.drop(learner, { kind: "fell-behind-the-log" });
      else if (result === "damaged") context.fail("the log is damaged where a learner needs it");
      else {
        this.sendRun(learner, result);
        // Nothing new is on disk: the next completion pumps again.
        if (result.count > 0) this.pump(learner);
      }
    });
  }

  #send(learner: LearnerHandler, run: QueuedRun): void {
    const { context, epoch, learners } = this.#leader;
    const committed = earlierOf(this.#leader.broadcast.committed, run.last);
    learners.send(learner, {
      kind: "entries",
      epoch: epoch.number,
      previous: epoch.logPosition(learner.sent),
      first: run.first,
      last: run.last,
      count: run.count,
      bytes: run.bytes,
      start: run.start,
      end: run.end,
      committed,
      check: this.#leader.check.newest,
    });
    learner.sending(epoch.streamPosition(run.last), run.end - run.start, context.nowMs());
    if (committed > learner.announced) learner.announced = committed;
  }
}
