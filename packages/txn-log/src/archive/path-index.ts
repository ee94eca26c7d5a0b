import { newTxnHeader, newTxnOp, OpCode, type TxnDecoder, type TxnHeader, type TxnOp } from "@zooid/model/storage";
import { PAIR_BYTES } from "./archive-format.ts";
import { pathHash } from "./path-hash.ts";

const SLASH = 0x2f;
const PAIRS_MIN = 4096;
const RADIX = 2 ** 16;

/** Whether an op changes the children of a node. */
export function changesChildren(op: number): boolean {
  switch (op) {
    case OpCode.CREATE:
    case OpCode.CREATE2:
    case OpCode.CREATE_CONTAINER:
    case OpCode.CREATE_TTL:
    case OpCode.DELETE:
    case OpCode.DELETE_CONTAINER:
      return true;
    default:
      return false;
  }
}

/** Gathers the index of a file: which blocks have entries that change a node, or its children. */
export class PathIndexBuilder {
  readonly header: TxnHeader = newTxnHeader();
  readonly #decoder: TxnDecoder;
  readonly #seed: number;
  readonly #op: TxnOp = newTxnOp();
  /** Hashes as signed numbers, which V8 keeps without an object for each. */
  readonly #inBlock = new Set<number>();
  #hashes = new Uint32Array(PAIRS_MIN);
  #blocks = new Uint16Array(PAIRS_MIN);
  #count = 0;

  constructor(decoder: TxnDecoder, seed: number) {
    this.#decoder = decoder;
    this.#seed = seed;
  }

  /** Takes one entry of the present block; its header can be read until the next one. */
  add(bytes: Uint8Array, start: number, end: number): void {
    const op = this.#op;
    this.#decoder.open(bytes, start, end, this.header);
    while (this.#decoder.next(op)) {
      const { path } = op;
      if (path.start === path.end) continue;
      this.#inBlock.add(pathHash(path.bytes, path.start, path.end, this.#seed) | 0);
      if (!changesChildren(op.op)) continue;
      const parentEnd = path.bytes.subarray(path.start, path.end).lastIndexOf(SLASH) + path.start + 1;
      this.#inBlock.add(pathHash(path.bytes, path.start, parentEnd, this.#seed) | 0);
    }
  }

  /** The present block is full, and has this number. */
  endBlock(number: number): void {
    const needed = this.#count + this.#inBlock.size;
    if (needed > this.#hashes.length) this.#grow(needed);
    for (const hash of this.#inBlock) {
      this.#hashes[this.#count] = hash;
      this.#blocks[this.#count] = number;
      this.#count++;
    }
    this.#inBlock.clear();
  }

  get pairCount(): number {
    return this.#count;
  }

  /** The pairs by hash, and those of one hash by block. */
  encode(): Buffer {
    const count = this.#count;
    const order = orderOf(this.#hashes.subarray(0, count));
    const bytes = Buffer.alloc(count * PAIR_BYTES);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    for (let at = 0; at < count; at++) {
      const pair = order[at] as number;
      view.setUint32(4 * at, this.#hashes[pair] as number, true);
      view.setUint16(4 * count + 2 * at, this.#blocks[pair] as number, true);
    }
    return bytes;
  }

  #grow(needed: number): void {
    const length = Math.max(2 * this.#hashes.length, needed);
    const hashes = new Uint32Array(length);
    const blocks = new Uint16Array(length);
    hashes.set(this.#hashes);
    blocks.set(this.#blocks);
    this.#hashes = hashes;
    this.#blocks = blocks;
  }
}

/**
 * The places of hashes in ascending order, those of one hash as they come: a radix sort, by the low
 * half and then by the high one.
 */
function orderOf(hashes: Uint32Array): Uint32Array {
  let order = Uint32Array.from(hashes.keys());
  let sorted = new Uint32Array(hashes.length);
  for (const shift of [0, 16]) {
    const starts = new Uint32Array(RADIX + 1);
    const digitOf = (place: number): number => ((hashes[place] as number) >>> shift) % RADIX;
    for (const place of hashes.keys()) (starts[digitOf(place) + 1] as number)++;
    for (let digit = 0; digit < RADIX; digit++) (starts[digit + 1] as number) += starts[digit] as number;
    for (const place of order) sorted[(starts[digitOf(place)] as number)++] = place;
    [order, sorted] = [sorted, order];
  }
  return order;
}

/** The blocks of a hash, ascending, in an index as {@link PathIndexBuilder.encode} makes it. */
export function blocksOf(index: Buffer, hash: number): readonly number[] {
  const count = index.length / PAIR_BYTES;
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (index.readUInt32LE(4 * middle) < hash) low = middle + 1;
    else high = middle;
  }
  const blocks: number[] = [];
  for (let at = low; at < count && index.readUInt32LE(4 * at) === hash; at++) {
    blocks.push(index.readUInt16LE(4 * count + 2 * at));
  }
  return blocks;
}
