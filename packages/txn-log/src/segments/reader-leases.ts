import { assert } from "@zooid/model/storage";

/**
 * The memory that the log thread and the readers of this process share: which segment is the
 * newest, and which readers may have files open that the log is about to remove or to reuse.
 *
 * ```
 * word 0      the generation: one up when segments leave the manifest
 * word 1      the sequence of the newest segment
 * word 2...   one lease each: 0 when free, else a generation at which its holder looks at the manifest
 *
 * reader      1 takes a lease at generation 1   2 raises it to the generation that it sees   3 reads the manifest, opens segments
 * log thread  1 commits the manifest without the segments, names the newest   2 raises the generation to g + 1
 *             3 removes or reuses them when no lease is below g + 1
 * ```
 *
 * A lease of generation 1 blocks every reuse. So a reader that sees g in its second step has
 * blocked the log thread's third step since its first one, and one that sees g + 1 reads the new
 * manifest, which does not name the segments.
 */
export class ReaderLeases {
  readonly memory: SharedArrayBuffer;
  readonly #words: Int32Array;

  constructor(memory: SharedArrayBuffer = newLeaseMemory()) {
    this.memory = memory;
    this.#words = new Int32Array(memory);
  }

  /**
   * To be taken before the manifest is read, and disposed after the last read of a segment that the
   * manifest names.
   */
  take(): Disposable {
    const words = this.#words;
    const slot = this.#claim();
    Atomics.store(words, slot, Atomics.load(words, GENERATION));
    return { [Symbol.dispose]: () => void Atomics.store(words, slot, FREE) };
  }

  get generation(): number {
    return Atomics.load(this.#words, GENERATION);
  }

  /** The sequence of the segment whose manifest is in force. */
  get newest(): number {
    return Atomics.load(this.#words, NEWEST);
  }

  set newest(sequence: number) {
    Atomics.store(this.#words, NEWEST, sequence);
  }

  /**
   * To be called by the log thread after segments have left the manifest durably.
   *
   * @returns the generation from which on no reader knows them
   */
  retire(): number {
    return Atomics.add(this.#words, GENERATION, 1) + 1;
  }

  /** Whether every reader that knows what was retired with a generation has closed it. */
  areClosed(retired: number): boolean {
    for (let slot = LEASES; slot < this.#words.length; slot++) {
      const lease = Atomics.load(this.#words, slot);
      if (lease !== FREE && lease < retired) return false;
    }
    return true;
  }

  #claim(): number {
    for (let slot = LEASES; slot < this.#words.length; slot++) {
      if (Atomics.compareExchange(this.#words, slot, FREE, GENERATION_FIRST) === FREE) return slot;
    }
    assert(false, `more than ${LEASE_COUNT_MAX} readers have segments open`);
  }
}

export const LEASE_COUNT_MAX = 62;

const GENERATION = 0;
const NEWEST = 1;
const LEASES = 2;
const GENERATION_FIRST = 1;
const FREE = 0;

function newLeaseMemory(): SharedArrayBuffer {
  const memory = new SharedArrayBuffer((LEASES + LEASE_COUNT_MAX) * Int32Array.BYTES_PER_ELEMENT);
  new Int32Array(memory)[GENERATION] = GENERATION_FIRST;
  return memory;
}
