/**
 * One value for each index, in pages: growing adds a page and copies nothing, so no insert ever
 * pays for all that came before. A page exists from the first value written into it; what was never
 * written reads as 0.
 */

const PAGE_BITS = 13;
const PAGE_LENGTH: number = 1 << PAGE_BITS;
const PAGE_MASK: number = PAGE_LENGTH - 1;

/** Signed 32-bit integers. */
export class IntColumn {
  readonly #pages: (Int32Array | undefined)[] = [];

  get(index: number): number {
    const at = index >>> PAGE_BITS;
    const page = at < this.#pages.length ? this.#pages[at] : undefined;
    return page === undefined ? 0 : page[index & PAGE_MASK];
  }

  set(index: number, value: number): void {
    const page = this.#pages[index >>> PAGE_BITS];
    if (page !== undefined) page[index & PAGE_MASK] = value;
    else if (value !== 0) this.#addPage(index)[index & PAGE_MASK] = value;
  }

  #addPage(index: number): Int32Array {
    const page = new Int32Array(PAGE_LENGTH);
    while (this.#pages.length <= index >>> PAGE_BITS) this.#pages.push(undefined);
    this.#pages[index >>> PAGE_BITS] = page;
    return page;
  }
}

/** Numbers, whole ones up to 2^53. */
export class NumberColumn {
  readonly #pages: (Float64Array | undefined)[] = [];

  get(index: number): number {
    const at = index >>> PAGE_BITS;
    const page = at < this.#pages.length ? this.#pages[at] : undefined;
    return page === undefined ? 0 : page[index & PAGE_MASK];
  }

  set(index: number, value: number): void {
    const page = this.#pages[index >>> PAGE_BITS];
    if (page !== undefined) page[index & PAGE_MASK] = value;
    else if (value !== 0) this.#addPage(index)[index & PAGE_MASK] = value;
  }

  #addPage(index: number): Float64Array {
    const page = new Float64Array(PAGE_LENGTH);
    while (this.#pages.length <= index >>> PAGE_BITS) this.#pages.push(undefined);
    this.#pages[index >>> PAGE_BITS] = page;
    return page;
  }
}

/** Several signed 32-bit integers for each index, side by side. */
export class IntRows {
  readonly #pages: Int32Array[] = [];
  readonly #length: number;

  constructor(length: number) {
    this.#length = length;
  }

  /** Makes room for `index`; called before anything of it is read or written. */
  reserve(index: number): void {
    while (this.#pages.length <= index >>> PAGE_BITS) this.#pages.push(new Int32Array(PAGE_LENGTH * this.#length));
  }

  get(index: number, field: number): number {
    return this.#pages[index >>> PAGE_BITS][(index & PAGE_MASK) * this.#length + field];
  }

  set(index: number, field: number, value: number): void {
    this.#pages[index >>> PAGE_BITS][(index & PAGE_MASK) * this.#length + field] = value;
  }
}

class RecordPage {
  readonly bytes: Buffer;
  readonly view: DataView;

  constructor(recordBytes: number) {
    this.bytes = Buffer.alloc(recordBytes * PAGE_LENGTH);
    this.view = new DataView(this.bytes.buffer, this.bytes.byteOffset, this.bytes.length);
  }
}

/** Records of equal size whose fields are big-endian, as the wire wants them. */
export class RecordColumn {
  readonly #pages: RecordPage[] = [];
  readonly #recordBytes: number;

  constructor(recordBytes: number) {
    this.#recordBytes = recordBytes;
  }

  /** Makes room for `index`; called before anything of it is read or written. */
  reserve(index: number): void {
    while (this.#pages.length <= index >>> PAGE_BITS) this.#pages.push(new RecordPage(this.#recordBytes));
  }

  bytes(index: number): Buffer {
    return this.#pages[index >>> PAGE_BITS].bytes;
  }

  view(index: number): DataView {
    return this.#pages[index >>> PAGE_BITS].view;
  }

  start(index: number): number {
    return (index & PAGE_MASK) * this.#recordBytes;
  }

  int(index: number, offset: number): number {
    return this.#pages[index >>> PAGE_BITS].view.getInt32((index & PAGE_MASK) * this.#recordBytes + offset);
  }

  setInt(index: number, offset: number, value: number): void {
    this.#pages[index >>> PAGE_BITS].view.setInt32((index & PAGE_MASK) * this.#recordBytes + offset, value);
  }

  /** A 64-bit field as a number; exact up to 2^53. */
  long(index: number, offset: number): number {
    const view = this.#pages[index >>> PAGE_BITS].view;
    const at = (index & PAGE_MASK) * this.#recordBytes + offset;
    return view.getInt32(at) * 2 ** 32 + view.getUint32(at + 4);
  }

  setLong(index: number, offset: number, value: number): void {
    const view = this.#pages[index >>> PAGE_BITS].view;
    const at = (index & PAGE_MASK) * this.#recordBytes + offset;
    view.setInt32(at, Math.floor(value / 2 ** 32));
    view.setInt32(at + 4, value);
  }
}
