/**
 * The sum of a tree that Apache's servers send with each transaction since 3.6: of each node the
 * CRC-32 of its path, its data and its stored Stat, but for the nodes below `/zookeeper`. Access
 * lists are not covered. Source: DigestCalculator, version 2; section 3.4 of the reference on
 * Apache's ensembles.
 */
import { type ByteSlice, emptySlice, OpCode, STAT_BYTES, StatOffset, type TxnOp } from "@zooid/model";
import type { DataTree } from "../data-tree.ts";

export type Crc32 = (bytes: Uint8Array, start?: number) => number;

const NO_NODE = 0;
/** The Stat without the lengths, in an order of its own. */
const FIELD_BYTES = 60;
const OWN = Buffer.from("/zookeeper/");
const NODES_FIRST = 1024;
const NODES_AT_ONCE = 1000;

/** Apache's digest of a tree, kept up to date op by op. */
export class ApacheDigest {
  readonly #tree: DataTree;
  readonly #crc32: Crc32;
  /** The part of the sum that each node adds, by its index in the tree. */
  #shares = new Uint32Array(NODES_FIRST);
  #sum = 0n;
  readonly #stat = new DataView(new ArrayBuffer(STAT_BYTES));
  readonly #fields = new DataView(new ArrayBuffer(FIELD_BYTES));
  readonly #data: ByteSlice = emptySlice();

  constructor(tree: DataTree, crc32: Crc32) {
    this.#tree = tree;
    this.#crc32 = crc32;
  }

  get value(): bigint {
    return BigInt.asUintN(64, this.#sum);
  }

  /**
   * Adds up all nodes of the tree as it is. It stops between every thousand of them, for a caller
   * that has to do other work; the tree must not change until the end.
   */
  *begin(): Generator<void, void, undefined> {
    this.#shares.fill(0);
    this.#sum = 0n;
    let left = NODES_AT_ONCE;
    for (const node of this.#tree.nodesByAge()) {
      this.#put(node, this.#shareOf(node));
      if (--left > 0) continue;
      left = NODES_AT_ONCE;
      yield;
    }
  }

  /** Before an op is applied. */
  applying({ op, path }: Readonly<TxnOp>): void {
    if (op !== OpCode.DELETE && op !== OpCode.DELETE_CONTAINER) return;
    this.#put(this.#tree.find(path.bytes, path.start, path.end), 0);
  }

  /** @param node that was created or changed, 0 for none: what `DataTree.apply` returns */
  applied({ op, path }: Readonly<TxnOp>, node: number): void {
    if (node !== NO_NODE) this.#put(node, this.#shareOf(node));
    switch (op) {
      case OpCode.CREATE:
      case OpCode.CREATE_CONTAINER:
      case OpCode.CREATE_TTL:
      case OpCode.DELETE:
      case OpCode.DELETE_CONTAINER: {
        const parent = this.#tree.find(path.bytes, path.start, parentEnd(path));
        this.#put(parent, this.#shareOf(parent));
      }
    }
  }

  #put(node: number, share: number): void {
    if (node >= this.#shares.length) {
      const grown = new Uint32Array(2 * node);
      grown.set(this.#shares);
      this.#shares = grown;
    }
    this.#sum += BigInt(share - (this.#shares[node] as number));
    this.#shares[node] = share;
  }

  #shareOf(node: number): number {
    const tree = this.#tree;
    // The root's is empty.
    const path = tree.parent(node) === NO_NODE ? Buffer.alloc(0) : tree.pathBytes(node);
    if (path.length > OWN.length && path.compare(OWN, 0, OWN.length, 0, OWN.length) === 0) return 0;
    const hasData = tree.storedData(node, this.#data);
    const { bytes, start, end } = this.#data;
    const ofPath = this.#crc32(path);
    const ofData = hasData ? this.#crc32(bytes.subarray(start, end), ofPath) : ofPath;
    tree.storedStat(node, this.#stat);
    this.#copy(StatOffset.czxid, 0, 16);
    this.#copy(StatOffset.pzxid, 16, 8);
    this.#copy(StatOffset.ctime, 24, 36);
    return this.#crc32(new Uint8Array(this.#fields.buffer), ofData);
  }

  #copy(from: number, to: number, length: number): void {
    for (let i = 0; i < length; i += 4) this.#fields.setInt32(to + i, this.#stat.getInt32(from + i));
  }
}

/** Where the path of a node's parent ends; `/` for the nodes below the root. */
function parentEnd({ bytes, start, end }: Readonly<ByteSlice>): number {
  let at = end - 1;
  while (at > start && bytes[at] !== 0x2f) at--;
  return Math.max(start + 1, at);
}
