import { composeZxid, type EntriesMessage, earlierOf, epochOf, laterOf, ZXID_NONE, type Zxid } from "@zooid/model";
import { CommittedCursor, type CommittedEntries, NO_ENTRIES } from "../committed-entries.ts";
import { decodeMembers } from "../known-members.ts";
import { ProposalQueue } from "../proposal-queue.ts";
import type { RoleContext } from "../role.ts";
import type { LoggedChanges } from "../sinks.ts";
import type { LeaderLink } from "./leader-link.ts";

/** Minimum time between two acks of an observer. */
const OBSERVER_ACK_MS = 100;
/**
 * It acks sooner when it has received this part of the window: its leader sends no more than a
 * window ahead of acks.
 */
const OBSERVER_ACK_WINDOWS = 1 / 8;

/**
 * A leader may be configured to propose more than this server would, and its last batch goes beyond
 * that.
 */
const UNCOMMITTED_TIMES = 4;

const NO_CHANGES: LoggedChanges = { configs: [], raises: [] };

/**
 * Phase 3, the learner's half: entries are logged as they come, acked once they are on disk, and
 * delivered once they are committed as well. Entries come from the installation of the history on,
 * before up-to-date too; delivery waits for up-to-date.
 */
export class LearnerBroadcast {
  readonly #context: RoleContext;
  readonly #link: LeaderLink;
  #queue = new ProposalQueue(ZXID_NONE);
  #entries: CommittedCursor | undefined;
  #durable: Zxid = ZXID_NONE;
  /** Serving begins when this is applied. */
  #serveAt: Zxid | undefined;
  #isServing = false;
  #ackedMs = Number.NEGATIVE_INFINITY;
  /** Received since then. */
  #unackedBytes = 0;
  /** When an observer acks the entries on its disk since its last ack. */
  #ackDueMs: number = Number.POSITIVE_INFINITY;

  constructor(context: RoleContext, link: LeaderLink) {
    this.#context = context;
    this.#link = link;
  }

  get queue(): ProposalQueue {
    return this.#queue;
  }

  get isServing(): boolean {
    return this.#isServing;
  }

  /** The last entry that is known to be committed and is here. */
  get committed(): Zxid {
    const hint = this.#context.log.durable.commitHint;
    return this.#link.hasInstalled ? laterOf(hint, earlierOf(this.#link.announced, this.#link.logged)) : hint;
  }

  /** Entries after the history may come. */
  beginLogging(historyEnd: Zxid): void {
    this.#queue = new ProposalQueue(historyEnd);
  }

  /** The history is on disk. */
  beginDelivery(historyEnd: Zxid): void {
    this.#durable = historyEnd;
    const { log, sinks } = this.#context;
    const { application } = sinks;
    // Entries lie in the link's own memory: nothing is released.
    this.#entries = new CommittedCursor({
      log,
      applied: () => application.applied(),
      queue: this.#queue,
      historyEnd,
      damaged: (reason) => this.#context.fail(reason),
    });
  }

  entries(message: EntriesMessage): void {
    const link = this.#link;
    // rule: entries-from-the-install-on
    if (!link.hasInstalled || epochOf(message.first) !== link.epoch || epochOf(message.last) !== link.epoch) {
      link.illegal(message);
      return;
    }
    const { bytes, start, end } = message;
    if (this.#isUncommitted(end - start)) {
      link.fault({ kind: "too-far-ahead", bytes: this.#queue.sizeBytes + end - start });
      return;
    }
    if (!link.received(message)) return;
    const { level, members, sinks } = this.#context;
    const { configs, raises } = sinks.application.changesIn?.(message) ?? NO_CHANGES;
    const changes = members.isChangeable ? configs.map((config) => decodeMembers(config)) : [];
    if (changes.includes(undefined)) {
      link.illegal(message);
      return;
    }
    // rule: no-entry-of-an-unknown-level
    const unknown = raises.find((raise) => !level.knows(raise.level));
    if (unknown !== undefined) {
      link.refuse("level", { kind: "leaders-level", leader: link.leader, level: unknown.level, levels: level.known });
      return;
    }
    this.#unackedBytes += end - start;
    // The queue is a view of what came: no copy, and nothing is decoded before it is committed.
    const run = bytes.subarray(start, end);
    this.#queue.push({
      first: message.first,
      last: message.last,
      count: message.count,
      bytes: run,
      end: run.length,
    });
    for (const change of changes) {
      this.#context.changeFollows();
      if (change !== undefined) members.see(change);
    }
    const lastSeenConfig = changes.length === 0 ? undefined : configs.at(-1);
    for (const raise of raises) level.see(raise.level, raise.zxid);
    // rule: the-configuration-with-its-entry
    const ofMembers = lastSeenConfig === undefined ? undefined : { lastSeenConfig };
    // rule: the-level-with-its-entry
    const ofLevel = raises.length === 0 ? undefined : { levelRaise: level.raise };
    const marks = ofMembers === undefined && ofLevel === undefined ? undefined : { ...ofMembers, ...ofLevel };
    // The ack follows the disk's completion:
    // 1. S3 proposes entry 7, and S1 acks it before it is on its disk.
    // 2. S3 counts itself and S1, commits and answers the client.
    // 3. S1 and S3 lose power: S1 has lost an entry that is committed, and may lead with S2.
    // rule: ack-behind-sync
    this.#context.log.append({ bytes: run, start: 0, end: run.length }, this.committed, marks);
  }

  /** Whether the leader proposes on and on, and commits nothing of it. */
  #isUncommitted(more: number): boolean {
    const { outstandingBytesMax } = this.#context.config;
    return (
      this.#queue.sizeBytes + more > UNCOMMITTED_TIMES * outstandingBytesMax && !this.#queue.hasUpTo(this.committed)
    );
  }

  upToDate(epoch: number, committed: Zxid): void {
    const link = this.#link;
    if (link.step !== "accepted" || epoch !== link.epoch || committed > link.logged) {
      link.fault({ kind: "up-to-date-out-of-turn" });
      return;
    }
    link.becomeSynced();
    link.noteCommitted(committed);
    // The epoch's history is committed as a whole, and its configuration with it.
    this.#context.commitMembers(composeZxid(epoch, 0));
    this.#serveAt = committed;
  }

  commit(epoch: number, committed: Zxid): void {
    const link = this.#link;
    if (link.step !== "synced" || epoch !== link.epoch || committed > link.logged) {
      link.fault({ kind: "commit-of-what-is-missing", committed });
      return;
    }
    link.noteCommitted(committed);
  }

  /** Everything up to here, appended in this role, is durable. */
  synced(zxid: Zxid): void {
    this.#durable = zxid;
    this.#link.stored(zxid);
    const nowMs = this.#context.nowMs();
    // No commit waits for an observer: one ack for many entries spares the leader a message for
    // each.
    const dueMs = this.#ackedMs + OBSERVER_ACK_MS;
    const { windowBytes } = this.#context.config;
    const { isObserver } = this.#context.members;
    const isSynced = this.#link.step === "synced";
    const mayWait = isObserver && isSynced && this.#unackedBytes < windowBytes * OBSERVER_ACK_WINDOWS;
    if (mayWait && nowMs < dueMs) this.#ackDueMs = dueMs;
    else this.#ack(nowMs);
  }

  #ack(nowMs: number): void {
    this.#ackedMs = nowMs;
    this.#unackedBytes = 0;
    this.#ackDueMs = Number.POSITIVE_INFINITY;
    // rule: ack-what-is-synced
    this.#link.send({ kind: "ack", epoch: this.#link.epoch, durable: this.#durable, check: this.#link.check });
  }

  /** See {@link ZabPeer.takeCommitted}. */
  takeCommitted(): CommittedEntries {
    if (this.#entries === undefined || this.#link.step !== "synced") return NO_ENTRIES;
    // rule: learner-applies-what-is-committed-and-synced
    return this.#entries.open(earlierOf(this.committed, this.#durable));
  }

  /** See {@link ZabPeer.applied}. */
  applied(): void {
    if (this.#entries === undefined || this.#link.step !== "synced") return;
    this.#entries.settle();
    const { application, roles } = this.#context.sinks;
    // 1. Entry 7 is committed by S1 and S3 and answered to a client.
    // 2. S2 is synced and has entry 7 on disk, not in its tree.
    // 3. The client moves to S2, and must not read the state before its own write.
    // rule: serve-what-the-epoch-began-with
    if (!this.#isServing && this.#serveAt !== undefined && application.applied() >= this.#serveAt) {
      this.#isServing = true;
      roles.serve(this.#link.epoch);
    }
  }

  get dueMs(): number {
    return this.#ackDueMs;
  }

  tick(): void {
    const nowMs = this.#context.nowMs();
    if (nowMs >= this.#ackDueMs) this.#ack(nowMs);
  }

  end(): void {
    this.#queue.releaseAll();
  }
}
