import type { Zxid } from "@zooid/model";

const PAIRS_MIN = 1024;
/** A MiB of pairs. What is not noted is folded like any other entry. */
const PAIRS_MAX = 65_536;

/**
 * Notes transactions that do nothing but replace the data of one node, in the order of the log. Of those that replace the data of the same
 * node, a fold reads the last one only ({@link StateMark.dataWrites}).
 */
export class DataWrites {
  #pairs = new Float64Array(2 * PAIRS_MIN);
  #count = 0;

  add(zxid: Zxid, node: number): void {
    const at = 2 * this.#count;
    if (at === this.#pairs.length && !this.#grow()) return;
    this.#pairs[at] = zxid;
    this.#pairs[at + 1] = node;
    this.#count++;
  }

  /** What was noted since the last call, in memory of its own: zxid and node id of each. */
  take(): Float64Array<ArrayBuffer> {
    const taken = this.#pairs.slice(0, 2 * this.#count);
    this.#count = 0;
    return taken;
  }

  clear(): void {
    this.#count = 0;
  }

  #grow(): boolean {
    if (this.#count === PAIRS_MAX) return false;
    const grown = new Float64Array(2 * this.#pairs.length);
    grown.set(this.#pairs);
    this.#pairs = grown;
    return true;
  }
}
