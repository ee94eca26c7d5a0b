import { assert, type QuorumVerifier, type ServerId, type Zxid } from "@zooid/model";

/**
 * Counts acknowledgements in the broadcast phase: which servers have which entries on disk, and how
 * far that commits.
 *
 * Acks are cumulative and never go back. Only entries of the leader's own epoch are committed by
 * counting; the history that it brought along was committed by the quorum that accepted it as
 * leader.
 */
export class AckTally {
  readonly #verifier: QuorumVerifier;
  readonly #acked = new Map<ServerId, Zxid>();
  #committed: Zxid;

  constructor(verifier: QuorumVerifier, committed: Zxid) {
    this.#verifier = verifier;
    this.#committed = committed;
  }

  get committed(): Zxid {
    return this.#committed;
  }

  /**
   * Notes that a server has everything up to `zxid` on disk.
   *
   * @returns whether the commit point moved
   */
  ack(sid: ServerId, zxid: Zxid): boolean {
    const before = this.#acked.get(sid);
    assert(before === undefined || zxid >= before, () => `acks of server ${sid} go up: ${zxid} came after ${before}`);
    this.#acked.set(sid, zxid);
    if (zxid <= this.#committed) return false;
    const point = this.#quorumPoint();
    if (point <= this.#committed) return false;
    this.#committed = point;
    return true;
  }

  /** The highest zxid that a quorum has on disk. */
  #quorumPoint(): Zxid {
    if (this.#acked.size === 1) {
      for (const [sid, zxid] of this.#acked) return this.#verifier.isQuorum([sid]) ? zxid : this.#committed;
    }
    let highest = this.#committed;
    for (const point of this.#acked.values()) {
      if (point <= highest) continue;
      const holders: ServerId[] = [];
      for (const [sid, zxid] of this.#acked) if (zxid >= point) holders.push(sid);
      // rule: a-quorum-commits
      if (this.#verifier.isQuorum(holders)) highest = point;
    }
    return highest;
  }
}
