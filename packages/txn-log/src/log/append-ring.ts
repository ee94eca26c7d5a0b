/**
 * Batches in transit to the log thread: one ring of shared memory, written by one thread and read
 * by one other.
 *
 * ```
 *  tail (released by the reader)            head (published by the writer)
 *    ▼                                         ▼
 *  ┌────────┬───────┬────────┬───────┬─────────┬───────────────┐
 *  │ header │ bytes │ header │ bytes │ header… │   free        │   each record 8-aligned and in one piece
 *  └────────┴───────┴────────┴───────┴─────────┴───────────────┘
 * ```
 *
 * The reader may write into what it has taken and not yet released. It sleeps in `Atomics.wait`,
 * and the writer wakes it; measured against transferring a buffer there and back by messages this
 * saves a third of the hand-over (README).
 */
export const RecordKind = { WRAP: 0, APPEND: 1, MESSAGE: 2 } as const;

/**
 * Places in the control words that writer, reader and the log's helper share. FREEING is 1 from
 * when the log thread finds no room until its user has given back what it could.
 */
export const ControlWord = { WAKE: 0, HEAD: 1, TAIL: 2, HELPER: 3, CLOSING: 4, FREEING: 5 } as const;
export const CONTROL_WORDS = 16;

/**
 * The states of {@link ControlWord.HELPER}: the log thread sets RUNNING with a task, the helper
 * ends it.
 */
export const HelperState = { IDLE: 0, RUNNING: 1, FAILED: 2 } as const;

const HEADER_BYTES = 24;

export interface RingMemory {
  readonly control: SharedArrayBuffer;
  readonly bytes: SharedArrayBuffer;
}

export function newRingMemory(sizeBytes: number): RingMemory {
  return {
    control: new SharedArrayBuffer(CONTROL_WORDS * 4),
    bytes: new SharedArrayBuffer(Math.ceil(sizeBytes / 8) * 8),
  };
}

export class RingWriter {
  readonly #control: Int32Array;
  readonly #bytes: Buffer;
  readonly #ints: Int32Array;
  readonly #floats: Float64Array;

  constructor(memory: RingMemory) {
    this.#control = new Int32Array(memory.control);
    this.#bytes = Buffer.from(memory.bytes);
    this.#ints = new Int32Array(memory.bytes);
    this.#floats = new Float64Array(memory.bytes);
  }

  /** Whether a record of this size could ever be offered. */
  fits(sizeBytes: number): boolean {
    return recordBytes(sizeBytes) * 2 <= this.#bytes.length;
  }

  /** Whether a record of this size could be offered now. */
  hasRoom(sizeBytes: number): boolean {
    return this.#room(recordBytes(sizeBytes)) !== -1;
  }

  /** Copies a record in. False when there is no room now; nothing has changed then. */
  offer(record: {
    readonly kind: number;
    readonly generation: number;
    readonly committed: number;
    readonly bytes: Uint8Array;
    readonly start: number;
    readonly end: number;
  }): boolean {
    const { bytes, start, end } = record;
    const need = recordBytes(end - start);
    const at = this.#room(need);
    if (at === -1) return false;
    const behind = Atomics.load(this.#control, ControlWord.HEAD);
    if (at !== behind) this.#ints[behind / 4] = RecordKind.WRAP;
    this.#ints[at / 4] = record.kind;
    this.#ints[at / 4 + 1] = end - start;
    this.#floats[at / 8 + 1] = record.generation;
    this.#floats[at / 8 + 2] = record.committed;
    if (end > start) Buffer.prototype.copy.call(bytes, this.#bytes, at + HEADER_BYTES, start, end);
    const head = at + need;
    Atomics.store(this.#control, ControlWord.HEAD, head === this.#bytes.length ? 0 : head);
    wake(this.#control);
    return true;
  }

  /**
   * Where a record would go, or -1. A ring whose head reached its tail would look empty: one word
   * stays free.
   */
  #room(need: number): number {
    const head = Atomics.load(this.#control, ControlWord.HEAD);
    const tail = Atomics.load(this.#control, ControlWord.TAIL);
    const size = this.#bytes.length;
    if (head < tail) return need < tail - head ? head : -1;
    if (head + need < size || (head + need === size && tail > 0)) return head;
    return need < tail ? 0 : -1;
  }
}

export class RingReader {
  kind = 0;
  generation = 0;
  committed = 0;
  /** The bytes' place in {@link bytes}. */
  start = 0;
  end = 0;
  readonly bytes: Buffer;
  readonly #control: Int32Array;
  readonly #ints: Int32Array;
  readonly #floats: Float64Array;
  #at = 0;

  constructor(memory: RingMemory) {
    this.#control = new Int32Array(memory.control);
    this.bytes = Buffer.from(memory.bytes);
    this.#ints = new Int32Array(memory.bytes);
    this.#floats = new Float64Array(memory.bytes);
  }

  /** Takes the next record; false when there is none. */
  next(): boolean {
    let at = this.#at;
    if (at === Atomics.load(this.#control, ControlWord.HEAD)) return false;
    if (this.#ints[at / 4] === RecordKind.WRAP) at = 0;
    this.kind = this.#ints[at / 4] ?? 0;
    this.generation = this.#floats[at / 8 + 1] ?? 0;
    this.committed = this.#floats[at / 8 + 2] ?? 0;
    const length = this.#ints[at / 4 + 1] ?? 0;
    this.start = at + HEADER_BYTES;
    this.end = this.start + length;
    const next = at + recordBytes(length);
    this.#at = next === this.bytes.length ? 0 : next;
    return true;
  }

  /** Gives back everything taken so far. */
  release(): void {
    Atomics.store(this.#control, ControlWord.TAIL, this.#at);
  }
}

/** Wakes the threads that sleep on the control words. */
export function wake(control: Int32Array): void {
  Atomics.add(control, ControlWord.WAKE, 1);
  Atomics.notify(control, ControlWord.WAKE);
}

function recordBytes(length: number): number {
  return HEADER_BYTES + Math.ceil(length / 8) * 8;
}
