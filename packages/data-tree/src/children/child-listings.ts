import { type ByteSlice, emptySlice, StatOffset, setSlice } from "@zooid/model";
import type { RecordColumn } from "../nodes/columns.ts";
import type { NodeNames } from "../nodes/node-names.ts";
import { NO_NODE, type NodeRows } from "../nodes/node-row.ts";
import { ChildOrder } from "./child-order.ts";
import { LARGE_LISTING_BYTES, NAME_LENGTH_BYTES } from "./listed-bytes.ts";

// Constants of other modules are not folded into compiled code.
const NONE: number = NO_NODE;
/**
 * Minimum number of children, or of bytes of their names, from which a node keeps them in order; it
 * stops below the `KEPT` figures. A page of fewer is sorted when it is requested. Bytes count too
 * because comparing a thousand names of 16 KiB with a common beginning would take a tenth of a
 * second.
 */
const ORDERED_COUNT_MIN = 1024;
const ORDERED_COUNT_KEPT = 512;
const ORDERED_BYTES_MIN = 64 * 1024;
const ORDERED_BYTES_KEPT = 32 * 1024;

/** The sizes of nodes' listings, and the order of children where there are many. */
export class ChildListings {
  readonly #stats: RecordColumn;
  readonly #rows: NodeRows;
  readonly #names: NodeNames;
  /** The children of nodes with many, in order. */
  readonly #orders = new Map<number, ChildOrder>();
  readonly #name: ByteSlice = emptySlice();
  #largeCount = 0;
  #grown: number = NONE;

  constructor(stats: RecordColumn, rows: NodeRows, names: NodeNames) {
    this.#stats = stats;
    this.#rows = rows;
    this.#names = names;
  }

  /** The bytes of the names of a node's children in a listing, each with its length. */
  bytes(node: number): number {
    return this.#rows.listedBytes(node);
  }

  /** Nodes whose listings exceed what stock clients read by default. */
  get largeCount(): number {
    return this.#largeCount;
  }

  /** A node whose listing became one of those since the last call, or 0. */
  takeGrown(): number {
    const node = this.#grown;
    this.#grown = NONE;
    return node;
  }

  /** The children of a node in order; undefined for one with few. */
  order(node: number): ChildOrder | undefined {
    return this.#orders.get(node);
  }

  /** An order of nodes, to be filled. */
  newOrder(): ChildOrder {
    return new ChildOrder((node, into) => this.#names.show(node, into));
  }

  /** A child was added, and counts as one. */
  added(parent: number, node: number, bytes: Uint8Array, start: number, end: number): void {
    const before = this.#rows.listedBytes(parent);
    const after = before + NAME_LENGTH_BYTES + end - start;
    this.#rows.addListedBytes(parent, after - before);
    if (after >= LARGE_LISTING_BYTES && before < LARGE_LISTING_BYTES) {
      this.#largeCount++;
      this.#grown = parent;
    }
    const childCount = this.#childCount(parent);
    // Most nodes have few children, and are not looked up.
    if (childCount <= ORDERED_COUNT_KEPT && after <= ORDERED_BYTES_KEPT) return;
    const order = this.#orders.get(parent);
    if (order !== undefined) {
      setSlice(this.#name, bytes, start, end);
      order.insert(node, this.#name);
    } else if (childCount >= ORDERED_COUNT_MIN || after >= ORDERED_BYTES_MIN) this.#orderChildren(parent);
  }

  /** A child is about to be removed: it still counts. */
  removing(parent: number, node: number): void {
    this.#names.show(node, this.#name);
    const before = this.#rows.listedBytes(parent);
    const after = before - NAME_LENGTH_BYTES - (this.#name.end - this.#name.start);
    this.#rows.addListedBytes(parent, after - before);
    if (before >= LARGE_LISTING_BYTES && after < LARGE_LISTING_BYTES) this.#largeCount--;
    if (this.#childCount(parent) - 1 <= ORDERED_COUNT_KEPT && after <= ORDERED_BYTES_KEPT) this.#orders.delete(parent);
    else this.#orders.get(parent)?.remove(this.#name);
  }

  #childCount(node: number): number {
    return this.#stats.int(node, StatOffset.numChildren);
  }

  #orderChildren(parent: number): void {
    const children: number[] = [];
    for (let child = this.#rows.firstChild(parent); child !== NONE; child = this.#rows.nextSibling(child)) {
      children.push(child);
    }
    const order = this.newOrder();
    order.fill(children);
    this.#orders.set(parent, order);
  }
}
