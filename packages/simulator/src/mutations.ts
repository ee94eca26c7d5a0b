import type { SourceMutation } from "./mutate-source.ts";

const LEADER = "packages/zab/src/leader.ts";
const LEARNER = "packages/zab/src/learner.ts";

/**
 * Rules of the replication taken out, one at a time: a simulator that does not notice is of no use. Rule numbers are those of the
 * reference on ZAB, 0.4; the other names are the families at the end of its section 10.
 */
export const MUTATIONS: readonly (SourceMutation & { readonly rule: string })[] = [
  {
    rule: "1",
    name: "election-decides",
    file: LEADER,
    snippet: ["if (isAhead) {"],
    replacement: ["if (false) {"],
  },
  {
    rule: "2",
    name: "ack-before-sync",
    file: LEARNER,
    snippet: ["log.append({ bytes: run, start: 0, end: run.length }, this.committed);"],
    replacement: [
      "log.append({ bytes: run, start: 0, end: run.length }, this.committed);",
      'this.#send({ kind: "ack", epoch: this.#epoch, durable: message.last, round: this.#round });',
    ],
  },
  {
    rule: "2",
    name: "promise-after-leader-info",
    file: LEADER,
    snippet: ["const incarnation = durable.identity.bootCount;"],
    replacement: [
      "const incarnation = durable.identity.bootCount;",
      "this.#hasPromised = true;",
      "for (const learner of this.#learners.values()) this.#invite(learner);",
    ],
  },
  {
    rule: "2",
    name: "promise-not-kept",
    file: LEARNER,
    snippet: ["else log.setPromise({ epoch, sid: this.leader, incarnation }, () => this.#ackEpoch(false));"],
    replacement: ["else this.#ackEpoch(false);"],
  },
  {
    rule: "3",
    name: "flip-split-in-two",
    file: LEARNER,
    snippet: ["const isSnapshot = this.#stateFile !== undefined;"],
    replacement: ["const isSnapshot = this.#stateFile !== undefined;", "log.setCurrentEpoch(this.#epoch, () => {});"],
  },
  {
    rule: "4",
    name: "position-from-tree",
    file: LEARNER,
    snippet: ["logged: durable.tail,"],
    replacement: ["logged: { ...durable.tail, zxid: sinks.applied() },"],
  },
  {
    rule: "4",
    name: "marker-as-position",
    file: LEARNER,
    snippet: ["logged: durable.tail,"],
    replacement: [
      "logged: { ...durable.tail, zxid: Math.max(durable.tail.zxid, durable.currentEpoch * 2 ** 32) as Zxid },",
    ],
  },
  {
    rule: "5",
    name: "uncommitted-in-the-tree",
    file: "packages/simulator/src/ensemble/sim-server.ts",
    snippet: ["replayRun(run.bytes, Math.min(commitHint, tail.zxid) as Zxid, this.replica);"],
    replacement: ["replayRun(run.bytes, tail.zxid, this.replica);"],
  },
  {
    rule: "6",
    name: "apply-unlogged",
    file: LEARNER,
    snippet: ["const more = this.#delivery.deliver(earlierOf(this.committed, this.#durable), most);"],
    replacement: ["const more = this.#delivery.deliver(this.committed, most);"],
  },
  {
    rule: "6",
    name: "leader-applies-unlogged",
    file: LEADER,
    snippet: ["const more = this.#delivery.deliver(earlierOf(this.committed, this.#durable), most);"],
    replacement: ["const more = this.#delivery.deliver(this.committed, most);"],
  },
  {
    rule: "7",
    name: "no-drain-on-role-change",
    file: "packages/zab/src/fenced-log.ts",
    snippet: ["return this.#underWay === 0;"],
    replacement: ["return true;"],
  },
  {
    rule: "8",
    name: "ack-of-more-than-synced",
    file: LEARNER,
    snippet: ['this.#send({ kind: "ack", epoch: this.#epoch, durable: zxid, round: this.#round });'],
    replacement: ['this.#send({ kind: "ack", epoch: this.#epoch, durable: this.#logged, round: this.#round });'],
  },
  {
    rule: "8",
    name: "new-leader-not-last",
    file: LEADER,
    snippet: ["return learner.through !== undefined && this.#logPosition(learner.sent) >= learner.through;"],
    replacement: ["return learner.through !== undefined;"],
  },
  {
    rule: "9",
    name: "history-without-a-quorum",
    file: LEADER,
    snippet: ["if (this.#isQuorum(this.#counted(({ hasAccepted }) => hasAccepted))) this.#establish();"],
    replacement: ["if (this.#isQuorum(this.#counted(() => true))) this.#establish();"],
  },
  {
    rule: "9",
    name: "acks-of-older-epochs-count",
    file: "packages/zab/src/broadcast.ts",
    snippet: ["if (this.#verifier.isQuorum(holders)) return point;"],
    replacement: ["if (holders.length * 2 >= this.#verifier.voters.size) return point;"],
  },
  {
    rule: "10",
    name: "window-hole",
    file: "packages/zab/src/proposal-queue.ts",
    snippet: ["return oldest !== undefined && oldest.first <= after + 1 && after < this.#last;"],
    replacement: ["return oldest !== undefined && after < this.#last;"],
  },
  {
    rule: "11",
    name: "storage-error-swallowed",
    file: "packages/simulator/src/ensemble/disk.ts",
    snippet: ["refused: ({ reason }) => parts.handler.failed(new Error(reason)),"],
    replacement: ["refused: ({ generation, zxid }) => parts.handler.appended(generation, zxid),"],
  },
  {
    rule: "12",
    name: "up-to-date-twice",
    file: LEADER,
    snippet: ['this.#send(learner, { kind: "up-to-date", epoch: this.#epoch, committed });'],
    replacement: [
      'this.#send(learner, { kind: "up-to-date", epoch: this.#epoch, committed });',
      'this.#send(learner, { kind: "up-to-date", epoch: this.#epoch, committed });',
    ],
  },
  {
    rule: "12",
    name: "no-cut",
    file: LEARNER,
    snippet: ['if (this.#step === "staging") log.beginStage(sync.from);'],
    replacement: ['if (this.#step === "staging") log.beginStage(durable.tail);'],
  },
  {
    rule: "families",
    name: "keep-stage-of-a-broken-sync",
    file: LEARNER,
    snippet: ["this.#logged = sync.from.zxid;", 'if (sync.mode === "snap") {', "log.beginStage(sync.from);"],
    replacement: ["this.#logged = sync.from.zxid;", 'if (sync.mode === "snap") {'],
  },
  {
    rule: "families",
    name: "count-amnesiac",
    file: LEADER,
    snippet: ["isCounted: isVoter && !info.isAmnesiac && (promise.epoch > 0 || !info.isFresh || this.#isFounding),"],
    replacement: ["isCounted: isVoter,"],
  },
  {
    rule: "families",
    name: "vote-order",
    file: "packages/election/src/vote.ts",
    snippet: ["if (a.peerEpoch !== b.peerEpoch) return a.peerEpoch - b.peerEpoch;"],
    replacement: ["if (a.leader !== b.leader) return a.leader - b.leader;"],
  },
  {
    rule: "families",
    name: "sync-without-a-quorum",
    file: LEADER,
    snippet: [
      "if (!this.#isQuorum(this.#counted((learner) => learner.hasAccepted && learner.round >= round))) continue;",
    ],
    replacement: [""],
  },
  {
    rule: "families",
    name: "expiry-on-the-wall-clock",
    file: "packages/simulator/src/ensemble/sim-server.ts",
    snippet: ["this.replica.setTime(Math.floor(nowMs), 1_000_000 + Math.floor(nowMs) + this.#wallSkewMs);"],
    replacement: ["this.replica.setTime(1_000_000 + Math.floor(nowMs) + this.#wallSkewMs, Math.floor(nowMs));"],
  },
  {
    rule: "found",
    name: "promise-to-the-wiped",
    file: LEADER,
    snippet: ["if (!hasVoice && !this.#isEstablished) return;"],
    replacement: [""],
  },
  {
    rule: "found",
    name: "voice-from-a-promise-alone",
    file: "packages/zab/src/peer.ts",
    snippet: ["return this.#hasLostPast || amnesiac || hasNotFounded;"],
    replacement: ["return this.#hasLostPast || amnesiac;"],
  },
  {
    rule: "found",
    name: "told-before-the-leader-serves",
    file: LEADER,
    snippet: ["this.#count(learner, learner.acked);", '} else if (learner.phase === "waiting") {'],
    replacement: [
      "this.#count(learner, learner.acked);",
      "this.#welcome(learner);",
      '} else if (learner.phase === "waiting") {',
    ],
  },
  {
    rule: "found",
    name: "promise-elsewhere-is-ignored",
    file: LEADER,
    snippet: ["if (isVoter && !info.isAmnesiac && this.#epoch !== 0 && this.#isElsewhere(promise)) {"],
    replacement: ["if (false) {"],
  },
  {
    rule: "found",
    name: "expired-before-it-is-committed",
    file: "packages/replica/src/replica.ts",
    snippet: ["return hasPassword(session, passwordHash) && session.closing;"],
    replacement: ["return false;"],
  },
  {
    rule: "found",
    name: "accepting-answers-no-round",
    file: LEADER,
    snippet: ["learner.round = Math.max(learner.round, learner.offeredRound);", "this.#answeredRound(learner);"],
    replacement: [""],
  },
];
