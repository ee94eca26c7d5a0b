import { newTxnHeader, newTxnOp, OpCode, type TxnDecoder, type TxnHeader, type TxnOp } from "@zooid/model/storage";
import { PAIR_BYTES } from "./archive-format.ts";
import { pathHash } from "./path-hash.ts";

const SLASH = 0x2f;
const PAIRS_MIN = 4096;

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
      this.#inBlock.add(pathHash(path.bytes, path.start, path.end, this.#seed));
      if (!changesChildren(op.op)) continue;
      const parentEnd = path.bytes.subarray(path.start, path.end).lastIndexOf(SLASH) + path.start + 1;
      this.#inBlock.add(pathHash(path.bytes, path.start, parentEnd, this.#seed));
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
    const order = Float64Array.from(
      { length: count },
      (_, at) => (this.#hashes[at] ?? 0) * 65_536 + (this.#blocks[at] ?? 0),
    ).sort();
    const bytes = Buffer.alloc(count * PAIR_BYTES);
    order.forEach((pair, at) => {
      bytes.writeUInt32LE(Math.floor(pair / 65_536), 4 * at);
      bytes.writeUInt16LE(pair % 65_536, 4 * count + 2 * at);
    });
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
