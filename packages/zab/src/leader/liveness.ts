import type { Leader } from "./leader.ts";
import type { LearnerHandler } from "./learner-handler.ts";

/**
 * How long a leader without followers waits for an epoch's quorum: the servers that elected it may
 * have changed their votes.
 */
const EPOCH_QUORUM_MS_MIN = 1000;

/**
 * The work of a leader by time: pings, dropping silent learners, giving up an epoch without a
 * quorum.
 */
export class Liveness {
  readonly #leader: Leader;
  /** When the present step before the broadcast is given up. */
  #deadlineMs: number;
  #pingDueMs: number;
  #checkDueMs: number;

  constructor(leader: Leader) {
    this.#leader = leader;
    const { context } = leader;
    const { tickMs } = context.config;
    this.#deadlineMs = context.nowMs() + Math.max(tickMs, EPOCH_QUORUM_MS_MIN);
    this.#pingDueMs = context.nowMs() + tickMs / 2;
    this.#checkDueMs = context.nowMs() + tickMs;
  }

  nextDueMs(): number {
    const next = Math.min(this.#pingDueMs, this.#checkDueMs);
    return this.#leader.isEstablished ? next : Math.min(next, this.#deadlineMs);
  }

  /** The next step of discovery or synchronization begins. */
  beginStep(): void {
    const { context } = this.#leader;
    this.#deadlineMs = context.nowMs() + context.config.initLimit * context.config.tickMs;
  }

  /** A transfer made progress: the step that waits for it gets a new deadline. */
  progress(): void {
    if (this.#leader.isEstablished) return;
    const { context } = this.#leader;
    // rule: progress-extends-the-deadline
    this.#deadlineMs = Math.max(this.#deadlineMs, context.nowMs() + context.config.initLimit * context.config.tickMs);
  }

  tick(): void {
    const { context, epoch, isEstablished, learners } = this.#leader;
    const nowMs = context.nowMs();
    const { config } = context;
    if (learners.size === 0 && learners.isQuorum([config.sid])) return;
    if (nowMs >= this.#pingDueMs) {
      this.#pingDueMs = nowMs + config.tickMs / 2;
      for (const learner of learners.values()) if (learner.phase !== "informed") this.ping(learner);
    }
    if (nowMs >= this.#deadlineMs && this.#leader.discovery.awaitsFounding) {
      // Its quorum is there, and would elect it again.
      this.#deadlineMs = nowMs + Math.max(config.tickMs, EPOCH_QUORUM_MS_MIN);
    }
    if (nowMs >= this.#deadlineMs && !isEstablished) {
      const { number } = epoch;
      context.leave(
        number === 0
          ? { kind: "no-quorum-follows", learners: learners.size }
          : { kind: "epoch-not-accepted", epoch: number },
      );
      return;
    }
    if (nowMs < this.#checkDueMs) return;
    this.#checkDueMs = nowMs + config.tickMs;
    this.#dropSilent(nowMs);
    // A leader that has lost its quorum commits nothing, and its clients are better served
    // elsewhere.
    // rule: no-leader-without-a-quorum
    if (isEstablished && !learners.isQuorum(learners.counted(({ hasAccepted }) => hasAccepted))) {
      context.leave({ kind: "quorum-lost" });
    }
  }

  ping(learner: LearnerHandler): void {
    const { check, epoch, learners } = this.#leader;
    learners.send(learner, {
      kind: "ping",
      epoch: epoch.number,
      check: check.newest,
      committed: learner.announced,
      lacksRoom: this.#leader.diskRoom.isLacking,
    });
  }

  /**
   * Whether a learner waits with entries that it should have acked. One whose disk is full lacks
   * only those that are committed: where no quorum has room nothing is, and all of them continue to
   * serve reads.
   */
  #isLate(learner: LearnerHandler): boolean {
    const { broadcast, epoch } = this.#leader;
    return learner.isWaiting && (learner.room !== "full" || epoch.logPosition(learner.acked) < broadcast.committed);
  }

  #dropSilent(nowMs: number): void {
    const { context, learners } = this.#leader;
    const { tickMs, syncLimit, initLimit } = context.config;
    for (const learner of learners.values()) {
      const isSynced = learner.phase === "synced";
      const limitMs = (isSynced ? syncLimit : initLimit) * tickMs;
      if (nowMs - learner.heardMs > limitMs) learners.drop(learner, { kind: "learner-silent", limitMs });
      else if (isSynced && nowMs - learner.waitingSinceMs > limitMs && this.#isLate(learner)) {
        learners.drop(learner, { kind: "learner-acks-nothing", limitMs });
      }
    }
  }
}
