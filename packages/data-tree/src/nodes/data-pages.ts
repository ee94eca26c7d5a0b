import { assert, copyBytes } from "@zooid/model";
import { hashWords } from "../digest.ts";

/**
 * Byte strings of any length in pages of equal slots, one class of slot sizes a page, so that
 * millions of values are a few thousand objects and a freed slot fits the next value of its class.
 *
 * ```
 *  page of 64 KiB:  [owner, bytes…][owner, bytes…][0, next free, …]…      ref = page number (20 bits), slot (12 bits)
 * ```
 *
 * A slot begins with the 32-bit word of its owner, so that compaction can move it and report its
 * new place. A value above a quarter of a page has a page of its own, of exactly its size. A page
 * without used slots is given back.
 */

const PAGE_BYTES = 65536;
const SLOT_BITS = 12;
const SLOT_MASK: number = (1 << SLOT_BITS) - 1;
/** The last number is left out: its refs could be taken for -1, which owners use as a marker. */
export const PAGE_COUNT_MAX: number = (1 << (32 - SLOT_BITS)) - 1;
const HEADER_BYTES = 4;
const SLOT_BYTES_MAX: number = PAGE_BYTES / 4;
const OWN_PAGE = -1;
/** Number of partly filled pages that are compared to find the emptiest. */
const SEARCH_COUNT = 32;
const SPARE_COUNT = 8;
/** Bytes of dropped pages that are reported to the collector at a time. */
const REPORTED_BYTES = 8 * 1024 * 1024;

const slotBytesOfClass: number[] = makeSlotSizes();
const classOfSize: Uint8Array = makeClassOfSize();

function makeSlotSizes(): number[] {
  const sizes: number[] = [];
  for (let size = 16; size <= 128; size += 8) sizes.push(size);
  for (let perPage = Math.floor(PAGE_BYTES / 136); perPage >= 4; perPage--) {
    const size = Math.floor(PAGE_BYTES / perPage) & ~7;
    if (size >= sizes[sizes.length - 1] * 1.12 || perPage === 4) sizes.push(size);
  }
  return sizes;
}

/** Indexed by the size in units of 8 bytes. */
function makeClassOfSize(): Uint8Array {
  const classes = new Uint8Array(SLOT_BYTES_MAX / 8 + 1);
  let sizeClass = 0;
  for (let units = 0; units < classes.length; units++) {
    while (slotBytesOfClass[sizeClass] < units * 8) sizeClass++;
    classes[units] = sizeClass;
  }
  return classes;
}

/**
 * Memory that the collector does not count: V8 makes a full collection for every few megabytes that
 * grow outside of its heap, and a tree that grows leaves it nothing to collect. Shared memory is
 * the kind that it leaves out.
 */
function newPageBuffer(bytes: number): Buffer {
  return Buffer.from(new SharedArrayBuffer(bytes));
}

class Page {
  readonly number: number;
  readonly buffer: Buffer;
  readonly words: Int32Array;
  readonly sizeClass: number;
  readonly slotBytes: number;
  readonly slotCount: number;
  used = 0;
  /** Slots from here on were never used. */
  fresh = 0;
  /** The first free slot below `fresh`, or -1. The second word of a free slot holds the next. */
  free = -1;
  /** Neighbours among the pages of the class that have room. */
  previous: Page | undefined = undefined;
  next: Page | undefined = undefined;

  constructor(number: number, buffer: Buffer, sizeClass: number) {
    this.number = number;
    this.buffer = buffer;
    this.words = new Int32Array(buffer.buffer, buffer.byteOffset, buffer.length >> 2);
    this.sizeClass = sizeClass;
    this.slotBytes = sizeClass === OWN_PAGE ? buffer.length : slotBytesOfClass[sizeClass];
    this.slotCount = Math.floor(buffer.length / this.slotBytes);
  }

  takeSlot(): number {
    this.used++;
    const slot = this.free;
    if (slot < 0) return this.fresh++;
    this.free = this.words[((slot * this.slotBytes) >> 2) + 1];
    return slot;
  }

  freeSlot(slot: number): void {
    const at = (slot * this.slotBytes) >> 2;
    this.words[at] = 0;
    this.words[at + 1] = this.free;
    this.free = slot;
    this.used--;
  }
}

/** The pages of one class. */
class SizeClass {
  /** Pages with room; the next value goes into the first. */
  roomy: Page | undefined = undefined;
  pageCount = 0;
  used = 0;
}

export class DataPages {
  readonly #moved: (owner: number, ref: number) => void;
  readonly #pages: (Page | undefined)[] = [undefined];
  readonly #freeNumbers: number[] = [];
  readonly #spareBuffers: Buffer[] = [];
  readonly #classes: SizeClass[] = slotBytesOfClass.map(() => new SizeClass());
  #pageBytes = 0;
  /** Bytes of dropped pages that are not reported yet. */
  #droppedBytes = 0;
  #evacuated: Page | undefined = undefined;
  #evacuatedSlot = 0;
  #nextClass = 0;

  /** @param moved receives from {@link compact} where an owner's bytes are now */
  constructor(moved: (owner: number, ref: number) => void) {
    this.#moved = moved;
  }

  /** Pages that hold something. */
  get pageCount(): number {
    return this.#pages.length - 1 - this.#freeNumbers.length;
  }

  /** All pages together. */
  get pageBytes(): number {
    return this.#pageBytes;
  }

  /**
   * Keeps a copy of a run of bytes, which may be empty.
   *
   * @param owner any 32-bit word but 0
   * @returns a ref, a signed 32-bit integer that is neither 0 nor -1
   */
  put(owner: number, bytes: Uint8Array, start: number, end: number): number {
    const ref = this.#allocate(end - start);
    const page = this.#page(ref);
    const at = (ref & SLOT_MASK) * page.slotBytes;
    page.words[at >> 2] = owner;
    copyBytes(bytes, start, end, page.buffer, at + HEADER_BYTES);
    return ref;
  }

  /** Puts other bytes in place of those of `ref`: in the same slot when they fit it well. */
  replace(ref: number, bytes: Uint8Array, start: number, end: number): number {
    const page = this.#page(ref);
    const at = (ref & SLOT_MASK) * page.slotBytes;
    if (this.#suits(page, end - start)) {
      copyBytes(bytes, start, end, page.buffer, at + HEADER_BYTES);
      return ref;
    }
    const owner = page.words[at >> 2];
    this.free(ref);
    return this.put(owner, bytes, start, end);
  }

  free(ref: number): void {
    const page = this.#page(ref);
    if (page.sizeClass === OWN_PAGE) {
      this.#dropPage(page);
      return;
    }
    const group = this.#classes[page.sizeClass];
    const wasFull = page.used === page.slotCount;
    page.freeSlot(ref & SLOT_MASK);
    group.used--;
    if (page.used === 0) {
      if (page === this.#evacuated) this.#evacuated = undefined;
      else if (!wasFull) this.#unlist(group, page);
      group.pageCount--;
      this.#dropPage(page);
    } else if (wasFull) {
      this.#list(group, page);
    }
  }

  /** The buffer that holds the bytes, from {@link start} on. Valid until the next change. */
  buffer(ref: number): Buffer {
    return this.#page(ref).buffer;
  }

  start(ref: number): number {
    return (ref & SLOT_MASK) * this.#page(ref).slotBytes + HEADER_BYTES;
  }

  /** See {@link hashWords}: of the slot's first bytes. */
  hash(ref: number, length: number): number {
    return hashWords(this.#page(ref).words, this.start(ref) >> 2, length);
  }

  /** Where the slot ends, at or after the last byte that was put there. */
  slotEnd(ref: number): number {
    return ((ref & SLOT_MASK) + 1) * this.#page(ref).slotBytes;
  }

  /**
   * Moves values out of sparse pages until those are empty and given back.
   *
   * @param budget most slots to look at, so that a call stays short
   * @returns how many were looked at; 0 when there is nothing to gain
   */
  compact(budget: number): number {
    let spent = 0;
    while (spent < budget) {
      const page = this.#evacuated ?? this.#chooseSparse();
      if (page === undefined) break;
      const slot = this.#evacuatedSlot++;
      spent++;
      assert(slot < page.fresh, "a page from which every value was moved is given back");
      const at = slot * page.slotBytes;
      const owner = page.words[at >> 2];
      if (owner === 0) continue;
      const ref = this.put(owner, page.buffer, at + HEADER_BYTES, at + page.slotBytes);
      this.free((page.number << SLOT_BITS) | slot);
      this.#moved(owner, ref);
    }
    return spent;
  }

  #page(ref: number): Page {
    const page = this.#pages[ref >>> SLOT_BITS];
    assert(page !== undefined, "a ref names a page that exists");
    return page;
  }

  #suits(page: Page, length: number): boolean {
    const size = length + HEADER_BYTES;
    if (page.sizeClass !== OWN_PAGE) return size <= SLOT_BYTES_MAX && classOfSize[(size + 7) >> 3] === page.sizeClass;
    return size > SLOT_BYTES_MAX && size <= page.slotBytes && size >= page.slotBytes * 0.75;
  }

  #allocate(length: number): number {
    const size = length + HEADER_BYTES;
    if (size > SLOT_BYTES_MAX) {
      const page = this.#addPage(newPageBuffer((size + 7) & ~7), OWN_PAGE);
      page.used = 1;
      return page.number << SLOT_BITS;
    }
    const sizeClass = classOfSize[(size + 7) >> 3];
    const group = this.#classes[sizeClass];
    let page = group.roomy;
    if (page === undefined) {
      page = this.#addPage(this.#spareBuffers.pop() ?? newPageBuffer(PAGE_BYTES), sizeClass);
      group.pageCount++;
      this.#list(group, page);
    }
    const slot = page.takeSlot();
    group.used++;
    if (page.used === page.slotCount) this.#unlist(group, page);
    return (page.number << SLOT_BITS) | slot;
  }

  #addPage(buffer: Buffer, sizeClass: number): Page {
    const number = this.#freeNumbers.pop() ?? this.#pages.length;
    assert(number < PAGE_COUNT_MAX, "pages are fewer than a ref can name");
    const page = new Page(number, buffer, sizeClass);
    if (number === this.#pages.length) this.#pages.push(page);
    else this.#pages[number] = page;
    this.#pageBytes += buffer.length;
    return page;
  }

  #dropPage(page: Page): void {
    this.#pages[page.number] = undefined;
    this.#freeNumbers.push(page.number);
    this.#pageBytes -= page.buffer.length;
    if (page.sizeClass !== OWN_PAGE && this.#spareBuffers.length < SPARE_COUNT) this.#spareBuffers.push(page.buffer);
    else this.#report(page.buffer.length);
  }

  /**
   * Reports dropped pages to the collector, which it does not count either: memory of the same size
   * that it does count is allocated and left to it, and never touched.
   */
  #report(bytes: number): void {
    this.#droppedBytes += bytes;
    if (this.#droppedBytes < REPORTED_BYTES) return;
    Buffer.allocUnsafeSlow(this.#droppedBytes);
    this.#droppedBytes = 0;
  }

  #list(group: SizeClass, page: Page): void {
    page.next = group.roomy;
    page.previous = undefined;
    if (group.roomy !== undefined) group.roomy.previous = page;
    group.roomy = page;
  }

  #unlist(group: SizeClass, page: Page): void {
    if (page.previous === undefined) group.roomy = page.next;
    else page.previous.next = page.next;
    if (page.next !== undefined) page.next.previous = page.previous;
    page.previous = undefined;
    page.next = undefined;
  }

  /**
   * The emptiest of a few pages of the next class in which at least an eighth, and two pages'
   * worth, lies free.
   */
  #chooseSparse(): Page | undefined {
    for (let tried = 0; tried < this.#classes.length; tried++) {
      const group = this.#classes[this.#nextClass];
      this.#nextClass = (this.#nextClass + 1) % this.#classes.length;
      let page = group.roomy;
      if (page === undefined) continue;
      const idle = group.pageCount * page.slotCount - group.used;
      if (idle < 2 * page.slotCount || idle * 8 < group.pageCount * page.slotCount) continue;
      let sparse = page;
      for (let looked = 0; page !== undefined && looked < SEARCH_COUNT; looked++, page = page.next) {
        if (page.used < sparse.used) sparse = page;
      }
      this.#unlist(group, sparse);
      this.#evacuated = sparse;
      this.#evacuatedSlot = 0;
      return sparse;
    }
    return undefined;
  }
}
