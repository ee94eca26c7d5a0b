import {
  assert,
  type EntriesMessage,
  earlierOf,
  epochOf,
  type LogPosition,
  laterOf,
  levelOfHistory,
  NO_RAISE,
  type PeerMessage,
  type ZabMessage,
  ZXID_NONE,
  type Zxid,
} from "@zooid/model";
import { decodeMembers } from "../known-members.ts";
import type { RoleContext } from "../role.ts";
import type { ReceivedSnapshot } from "../snapshot-port.ts";
import type { LearnerBroadcast } from "./broadcast.ts";
import { areEpochsUpTo } from "./history-checks.ts";
import type { LeaderLink } from "./leader-link.ts";

type SyncBegin = Extract<ZabMessage, { kind: "sync-begin" }>;
type NewLeader = Extract<ZabMessage, { kind: "new-leader" }>;

/** Minimum memory of a message that is kept back. */
const HELD_BACK_BYTES = 256;

/**
 * Phase 2, the learner's half: what the leader sends is staged beside the log, and installed in one
 * transaction when new-leader names its end. A link that breaks before then leaves the log
 * unchanged: no log ever has half of a history.
 */
export class LearnerSynchronization {
  readonly #context: RoleContext;
  readonly #link: LeaderLink;
  readonly #broadcast: LearnerBroadcast;
  #sync: SyncBegin | undefined;
  /** The snapshot's file, once it is whole. */
  #stateFile: string | undefined;
  /** Whether the log is still read for the place from which the leader continues it. */
  #isComparing = false;
  /** The messages that came meanwhile, from new-leader on. */
  #heldBack: PeerMessage[] = [];
  #heldBackBytes = 0;
  readonly #take: (message: PeerMessage) => void;

  /** @param take gets messages that were held back */
  constructor(
    context: RoleContext,
    link: LeaderLink,
    broadcast: LearnerBroadcast,
    take: (message: PeerMessage) => void,
  ) {
    this.#context = context;
    this.#link = link;
    this.#broadcast = broadcast;
    this.#take = take;
  }

  /**
   * Keeps back new-leader, and what follows it, until the histories are compared:
   *
   * 1. S1 says that it continues S2's log after entry 7, of which it has another one.
   * 2. S2 installs what S1 sends before its disk has shown that, and its log contradicts itself.
   *
   * @returns whether the message waits
   */
  holdsBack(message: PeerMessage): boolean {
    if (!this.#isComparing || (message.kind !== "new-leader" && this.#heldBack.length === 0)) return false;
    const bytes = HELD_BACK_BYTES + (message.kind === "entries" ? message.end - message.start : 0);
    this.#heldBackBytes += bytes;
    if (this.#heldBackBytes > this.#context.config.outstandingBytesMax) {
      this.#link.fault({ kind: "too-far-ahead", bytes: this.#heldBackBytes });
    } else this.#heldBack.push(message);
    return true;
  }

  begin(sync: SyncBegin): void {
    const link = this.#link;
    if (link.step !== "promised" || sync.epoch !== link.epoch) {
      link.illegal(sync);
      return;
    }
    const { log, sinks } = this.#context;
    const { durable } = log;
    if (!areEpochsUpTo(sync.epochs, sync.from.zxid)) {
      link.fault({ kind: "history-broken", after: sync.from.zxid });
      return;
    }
    this.#sync = sync;
    link.becomeStaging(sync.from.zxid);
    if (sync.mode === "snap") {
      // rule: a-new-stage-for-each-state
      log.beginStage(sync.from);
      assert(link.link !== undefined, "a snapshot is received on a link");
      const stored = (result: ReceivedSnapshot): void => {
        if (this.#sync !== sync || link.step !== "staging") return;
        if ("failed" in result) this.#context.leave({ kind: "state-not-received", detail: result.failed });
        else this.#stateFile = result.stateFile;
      };
      sinks.snapshots.receive(link.link, sync.from, stored, sync.origin);
      return;
    }
    // What is known to be committed may not be applied yet.
    const applied = laterOf(sinks.application.applied(), durable.commitHint);
    if (sync.from.zxid < durable.floor.zxid || sync.from.zxid < applied) {
      link.refuse("diverged", { kind: "applied-beyond", leader: link.leader, applied, from: sync.from.zxid });
      return;
    }
    if (sync.from.zxid === durable.tail.zxid) {
      if (!this.#compareHistory(sync.from, durable.tail.chain)) return;
    } else {
      this.#isComparing = true;
      log.chainAt(sync.from.zxid, (chain) => {
        this.#isComparing = false;
        if (this.#compareHistory(sync.from, chain)) this.#takeHeldBack();
      });
    }
    // Entries that the leader lacks were committed nowhere:
    // 1. S1 logs entry 7 and dies.
    // 2. S2 and S3 elect S3 and continue without it.
    // 3. S1 comes back and cuts entry 7, or it would apply an entry that no other server has.
    // rule: cut-what-the-leader-lacks
    log.beginStage(sync.from);
  }

  #compareHistory(from: LogPosition, chain: unknown): boolean {
    if (chain === from.chain) return true;
    const { leader } = this.#link;
    this.#link.refuse("diverged", { kind: "histories-differ", leader, at: from.zxid });
    return false;
  }

  #takeHeldBack(): void {
    // The role may end in between, which empties this.
    for (let message = this.#heldBack.shift(); message !== undefined; message = this.#heldBack.shift()) {
      this.#take(message);
    }
  }

  snapshotChunk(message: Extract<PeerMessage, { kind: "snapshot-chunk" }>): void {
    if (this.#link.step !== "staging" || this.#sync?.mode !== "snap") {
      this.#link.illegal(message);
      return;
    }
    const { index, isLast, bytes, start, end } = message;
    this.#context.sinks.snapshots.chunk(index, isLast, bytes, start, end);
  }

  stage(message: EntriesMessage): void {
    const link = this.#link;
    if (epochOf(message.last) > link.epoch) {
      link.illegal(message);
      return;
    }
    if (!link.received(message)) return;
    const { last } = message;
    this.#context.log.stage(message, () => {
      link.stored(last);
      link.send({ kind: "staged", epoch: link.epoch, through: last });
    });
  }

  /** The history is complete: it is installed, together with the epoch. */
  newLeader(message: NewLeader): void {
    const link = this.#link;
    if (link.step !== "staging" || message.epoch !== link.epoch || message.through !== link.logged) {
      link.illegal(message);
      return;
    }
    const { log } = this.#context;
    const sync = this.#sync;
    assert(sync !== undefined, "an installation follows a plan");
    if (sync.mode === "snap" && this.#stateFile === undefined) {
      // The last credit, which the leader waited for, says that the snapshot is whole.
      link.illegal(message);
      return;
    }
    const { identity, tail } = log.durable;
    const { ensembleId } = message;
    if (
      ensembleId !== "" &&
      identity.ensembleId !== "" &&
      ensembleId !== identity.ensembleId &&
      tail.zxid !== ZXID_NONE
    ) {
      link.fault({ kind: "history-of-another-ensemble", ensembleId });
      return;
    }
    const through = link.logged;
    const { level, members } = this.#context;
    const { levelRaise = NO_RAISE } = message;
    // Before the log has any of it: this server could not read what it would have to apply.
    // rule: no-history-of-an-unknown-level
    if (!level.knows(levelOfHistory(levelRaise, through))) {
      link.refuse("level", {
        kind: "leaders-level",
        leader: link.leader,
        level: levelRaise.level,
        levels: level.known,
      });
      return;
    }
    const config = members.isChangeable ? message.config : undefined;
    const seen = config && decodeMembers(config);
    const replacedConfig = config && message.committedConfig;
    const replaced = replacedConfig && decodeMembers(replacedConfig);
    if ((config !== undefined && seen === undefined) || (replacedConfig !== undefined && replaced === undefined)) {
      link.illegal(message);
      return;
    }
    const isWritten = replaced !== undefined && members.isWrittenWithHistory(replaced);
    const committedConfig = isWritten ? replacedConfig : undefined;
    const isSnapshot = this.#stateFile !== undefined;
    const isStateCommitted = sync.mode === "snap" && sync.isUncommitted !== true;
    const lastSeenConfig = config ?? members.cutChange();
    link.becomeInstalling();
    this.#broadcast.beginLogging(through);
    // One transaction:
    // 1. S1 cuts an entry of epoch 1 that S3 lacks.
    // 2. It crashes.
    // With the cut on disk and currentEpoch still 1, it would report an epoch whose history it does
    // not have. With currentEpoch 2 and no cut, it would vote for epoch 2 with an entry that epoch
    // 2 does not have.
    // rule: one-install
    log.installHistory(
      {
        epoch: link.epoch,
        tail: through,
        committed: laterOf(isStateCommitted ? sync.from.zxid : ZXID_NONE, earlierOf(link.announced, through)),
        endsAmnesia: message.endsAmnesia,
        // rule: history-with-its-ensemble
        ...(message.ensembleId === "" ? {} : { ensembleId: message.ensembleId }),
        // rule: history-with-its-configuration
        ...(lastSeenConfig === undefined ? {} : { lastSeenConfig }),
        ...(committedConfig === undefined ? {} : { committedConfig }),
        levelRaise,
        ...(this.#stateFile === undefined
          ? {}
          : {
              snapshot: {
                stateFile: this.#stateFile,
                epochs: sync.epochs,
                ...(isStateCommitted ? {} : { isUncommitted: true }),
              },
            }),
      },
      () => {
        if (isSnapshot) this.#context.sinks.application.install?.();
        // Also if the role has ended meanwhile: the disk says that this server votes.
        if (message.endsAmnesia) this.#context.lostHistory.recovered();
      },
      // rule: accept-behind-sync
      () => this.#installed(through),
    );
    // Now, and not when the disk has the history: entries behind it may come in between, and a
    // change among them is newer.
    // rule: the-historys-configuration-before-its-entries
    if (seen !== undefined) members.see(seen, replaced);
    level.install(levelRaise);
  }

  #installed(through: Zxid): void {
    const link = this.#link;
    link.becomeAccepted();
    this.#broadcast.beginDelivery(through);
    // Entries may have come while the history was installed. Their ack would say more than that the
    // history is accepted.
    // rule: accept-before-acks
    link.send({ kind: "ack-new-leader", epoch: link.epoch, through });
  }

  end(): void {
    this.#heldBack = [];
    if (this.#link.step !== "staging") return;
    if (this.#sync?.mode === "snap") this.#context.sinks.snapshots.abandon();
    // rule: a-broken-stage-is-dropped
    this.#context.log.dropStage();
  }
}
