import { type LogState, type ServerId, ZXID_NONE } from "@zooid/model";
import { isOwnHistory } from "./own-history.ts";

/**
 * Whether there is a promise with neither a history nor an ensemble's id: it was made to a leader
 * that had its quorum without this server.
 */
export function isPromiseAlone({ currentEpoch, identity, promise, tail }: LogState): boolean {
  if (tail.zxid !== ZXID_NONE || promise.epoch === 0 || identity.ensembleId !== "") return false;
  return !isOwnHistory({ ...identity, hasHistory: currentEpoch > 0, promise });
}

/**
 * Whether this server may have forgotten what it promised and acked. Such a server is amnesiac: it
 * does not vote and is not counted until a leader whose quorums are complete without it has
 * synchronized it.
 */
export class LostHistory {
  readonly #log: { readonly durable: LogState };
  /** The leader whose history is not this server's. */
  #divergedFrom: ServerId | undefined;

  constructor(log: { readonly durable: LogState }) {
    this.#log = log;
  }

  /**
   * No epoch was ever held here. Promises may have been made, in an attempt to found the ensemble.
   */
  get isFresh(): boolean {
    const { currentEpoch, tail } = this.#log.durable;
    return currentEpoch === 0 && tail.zxid === ZXID_NONE;
  }

  /**
   * Nothing was logged here. An epoch may be held, of an attempt to found the ensemble, or of one
   * whose history came to others only.
   */
  get isBlank(): boolean {
    return this.#log.durable.tail.zxid === ZXID_NONE;
  }

  /**
   * There is a history, and no other server has ever had a part of it, see {@link isOwnHistory}. A
   * damaged log without entries has none left: with nothing to keep, its server may follow any
   * leader.
   */
  get isOwn(): boolean {
    const { amnesiac, identity, promise } = this.#log.durable;
    if (amnesiac && this.isBlank) return false;
    return isOwnHistory({ ...identity, hasHistory: !this.isFresh, promise });
  }

  /**
   * The log says so, others have a history that is missing here, or there is a promise with neither
   * a history nor an ensemble's id: it was made to a leader that had its quorum without this
   * server, and the history that should have followed did not come.
   */
  get isAmnesiac(): boolean {
    const { amnesiac } = this.#log.durable;
    return amnesiac || isPromiseAlone(this.#log.durable);
  }

  /**
   * Whether this server's history is not that leader's: if others have elected it, this server asks
   * it for all of its history, and is not counted.
   */
  hasDivergedFrom(leader: ServerId): boolean {
    return this.#divergedFrom === leader;
  }

  /**
   * This server's history is no beginning of the leader's: the disk of one of the two is not what
   * it was. This server does not help to elect that one again:
   *
   * 1. S1 starts with an old copy of its disk, and is elected. S2 and S3 have one history, which
   *    differs from that of S1.
   * 2. S2 and S3 refuse S1. Without this, they would elect it again and again.
   */
  diverged(leader: ServerId): void {
    this.#divergedFrom = leader;
  }

  /** There is no connection with a server any more: it may return with another disk. */
  lost(sid: ServerId): void {
    if (this.#divergedFrom === sid) this.#divergedFrom = undefined;
  }

  /** A leader whose quorums are complete without this server has synchronized it. */
  recovered(): void {
    this.#divergedFrom = undefined;
  }
}
