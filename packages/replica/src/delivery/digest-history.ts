import type { Zxid } from "@zooid/model";

/** What the tree's digest was at a zxid, as two signed halves. */
export interface PastDigest {
  readonly zxid: Zxid;
  readonly digestHigh: number;
  readonly digestLow: number;
}

/** As often as Apache notes it, and as many as it keeps. */
const INTERVAL = 128;
const COUNT_MAX = 1024;

/** The tree's digests at round zxids, by which servers are compared long after. */
export class DigestHistory {
  readonly #kept: PastDigest[] = [];

  /** Oldest first. */
  get kept(): readonly PastDigest[] {
    return this.#kept;
  }

  /** Called after each transaction. */
  note(zxid: Zxid, tree: { readonly digestHigh: number; readonly digestLow: number }): void {
    if (zxid % INTERVAL !== 0) return;
    this.#kept.push({ zxid, digestHigh: tree.digestHigh, digestLow: tree.digestLow });
    if (this.#kept.length > COUNT_MAX) this.#kept.shift();
  }
}
