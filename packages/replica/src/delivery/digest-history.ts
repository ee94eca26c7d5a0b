import type { Zxid } from "@zooid/model";

/** The tree's digest at a zxid, as two signed halves. */
export interface PastDigest {
  readonly zxid: Zxid;
  readonly digestHigh: number;
  readonly digestLow: number;
}

/** The interval and the number of digests are Apache's. */
const INTERVAL = 128;
const COUNT_MAX = 1024;

/** The tree's digests at every 128th zxid: they show later whether servers agreed. */
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
