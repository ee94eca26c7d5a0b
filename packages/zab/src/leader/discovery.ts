import {
  EPOCH_MAX,
  type EpochPromise,
  epochOf,
  haveCommonLevel,
  knowsLevel,
  type LinkRef,
  levelOfHistory,
  type Members,
  type ServerId,
  ZXID_NONE,
} from "@zooid/model";
import type { SaidDisk } from "../founding.ts";
import { encodeMembers, versionOf } from "../known-members.ts";
import type { RoleEnd } from "../operator-events.ts";
import type { Leader } from "./leader.ts";
import { type AckEpoch, LearnerHandler, type LearnerInfo } from "./learner-handler.ts";
import { levelsOf } from "./levels.ts";
import { joined } from "./wishes.ts";

/**
 * Phase 1, the leader's half: a quorum reports the epochs that it has promised, the leader takes
 * the next one, and a quorum promises that one to it. Then no leader of an earlier epoch can commit
 * anything.
 *
 * ```
 * informed ×quorum ─▶ own promise durable ─▶ leader-info ─▶ ack-epoch ×quorum ─▶ own currentEpoch durable ─▶ synchronization
 * ```
 */
export class Discovery {
  readonly #leader: Leader;
  /**
   * No epoch was ever held here: this server may found the ensemble, and only with others like it.
   */
  readonly #isFresh: boolean;
  /** This server has a history that no other one has a part of: it may found an ensemble on it. */
  readonly #isOwn: boolean;
  /** Its quorum has voters that are counted though they are part of no attempt of this server. */
  #isOfBlankVoters = false;
  /** The id of the ensemble that is founded on an own history, until a quorum has promised. */
  #newEnsembleId = "";
  /** This server's own promise of its epoch is durable. */
  #hasPromised = false;
  /** This server's own currentEpoch is durable: learners may be synchronized. */
  #holdsEpoch = false;

  constructor(leader: Leader) {
    this.#leader = leader;
    this.#isFresh = leader.context.lostHistory.isFresh;
    this.#isOwn = leader.context.lostHistory.isOwn;
  }

  get holdsEpoch(): boolean {
    return this.#holdsEpoch;
  }

  /** For an ensemble of one, whose epoch is promised and held before it leads. */
  skip(): void {
    this.#hasPromised = true;
    this.#holdsEpoch = true;
  }

  /** A server follows this one and reports what it has promised. */
  informed(link: LinkRef, sid: ServerId, info: LearnerInfo): void {
    const { context, epoch, learners } = this.#leader;
    const { log } = context;
    const { ensembleId } = log.durable.identity;
    if (info.ensembleId !== "" && ensembleId !== "" && info.ensembleId !== ensembleId) {
      learners.refuseLink(link, {
        kind: "learner-of-another-ensemble",
        sid,
        ours: ensembleId,
        theirs: info.ensembleId,
      });
      return;
    }
    if (info.promise.epoch >= EPOCH_MAX) {
      learners.refuseLink(link, { kind: "promise-impossible", sid, epoch: info.promise.epoch });
      return;
    }
    const levels = levelsOf({ info });
    const level = levelOfHistory(context.level.raise, log.durable.tail.zxid);
    // Also while the raise is not committed: it may be, with this history.
    // rule: a-learner-knows-the-level-of-the-history
    if (!knowsLevel(levels, level) || !haveCommonLevel(levels, context.config.levels)) {
      learners.refuseLink(link, { kind: "learners-level", sid, level, levels }, "level");
      return;
    }
    const { members } = context;
    // Where a configuration was agreed on, the newest one decides: the learner may not know of it
    // yet.
    const isVoter = members.isVoter(sid) && (members.isAgreed || !info.isObserver);
    if (members.isChangeable && info.configVersion > versionOf(members.lastSeen)) {
      // A change was committed that this server has not seen: others have elected a leader since.
      this.#giveWay(link, { kind: "configuration-is-newer", sid, version: info.configVersion });
      return;
    }
    const { promise } = info;
    if (this.#isFoundedBeside(sid, info)) {
      context.founding.hasData(sid, saidBy(info));
      this.#giveWay(link, this.#foundingEnd(sid));
      return;
    }
    // A server with a history of its own follows no leader of an ensemble: no epoch would change
    // that.
    const mayFollow = !info.isOwn || !this.#leader.isEstablished;
    // 1. S5 begins epoch 7: S4 promises it, and S5 dies.
    // 2. S1 leads; S2 and S3 know of 6, so it takes epoch 7 too.
    // 3. S4 comes back: it has promised 7 to S5 and must refuse S1. If S2 fails now, S1, S3 and S4
    //    are a majority that cannot form a quorum.
    // In epoch 8 all can follow. The same holds where S4 is not counted, since its log is damaged:
    // it refuses S1 all the same.
    // rule: an-epoch-above-every-promise
    if (isVoter && epoch.number !== 0 && mayFollow && this.#isElsewhere(promise)) {
      context.mustExceed(promise.epoch);
      this.#giveWay(link, { kind: "epoch-promised-elsewhere", sid, epoch: promise.epoch, to: promise.sid });
      return;
    }
    const isKnown = !info.isAmnesiac && this.#isKnown(info, isVoter);
    const hasCountedDisk = members.hasDisk(sid, info.diskId);
    const learner = new LearnerHandler({
      link,
      sid,
      info,
      // A disk with nothing on it may have forgotten a promise or an ack, unless the ensemble is
      // being founded and there were none.
      // 1. S1 commits an entry with the ack of S2; S3 lags.
      // 2. S2 loses its disk, S1 dies.
      // 3. S3 leads: S2 and S3 are a quorum that does not know the entry, and it is lost.
      // An ensemble may be founded on the history of one server as well: no other one has acked
      // anything of it. A promise says nothing of an observer, which gives one before any history.
      // rule: wiped-servers-are-not-counted
      isWhole: isKnown && hasCountedDisk,
      isOldDisk: isKnown && !hasCountedDisk,
      isObserver: !isVoter,
      nowMs: context.nowMs(),
    });
    learners.add(learner);
    this.#countBlankVoters();
    if (this.#hasPromised) this.invite(learner);
    else this.seekEpoch();
    const isLeftOut = isVoter && !learner.isCounted;
    if (!isLeftOut) context.sinks.roles.note({ kind: "learner-follows", sid });
    else context.sinks.roles.note({ kind: "learner-not-counted", sid, isOldDisk: learner.isOldDisk });
  }

  /** Leaves for the sake of a server that is no learner yet: it looks for a leader as well. */
  #giveWay(link: LinkRef, reason: RoleEnd): void {
    const { context, learners } = this.#leader;
    learners.refuseLink(link, { kind: "no-leader-known" }, "not-leading");
    context.leave(reason);
  }

  /**
   * No epoch was ever held here, or none by any other server, and the present one has no quorum
   * yet.
   */
  get #isFounding(): boolean {
    return this.#isFounder && !this.#leader.isEstablished;
  }

  /** It has no history, or one that no other server has a part of. */
  get #isFounder(): boolean {
    return this.#isFresh || this.#isOwn;
  }

  /** Whether a learner has acked nothing that it does not have now. */
  #isKnown(info: LearnerInfo, isVoter: boolean): boolean {
    const isBlank = info.isFresh || info.attemptId !== "";
    if (!isBlank) return true;
    if (info.isFresh && !isVoter) return false;
    return this.#isOfAttempt(info) || (info.isFresh && this.#isFounding);
  }

  /**
   * Whether a learner without a history has a promise of this leader's attempt to found the
   * ensemble, or of the one that succeeded.
   *
   * 1. S1, S2 and S3 are an ensemble; S1 and S2 lose their disks.
   * 2. S2 tries to found another one: S1 promises it an epoch.
   * 3. S2 stops, and S3 leads: S1 has forgotten what it acked, for all that it has promised since.
   */
  #isOfAttempt({ attemptId, promise }: LearnerInfo): boolean {
    // rule: a-promise-counts-for-its-attempt
    return promise.epoch > 0 && attemptId !== "" && attemptId === this.#ensembleId;
  }

  get #ensembleId(): string {
    const { ensembleId } = this.#leader.context.log.durable.identity;
    return ensembleId === "" ? this.#newEnsembleId : ensembleId;
  }

  /**
   * Counts voters without a history where no voter has any, though this server holds an epoch:
   *
   * 1. S3 founds an ensemble with S1 and S2, and crashes when its epoch is on its disk and on no
   *    other.
   * 2. S1 and S2 try without it: their promises from then on are part of another attempt.
   * 3. S3 comes back. It counts neither, and forbids them to found one.
   *
   * But all three are there, and nothing was logged. So are all others that some file lists,
   * observers too.
   */
  #countBlankVoters(): void {
    const { context, epoch, learners } = this.#leader;
    const { config, founding, log, members } = context;
    if (this.#isFounder || epoch.number !== 0 || log.durable.tail.zxid !== ZXID_NONE) return;
    const blank = Array.from(learners.values()).filter(
      ({ isObserver, info }) => !isObserver && !info.isAmnesiac && (info.isFresh || info.attemptId !== ""),
    );
    const followers = new Set([config.sid, ...blank.map(({ sid }) => sid)]);
    for (const sid of members.verifier.voters) if (!followers.has(sid)) return;
    if (founding.hasHeardOfEntries) return;
    // 1. S1, S2 and S3 found an ensemble, and S3 is down from then on. It grows to five.
    // 2. S1 and S2 lose their disks while S4 and S5 are down, and S3 comes back with three.
    // The files of all list five.
    const lists = [members.committed, members.lastSeen, config.members, ...blank.map(({ list }) => list)];
    const listed = lists.flatMap((list) => list?.servers.map(({ sid }) => sid) ?? []);
    if (!listed.every((sid) => followers.has(sid) || founding.saidBlank(sid))) return;
    if (learners.isQuorum(learners.counted(() => true))) return;
    // 1. S1 and S2 served, had entries, and lost their disks; S3 was away before the first one.
    // 2. Under the same id, an old disk of S1 would be part of the new ensemble.
    this.#isOfBlankVoters = true;
    for (const learner of blank) if (!learner.isWhole) learner.becomeWhole();
  }

  /**
   * Whether a learner has data, or has lost some, beside which this leader would found an ensemble.
   *
   * 1. S1 has served alone. S2 and S3 found an ensemble, and have data of it.
   * 2. S1 has the larger zxid, and is elected: its history would replace theirs.
   */
  #isFoundedBeside(sid: ServerId, info: LearnerInfo): boolean {
    if (!this.#isFounding || (info.isFresh && !info.isAmnesiac)) return false;
    if (this.#isOfAttempt(info) || (info.ensembleId !== "" && info.ensembleId === this.#ensembleId)) return false;
    // Of servers that are not listed nothing depends: they may be about to join.
    if (!this.#leader.context.founding.isListed(sid)) return false;
    return !this.#holdsEpoch || (this.#leader.context.members.isVoter(sid) && !info.isAmnesiac);
  }

  #foundingEnd(sid: ServerId): RoleEnd {
    return { kind: this.#isOwn ? "ensemble-has-data" : "history-missing-here", sid };
  }

  /** The facts that are known of other servers have changed. */
  foundingChanged(): void {
    if (this.#holdsEpoch) return;
    if (!this.#isFounder) {
      this.#countBlankVoters();
      this.seekEpoch();
      return;
    }
    const holder = this.#leader.context.founding.dataHolder;
    if (holder !== undefined) this.#leader.context.leave(this.#foundingEnd(holder));
    else this.seekEpoch();
  }

  /** Whether a quorum waits with this server until it may found an ensemble. */
  get awaitsFounding(): boolean {
    const { context, epoch, learners } = this.#leader;
    if (!this.#isFounder || epoch.number !== 0 || context.founding.dataHolder !== undefined) return false;
    return learners.isQuorum(learners.counted(() => true)) && context.founding.obstacles().length > 0;
  }

  /** Whether a promise keeps its giver from following this leader in this epoch. */
  #isElsewhere({ epoch, sid, incarnation }: EpochPromise): boolean {
    const { context } = this.#leader;
    if (epoch !== this.#leader.epoch.number) return epoch > this.#leader.epoch.number;
    return sid !== context.config.sid || incarnation !== context.log.durable.identity.bootCount;
  }

  /** Takes an epoch once a quorum has reported its promises: one above the highest of them. */
  seekEpoch(): void {
    const { context, learners } = this.#leader;
    if (this.#leader.epoch.number !== 0 || !learners.isQuorum(learners.counted(() => true))) return;
    // 1. S1 and S2 lose their disks, and are a quorum; S3 has the data.
    // 2. The three are started together, and the links of S3 come up a little later than the
    //    others.
    // rule: a-founder-hears-all
    const obstacle = this.#isFounder ? context.founding.obstacles()[0] : undefined;
    if (obstacle !== undefined) {
      if (obstacle.kind === "has-data") context.leave(this.#foundingEnd(obstacle.sid));
      return;
    }
    const { config, log } = context;
    const { durable } = log;
    let highest = Math.max(durable.promise.epoch, durable.currentEpoch, context.epochToExceed);
    for (const { isCounted, info } of learners.values()) {
      if (isCounted) highest = Math.max(highest, info.promise.epoch);
      // Files of a lost ensemble name versions: the new one's configuration must be newer than
      // those.
      if (this.#isFounder) highest = Math.max(highest, epochOf(info.configVersion));
    }
    if (this.#isFounder) highest = Math.max(highest, epochOf(versionOf(context.members.lastSeen)));
    const epoch = this.#leader.restoration?.epochBehind(highest) ?? highest + 1;
    if (epoch >= EPOCH_MAX) {
      context.leave({ kind: "epochs-used-up", epoch });
      return;
    }
    this.#leader.beginEpoch(epoch);
    this.#leader.liveness.beginStep();
    // With the id the history would no longer be this server's own:
    // 1. S1 writes it, and dies.
    // 2. S2 and S3 have promised nothing: they do not count, and S1 never has a quorum.
    if (this.#leader.restoration !== undefined) {
      // It has led: what there was to found is founded. An ensemble of one has no id.
    } else if (this.#isOwn) this.#newEnsembleId = config.newEnsembleId;
    else if (this.#isFresh || this.#isOfBlankVoters) {
      // Not the id of an attempt that this server took part in: that one may have succeeded
      // elsewhere.
      if (durable.identity.ensembleId !== config.newEnsembleId) log.setEnsembleId(config.newEnsembleId, () => {});
    } else if (durable.identity.ensembleId === "")
      log.setEnsembleId(this.#ensembleIdOfOthers() ?? config.newEnsembleId, () => {});
    const incarnation = durable.identity.bootCount;
    // 1. S3 sends epoch 5 to S1 and dies with its promise of 5 not on its disk.
    // 2. S3 comes back with promise 4 and votes for S2.
    // 3. S2 takes epoch 5 as well: one epoch, two leaders.
    // rule: promise-before-leader-info
    log.setPromise({ epoch, sid: config.sid, incarnation }, () => {
      this.#hasPromised = true;
      for (const learner of learners.values()) this.invite(learner);
      this.#seekPromises();
    });
  }

  /** A server that lost its disk and got the history back, but not the ensemble's id. */
  #ensembleIdOfOthers(): string | undefined {
    for (const { info, isCounted } of this.#leader.learners.values())
      if (isCounted && info.ensembleId !== "") return info.ensembleId;
    return undefined;
  }

  /**
   * Sends the epoch to a learner, which promises it.
   *
   * A voter that is not counted waits until a quorum has formed without it, and gets the ensemble's
   * id only with the history:
   *
   * 1. S2 lost its disk and promises epoch 6 to S3.
   * 2. S3 dies without a quorum.
   * 3. The next leader sees the promise, takes S2 for a server with a past and counts it, see
   *    {@link ZabPeer.isAmnesiac}.
   *
   * An observer is no different:
   *
   * 1. S1 lost its disk, observes and promises epoch 4.
   * 2. S3, which leads, changes the configuration to one with S1, and dies.
   * 3. S4 leads, and would count S1 for its promise.
   */
  invite(learner: LearnerHandler): void {
    if (learner.phase !== "informed") return;
    // A server without a vote may get one while it follows, so its promise binds it as well. It
    // makes none to a leader that may fail before it leads: another one could take the same epoch.
    // rule: wiped-servers-make-no-promise
    if (!learner.isCounted && !this.#leader.isEstablished) return;
    const { founding, log, members } = this.#leader.context;
    // 1. S4 is in no list, and gets the data of 1, 2 and 3, which have not agreed on a list yet: it
    //    gets none.
    // 2. Its operator gives it the list 4. It would lead by its file, beside them.
    if (members.isChangeable && !members.isAgreed && !founding.isListed(learner.sid)) return;
    learner.becomeInvited();
    const { bootCount } = log.durable.identity;
    this.#leader.learners.send(learner, {
      kind: "leader-info",
      epoch: this.#leader.epoch.number,
      incarnation: bootCount,
      // rule: wiped-servers-hear-no-ensemble-id
      ensembleId: learner.isWhole ? this.#ensembleId : "",
    });
  }

  /** A learner has promised the epoch and reports where its history ends. */
  ackedEpoch(learner: LearnerHandler, message: AckEpoch): void {
    const { context, learners } = this.#leader;
    if (learner.phase !== "invited") {
      learners.illegal(learner, { kind: "epoch-acked-twice" });
      return;
    }
    learner.becomeWaiting(message);
    const { currentEpoch, tail } = context.log.durable;
    if (!this.#holdsEpoch && learner.isCounted) {
      const { zxid } = message.logged;
      // rule: the-epoch-decides-which-history-is-newer
      const isAhead =
        message.currentEpoch > currentEpoch || (message.currentEpoch === currentEpoch && zxid > tail.zxid);
      // 1. S1 logs a raise of the level to 2, and loses its quorum.
      // 2. S2 and S3 go back to the version before. S2 leads S3, and S1 comes: it is ahead.
      // S1 cannot lead, since S2 and S3 do not know level 2. Without a quorum that has the raise it
      // is not committed: S2 may lead without S1, and S1 cuts its raise when it follows the next
      // epoch.
      // rule: a-newer-history-of-an-unknown-level-is-not-counted
      if (isAhead && message.level !== undefined && message.level > context.config.levels.highest) {
        learners.refuse(learner, "level", {
          kind: "learner-ahead-in-level",
          sid: learner.sid,
          level: message.level,
          levels: context.config.levels,
        });
        return;
      }
      // 1. S1 and S2 commit entry 5; S3 lags.
      // 2. S1 dies, and S3 is elected by votes from before.
      // 3. S2 reports entry 5, which its synchronization with S3 would cut.
      // rule: no-leader-over-a-newer-history
      if (isAhead) {
        context.leave({ kind: "learner-is-ahead", sid: learner.sid, zxid, currentEpoch: message.currentEpoch });
        return;
      }
    }
    if (this.#holdsEpoch) this.#leader.synchronization.plan(learner);
    else this.#seekPromises();
  }

  /**
   * Holds the epoch once a quorum has promised it to this server and none of them has a newer
   * history.
   */
  #seekPromises(): void {
    const { context, learners, synchronization } = this.#leader;
    if (!this.#hasPromised || this.#leader.phase !== "discovery") return;
    // 1. S1 has a restored state on its disk, and dies before any other server has promised its
    //    epoch.
    // 2. S2 and S3 take the same epoch, or the one before, and clients write in it.
    // 3. S1 comes back, and its history seems to be the newer one: the writes are lost.
    // rule: restored-behind-the-promise
    if (!learners.isQuorum(learners.counted(({ phase }) => phase === "waiting"))) return;
    this.#leader.becomeSynchronizing();
    // Before any other server has a part of the history.
    if (this.#isOwn && this.#leader.restoration === undefined) context.log.setEnsembleId(this.#newEnsembleId, () => {});
    this.#labelMembers();
    const holdsEpoch = (): void => {
      this.#holdsEpoch = true;
      for (const learner of learners.values()) if (learner.phase === "waiting") synchronization.plan(learner);
      this.#leader.acceptance.seek();
    };
    const { restoration } = this.#leader;
    // rule: the-restored-history-with-its-epoch
    if (restoration === undefined) context.log.setCurrentEpoch(this.#leader.epoch.number, holdsEpoch);
    else restoration.install(holdsEpoch);
  }

  /**
   * The list of this server's file, with what others' files say of this server. Clients stay out
   * where any of these files says so: one that lacks the line may be the founder's.
   */
  #firstList(own: Members): Members {
    const { context, learners } = this.#leader;
    const reported = Array.from(learners.values()).flatMap(({ sid, list }) =>
      list === undefined || !context.founding.isListed(sid) ? [] : [{ sid, list }],
    );
    const all = [{ sid: context.config.sid, list: own }, ...reported.sort((a, b) => a.sid - b.sid)];
    const list = context.config.isWish ? joined(own, all) : own;
    return all.some((each) => each.list.clients === "closed") ? { ...list, clients: "closed" } : list;
  }

  /**
   * Whether a quorum may agree on the first configuration now. An ensemble with data whose members
   * came from files alone has no configuration yet, and its servers may have different lists: there
   * the leader waits for all of them, see {@link Wishes}.
   *
   * 1. S1 and S2 have the list 1, 2, 3; S3, S4 and S5, which cannot be reached, have 1 to 5.
   * 2. S1 calls its list the first configuration, and S5 its own: each has a quorum of its list.
   */
  get #mayLabel(): boolean {
    const { context, learners } = this.#leader;
    const voters = Array.from(learners.values()).filter(({ isObserver }) => !isObserver);
    // A server that counts by its file would not learn what was agreed on.
    if (this.#isFounder) return !context.config.isWish || voters.every(({ list }) => list !== undefined);
    return !context.config.isWish && !voters.some(({ info }) => info.isWish === true);
  }

  /**
   * An ensemble's first configuration gets the epoch's start marker as its version. Servers that
   * are started later with a list of servers of their own have the version 0, which is older, or
   * one that an earlier ensemble left in a file, which is older as well.
   */
  #labelMembers(): void {
    const { members, log } = this.#leader.context;
    const { lastSeen } = members;
    if (lastSeen === undefined || (!this.#isFounder && lastSeen.version !== ZXID_NONE)) return;
    if (!this.#mayLabel) return;
    const labelled = { ...this.#firstList(lastSeen), version: this.#leader.epoch.start };
    members.see(labelled);
    log.setConfigs({ lastSeen: encodeMembers(labelled) }, () => {});
  }
}

/** The report of a learner that is not fresh about its disk. */
function saidBy({ attemptId, ensembleId, isAmnesiac, isOwn }: LearnerInfo): SaidDisk {
  if (isOwn) return { history: "own", ensembleId };
  return attemptId === "" || isAmnesiac
    ? { history: "ensemble", ensembleId }
    : { history: "attempt", ensembleId: attemptId };
}
