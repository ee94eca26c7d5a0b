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
  #verifier: QuorumVerifier;
  /** While the configuration changes: who counts for the change and all entries behind it. */
  #change: { readonly verifier: QuorumVerifier; readonly from: Zxid } | undefined;
  readonly #acked = new Map<ServerId, Zxid>();
  /** The commit point; read only. */
  committed: Zxid;

  constructor(verifier: QuorumVerifier, committed: Zxid) {
    this.#verifier = verifier;
    this.committed = committed;
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
    return zxid > this.committed && this.#recount();
  }

  /** Entries from a zxid on need another quorum: that of both configurations. */
  change(verifier: QuorumVerifier, from: Zxid): void {
    this.#change = { verifier, from };
  }

  /**
   * The change is committed: its configuration alone counts. @returns whether the commit point
   * moved
   */
  changed(verifier: QuorumVerifier): boolean {
    this.#verifier = verifier;
    this.#change = undefined;
    return this.#recount();
  }

  #recount(): boolean {
    const point = this.#quorumPoint();
    if (point <= this.committed) return false;
    this.committed = point;
    return true;
  }

  /** The highest zxid that a quorum has on disk. */
  #quorumPoint(): Zxid {
    const change = this.#change;
    if (change === undefined) return this.#highest(this.#verifier, this.committed);
    const before = (change.from - 1) as Zxid;
    const point = this.committed >= before ? this.committed : this.#highest(this.#verifier, this.committed, before);
    // rule: a-change-needs-both-quorums
    return point < before ? point : this.#highest(change.verifier, point);
  }

  #highest(verifier: QuorumVerifier, least: Zxid, most?: Zxid): Zxid {
    if (this.#acked.size === 1 && most === undefined) {
      for (const [sid, zxid] of this.#acked) return zxid > least && verifier.isQuorum([sid]) ? zxid : least;
    }
    let highest = least;
    for (const acked of this.#acked.values()) {
      const point = most === undefined || acked < most ? acked : most;
      if (point <= highest) continue;
      const holders: ServerId[] = [];
      for (const [sid, zxid] of this.#acked) if (zxid >= point) holders.push(sid);
      // rule: a-quorum-commits
      if (verifier.isQuorum(holders)) highest = point;
    }
    return highest;
  }
}
