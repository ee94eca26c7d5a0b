import { dataStart, rowLength } from "./node-row.ts";

const SLOT_BYTES = 256;

/**
 * The heads in front of the data in rows that were written, so that the data of a large value can
 * be replaced without reading the row. One buffer of slots, made for the first large row; when the
 * last slot is taken, everything is forgotten.
 */
export class RowHeads {
  /** Where {@link find} found a head. */
  bytes: Buffer = Buffer.alloc(0);
  start = 0;
  end = 0;
  readonly #dataBytesMin: number;
  readonly #slotCount: number;
  readonly #slots = new Map<number, { readonly slot: number; readonly length: number }>();
  #nextSlot = 0;

  constructor(limits: { readonly headDataBytes: number; readonly headCount: number }) {
    this.#dataBytesMin = limits.headDataBytes;
    this.#slotCount = limits.headCount;
  }

  /** Keeps the head of a row that is written. */
  keep(id: number, row: Buffer): void {
    const length = dataStart(row, 0);
    const dataBytes = rowLength(row, 0) - length;
    if (dataBytes < this.#dataBytesMin || length > SLOT_BYTES) return this.forget(id);
    if (this.bytes.length === 0) this.bytes = Buffer.allocUnsafeSlow(SLOT_BYTES * this.#slotCount);
    const slot = this.#slots.get(id)?.slot ?? this.#takeSlot();
    this.#slots.set(id, { slot, length });
    row.copy(this.bytes, slot * SLOT_BYTES, 0, length);
  }

  forget(id: number): void {
    this.#slots.delete(id);
  }

  /** Whether a node's head is known. */
  find(id: number): boolean {
    const known = this.#slots.get(id);
    if (known === undefined) return false;
    this.start = known.slot * SLOT_BYTES;
    this.end = this.start + known.length;
    return true;
  }

  #takeSlot(): number {
    if (this.#nextSlot === this.#slotCount) {
      this.#slots.clear();
      this.#nextSlot = 0;
    }
    return this.#nextSlot++;
  }
}
