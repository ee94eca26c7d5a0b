import type { Zxid } from "@zooid/model";

const PAIRS_MIN = 1024;
/** 1 MiB. A checkpoint reads further writes from the log like any other entry. */
const PAIRS_MAX = 65_536;

/**
 * Records transactions whose only effect is to replace the data of one node, in log order. A
 * checkpoint reads only the last of them for each node ({@link CheckpointMark.dataWrites}).
 */
export class DataWrites {
  #pairs = new Float64Array(2 * PAIRS_MIN);
  #count = 0;

  /** Ignored once the recorder is full: recording is optional. */
  add(zxid: Zxid, node: number): void {
    const at = 2 * this.#count;
    if (at === this.#pairs.length && !this.#grow()) return;
    this.#pairs[at] = zxid;
    this.#pairs[at + 1] = node;
    this.#count++;
  }

  /**
   * The transactions recorded since the last call, as pairs of zxid and node id, in a new array.
   */
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
