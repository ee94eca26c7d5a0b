import { EPOCH_MAX, isFloorUncommitted, type ServerId, ZXID_NONE } from "@zooid/model";
import { tailsOf } from "../common-point.ts";
import type { SaidDisk } from "../founding.ts";
import { encodeMembers, versionOf } from "../known-members.ts";
import type { RoleContext } from "../role.ts";
import type { LeaderLink } from "./leader-link.ts";

/**
 * Phase 1, the learner's half: it reports its promise, promises the leader's epoch durably, and
 * reports where its history ends.
 */
export class LearnerDiscovery {
  readonly #context: RoleContext;
  readonly #link: LeaderLink;
  readonly #namedBy: ServerId | undefined;
  /**
   * The id of the ensemble that the leader founds, or has just founded; undefined in every other
   * role.
   */
  #attemptId: string | undefined;
  /** The ensemble of the leader, as it says on the link; empty where it did not say. */
  #leaderId = "";

  constructor(context: RoleContext, link: LeaderLink, namedBy: ServerId | undefined) {
    this.#context = context;
    this.#link = link;
    this.#namedBy = namedBy;
  }

  /**
   * A link to the leader came about.
   *
   * 1. S3 loses its disk, and gets the address of a server of another ensemble for S2.
   * 2. It hears S1, which has the data. The other server leads its own ensemble.
   *
   * @param said what the leader says of its disk on this link; undefined where links are not
   *   reported
   */
  begin(said: SaidDisk | undefined): void {
    this.#leaderId = said?.ensembleId ?? "";
    if (!this.#refusesOther()) this.#inform();
  }

  #inform(): void {
    const { config, log, lostHistory, members } = this.#context;
    const { isFresh, isAmnesiac, isBlank, isOwn } = lostHistory;
    const { promise, identity } = log.durable;
    this.#link.send({
      kind: "learner-info",
      isObserver: members.isObserver,
      promise,
      isFresh,
      isAmnesiac: isAmnesiac || lostHistory.hasDivergedFrom(this.#link.leader),
      isOwn,
      ensembleId: isBlank ? "" : identity.ensembleId,
      attemptId: isBlank ? identity.ensembleId : "",
      configVersion: versionOf(members.committed),
      ...(config.members === undefined ? {} : { list: encodeMembers(config.members) }),
      ...(config.members !== undefined && config.isWish ? { isWish: true } : {}),
      ...(identity.diskId === "" ? {} : { diskId: identity.diskId }),
      levels: { lowest: config.levels.lowest, highest: config.levels.highest },
      ...(config.version === undefined ? {} : { version: config.version }),
      ...(this.#namedBy === undefined ? {} : { namedBy: this.#namedBy }),
    });
  }

  /** The leader names its epoch. */
  leaderInfo(epoch: number, incarnation: number, ensembleId: string): void {
    const link = this.#link;
    if (link.step !== "asking") {
      link.fault({ kind: "epoch-named-twice" });
      return;
    }
    // The promise would stay on the disk, and no leader could have a later epoch.
    if (epoch >= EPOCH_MAX) {
      link.fault({ kind: "epoch-impossible", epoch });
      return;
    }
    const { log } = this.#context;
    const { promise, identity, tail } = log.durable;
    const { isBlank, isFresh, isOwn } = this.#context.lostHistory;
    if (isOwn) {
      // Nothing of it would be left: the leader's ensemble has never had a part of it.
      link.refuse("unable", { kind: "history-of-one-server", leader: link.leader, through: tail.zxid });
      return;
    }
    // Without a history the id is that of an attempt to found the ensemble, and another attempt may
    // have succeeded.
    const own = isBlank ? "" : identity.ensembleId;
    if (own !== "" && ensembleId !== "" && own !== ensembleId) {
      link.refuse("unable", { kind: "leader-of-another-ensemble", leader: link.leader, ours: own, theirs: ensembleId });
      return;
    }
    const isRepeated = epoch === promise.epoch && promise.sid === link.leader && promise.incarnation === incarnation;
    if (epoch < promise.epoch || (epoch === promise.epoch && !isRepeated)) {
      const { epoch: promised, sid: to } = promise;
      link.refuse("epoch-low", { kind: "epoch-promised", offered: epoch, promised, to });
      return;
    }
    if (isFresh && ensembleId !== "") {
      this.#attemptId = ensembleId;
      if (this.#leavesAttempt()) return;
    }
    link.becomePromising(epoch);
    // A leader that sends no id gives it with the history. The id of an attempt must not be taken
    // for it.
    if (own === "" && identity.ensembleId !== ensembleId) log.setEnsembleId(ensembleId, () => {});
    // 1. S2 acks epoch 5 of S3, and crashes before its promise is on disk.
    // 2. S3 leads with S2 counted.
    // 3. S2 comes back with promise 4, and completes a quorum for S1 in epoch 5 as well: one epoch,
    //    two leaders.
    // rule: promise-before-ack-epoch
    if (isRepeated) this.#ackEpoch(true);
    else log.setPromise({ epoch, sid: link.leader, incarnation }, () => this.#ackEpoch(false));
  }

  /** The facts that are known of other servers have changed. */
  foundingChanged(): void {
    const { step } = this.#link;
    if (step === "dialing" || this.#link.hasInstalled || this.#refusesOther()) return;
    // From the stage on, the leader holds its epoch.
    if (this.#link.step === "promising" || this.#link.step === "promised") this.#leavesAttempt();
  }

  /**
   * Without data a server follows no leader of one ensemble beside a listed server with the data of
   * another one. @returns whether it refuses the leader
   */
  #refusesOther(): boolean {
    const { founding, log, lostHistory } = this.#context;
    if (!lostHistory.isBlank || this.#leaderId === "") return false;
    // It holds an epoch of the leader's ensemble, in which nothing was written yet.
    if (!lostHistory.isFresh && log.durable.identity.ensembleId === this.#leaderId) return false;
    const other = founding.dataOfAnother(this.#leaderId);
    if (other === undefined) return false;
    const { leader } = this.#link;
    this.#link.refuse("unable", { kind: "beside-another-ensemble", leader, theirs: this.#leaderId, ...other });
    return true;
  }

  /**
   * Leaves an attempt to found an ensemble, if another server has data. @returns whether it does
   */
  #leavesAttempt(): boolean {
    const { founding } = this.#context;
    if (this.#attemptId === undefined) return false;
    const sid = founding.dataBeside(this.#link.leader, this.#attemptId);
    if (sid === undefined) return false;
    this.#context.leave({ kind: "history-missing-here", sid });
    return true;
  }

  #ackEpoch(isRepeated: boolean): void {
    const { durable } = this.#context.log;
    const { level } = this.#context.level.raise;
    const hasDiverged = this.#context.lostHistory.hasDivergedFrom(this.#link.leader);
    this.#link.becomePromised();
    this.#link.send({
      kind: "ack-epoch",
      isRepeated,
      currentEpoch: durable.currentEpoch,
      // rule: the-position-is-the-end-of-the-log
      logged: durable.tail,
      // A history that has diverged is no beginning: the whole of the leader's is asked for.
      floor: hasDiverged ? ZXID_NONE : durable.floor.zxid,
      tails: hasDiverged ? [] : tailsOf(durable.epochs, durable.floor.zxid),
      ...(isFloorUncommitted(durable) ? { isFloorUncommitted: true } : {}),
      ...(level > 1 ? { level } : {}),
    });
  }
}
