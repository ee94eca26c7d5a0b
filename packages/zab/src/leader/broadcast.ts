import {
  assert,
  earlierOf,
  epochOf,
  type FrameBatch,
  formatZxid,
  InvariantError,
  type LoggedRun,
  type RunMarks,
  ZXID_NONE,
  type Zxid,
} from "@zooid/model";
import { CommittedCursor, type CommittedEntries, NO_ENTRIES } from "../committed-entries.ts";
import { decodeMembers } from "../known-members.ts";
import { ProposalQueue } from "../proposal-queue.ts";
import type { LoggedChanges } from "../sinks.ts";
import { AckTally } from "./ack-tally.ts";
import type { Leader } from "./leader.ts";
import type { LearnerHandler } from "./learner-handler.ts";

/**
 * Phase 3, the leader's half: proposals go to the learners and to this server's own log; acks are
 * counted; what a quorum has on disk is committed, and delivered once it is also on this server's
 * disk.
 */
export class Broadcast {
  readonly #leader: Leader;
  /** Replaced when the epoch begins, and by this class alone. */
  queue: ProposalQueue = new ProposalQueue(ZXID_NONE);
  #entries: CommittedCursor;
  #tally: AckTally | undefined;
  /** The last entry on this server's own disk. */
  #durable: Zxid;

  constructor(leader: Leader) {
    this.#leader = leader;
    this.#durable = leader.epoch.history.zxid;
    this.#entries = this.#newCursor();
  }

  /** Everything up to here is committed; a position of the log. */
  get committed(): Zxid {
    if (this.#tally === undefined) return this.#leader.context.log.durable.commitHint;
    return this.#leader.epoch.logPosition(this.#tally.committed);
  }

  /** The last entry logged or proposed. */
  get lastLogged(): Zxid {
    return this.#leader.epoch.logPosition(this.queue.last);
  }

  /** Proposals of the epoch follow its start marker. */
  beginEpoch(): void {
    this.queue = new ProposalQueue(this.#leader.epoch.start);
    this.learnersChanged();
    this.#entries = this.#newCursor();
  }

  /** A restored state has taken the place of the history, on this server's disk as well. */
  historyReplaced(): void {
    this.#durable = this.#leader.epoch.history.zxid;
    this.#entries = this.#newCursor();
  }

  /** The history is committed: acks count from now on. */
  begin(): void {
    this.#tally = new AckTally(this.#leader.context.members.verifier, this.#leader.epoch.start);
  }

  /** The configuration changed, or begins to. */
  membersChanged(): void {
    const { members } = this.#leader.context;
    this.learnersChanged();
    const { lastSeen, verifier } = members;
    if (this.#tally === undefined || lastSeen === undefined) return;
    if (members.isChanging) this.#tally.change(verifier, lastSeen.version);
    else if (this.#tally.changed(verifier)) this.#committedMore();
  }

  /** Observers get entries a little after those were delivered. */
  learnersChanged(): void {
    this.queue.keepDelivered(this.#leader.learners.hasObservers);
  }

  propose(batch: FrameBatch): void {
    const { context, epoch, learners, stream } = this.#leader;
    if (this.#leader.phase !== "broadcast") throw new InvariantError("only an established leader proposes");
    if (epochOf(batch.first) !== epoch.number) {
      throw new InvariantError(`a leader of epoch ${epoch.number} proposes in it, not ${formatZxid(batch.first)}`);
    }
    if (batch.first !== this.queue.last + 1) {
      throw new InvariantError(`${formatZxid(batch.first)} leaves a gap behind ${formatZxid(this.queue.last)}`);
    }
    const run = { bytes: batch.bytes, start: 0, end: batch.end };
    const marks = this.#seeChanges(run);
    this.queue.push(batch);
    for (const learner of learners.values()) if (!learner.isObserver) stream.pump(learner);
    context.log.append(run, this.committed, marks);
  }

  /**
   * Notes the facts that the entries change, which count from here on, before any server has them.
   */
  #seeChanges(run: LoggedRun): RunMarks | undefined {
    const { level, members, sinks } = this.#leader.context;
    if (!members.isChangeable && !level.isExpected) return undefined;
    const changes = sinks.application.changesIn?.(run);
    if (changes === undefined) return undefined;
    const lastSeenConfig = this.#seeConfig(changes.configs.at(-1));
    const levelRaise = this.#seeRaise(changes.raises.at(-1));
    return { ...lastSeenConfig, ...levelRaise };
  }

  #seeConfig(config: Uint8Array | undefined): Pick<RunMarks, "lastSeenConfig"> {
    const { context } = this.#leader;
    const { members } = context;
    if (config === undefined || !members.isChangeable) return {};
    const changed = decodeMembers(config);
    assert(changed !== undefined && !members.isChanging, "one valid change of the configuration is proposed at a time");
    context.changeFollows();
    members.see(changed);
    return { lastSeenConfig: config };
  }

  #seeRaise(raised: LoggedChanges["raises"][number] | undefined): Pick<RunMarks, "levelRaise"> {
    if (raised === undefined) return {};
    const { context, levels } = this.#leader;
    const levelRaise = context.level.see(raised.level, raised.zxid);
    levels.raised();
    return { levelRaise };
  }

  #committedMore(): void {
    this.#leader.context.commitMembers(this.committed);
    this.#leader.stream.pumpObservers();
  }

  /** This server's own disk has everything up to here. */
  synced(zxid: Zxid): void {
    const { context, discovery, learners, stream, synchronization } = this.#leader;
    this.#durable = zxid;
    if (this.#tally?.ack(context.config.sid, zxid) === true) this.#committedMore();
    for (const learner of learners.values()) {
      if (learner.phase === "waiting" && discovery.holdsEpoch) synchronization.plan(learner);
      else if (learner.isStreaming && !learner.isReading) stream.pump(learner);
    }
  }

  /** A learner reports what is on its disk, and the newest leadership check that it has seen. */
  acked(learner: LearnerHandler, epoch: number, durable: Zxid, check: number): void {
    const isOutOfTurn = !learner.hasAccepted || epoch !== this.#leader.epoch.number;
    if (isOutOfTurn || durable < learner.acked || durable > learner.sent) {
      this.#leader.learners.illegal(learner, { kind: "ack-out-of-turn", durable });
      return;
    }
    learner.ack(durable);
    // The check first: a reader that waits for it gets the state before entries that were proposed
    // after it asked.
    this.#leader.check.heard(learner, check);
    this.count(learner, durable);
    this.#leader.stream.pump(learner);
  }

  count(learner: LearnerHandler, durable: Zxid): void {
    if (this.#tally === undefined || !learner.isCounted) return;
    // The history is committed by the quorum that accepted it; entries of earlier epochs are not
    // counted one by one.
    if (epochOf(durable) !== this.#leader.epoch.number) return;
    if (this.#tally.ack(learner.sid, durable)) this.#committedMore();
  }

  /** See {@link ZabPeer.takeCommitted}. */
  takeCommitted(): CommittedEntries {
    if (this.#tally === undefined) return NO_ENTRIES;
    // rule: leader-applies-what-is-committed-and-synced
    return this.#entries.open(earlierOf(this.committed, this.#durable));
  }

  /** See {@link ZabPeer.applied}. */
  applied(): void {
    if (this.#tally === undefined) return;
    this.#entries.settle();
    this.#leader.acceptance.serveWhenApplied();
  }

  /**
   * The end of a turn: commits that were not sent along with entries, and pings of a leadership
   * check.
   */
  flush(): void {
    const { phase, check, epoch, learners, liveness } = this.#leader;
    if (phase !== "broadcast" || (learners.isEmpty && !check.isOpen)) return;
    const { committed } = this;
    const isAsking = check.close();
    for (const learner of learners.values()) {
      if (learner.phase !== "synced") continue;
      if (isAsking) liveness.ping(learner);
      const due = earlierOf(committed, epoch.logPosition(learner.sent));
      if (due <= learner.announced) continue;
      learner.announced = due;
      learners.send(learner, { kind: "commit", epoch: epoch.number, committed: due });
    }
    if (isAsking) check.seek();
  }

  end(): void {
    const { application } = this.#leader.context.sinks;
    this.queue.releaseAll((batch) => application.release?.(batch));
  }

  #newCursor(): CommittedCursor {
    const { context, epoch } = this.#leader;
    const { application } = context.sinks;
    return new CommittedCursor({
      log: context.log,
      applied: () => application.applied(),
      release: (batch) => application.release?.(batch),
      queue: this.queue,
      historyEnd: epoch.history.zxid,
      damaged: (reason) => context.fail(reason),
    });
  }
}
