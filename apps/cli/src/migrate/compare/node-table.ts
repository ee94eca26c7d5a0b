import { createHash } from "node:crypto";
import type { NodeState } from "./node-state.ts";

/** Servers that one table can tell apart: bits of a number. */
export const TABLE_SERVERS_MAX = 32;

const SLOTS_FIRST = 1024;
const LOAD_MAX = 0.75;

/** How a node of a server stands beside the one of the table. */
export type Sighting = "same" | "list-unknown" | "other" | "missing";

/**
 * The nodes of one side as hashes, so that servers can be compared with it in the order in which
 * they are read: neither side has its nodes in an order, and sorting a million of them would need
 * the same memory or a disk. A slot has 28 bytes and a table at most four thirds as many slots as
 * nodes, rounded up to a power of two: 59 MB for a million nodes.
 *
 * A node is found by 64 bits of its path's SHA-256, and compared by 64 bits each of its contents
 * and its access list. Paths that collide are taken for different, and looked at again by name.
 */
export class NodeTable {
  #size = 0;
  #columns = new Columns(SLOTS_FIRST);
  readonly #seenCounts: number[];

  /** @param serverCount the servers that are compared with it */
  constructor(serverCount: number) {
    if (serverCount > TABLE_SERVERS_MAX)
      throw new RangeError(`at most ${TABLE_SERVERS_MAX} servers, found ${serverCount}`);
    this.#seenCounts = Array.from({ length: serverCount }, () => 0);
  }

  get size(): number {
    return this.#size;
  }

  /** The memory of the columns. */
  get byteCount(): number {
    return this.#columns.slots * SLOT_BYTES;
  }

  /** Number of nodes that a server was not seen to have. */
  unseenCount(server: number): number {
    return this.#size - (this.#seenCounts[server] ?? 0);
  }

  add(path: string, state: NodeState): void {
    if (this.#size >= this.#columns.slots * LOAD_MAX) this.#grow();
    const columns = this.#columns;
    const { high, low } = keyOf(path);
    const slot = columns.find(high, low);
    const isNew = columns.isFree(slot);
    const marks = isNew ? marksOf(path, state) : NO_MARKS;
    columns.set(slot, high, low, marks);
    if (isNew) this.#size++;
  }

  /** Compares a node of a server, and notes that the server has it. */
  see(path: string, state: NodeState, server: number): Sighting {
    const columns = this.#columns;
    const { high, low } = keyOf(path);
    const slot = columns.find(high, low);
    if (columns.isFree(slot)) return "missing";
    const bit = 1 << server;
    if (((columns.seen[slot] ?? 0) & bit) === 0) {
      columns.seen[slot] = (columns.seen[slot] ?? 0) | bit;
      this.#seenCounts[server] = (this.#seenCounts[server] ?? 0) + 1;
    }
    const marks = marksOf(path, state);
    if (!columns.hasContents(slot, marks)) return "other";
    if (state.acl === undefined) return "list-unknown";
    return columns.hasList(slot, marks) ? "same" : "other";
  }

  /** Whether a node of the table was not seen at a server. */
  isUnseen(path: string, server: number): boolean {
    const { high, low } = keyOf(path);
    const slot = this.#columns.find(high, low);
    return !this.#columns.isFree(slot) && ((this.#columns.seen[slot] ?? 0) & (1 << server)) === 0;
  }

  #grow(): void {
    const before = this.#columns;
    this.#columns = new Columns(before.slots * 2);
    for (let slot = 0; slot < before.slots; slot++) if (!before.isFree(slot)) this.#columns.move(before, slot);
  }
}

interface Marks {
  readonly contentsHigh: number;
  readonly contentsLow: number;
  readonly listHigh: number;
  readonly listLow: number;
}

/** No node has them, but for one in 2^128. */
const NO_MARKS: Marks = { contentsHigh: 0, contentsLow: 0, listHigh: 0, listLow: 0 };
const SLOT_BYTES = 28;

class Columns {
  readonly slots: number;
  readonly seen: Uint32Array;
  readonly #keyHigh: Uint32Array;
  /** 0: the slot is free. */
  readonly #keyLow: Uint32Array;
  readonly #contentsHigh: Uint32Array;
  readonly #contentsLow: Uint32Array;
  readonly #listHigh: Uint32Array;
  readonly #listLow: Uint32Array;

  /** @param slots a power of two */
  constructor(slots: number) {
    this.slots = slots;
    this.seen = new Uint32Array(slots);
    this.#keyHigh = new Uint32Array(slots);
    this.#keyLow = new Uint32Array(slots);
    this.#contentsHigh = new Uint32Array(slots);
    this.#contentsLow = new Uint32Array(slots);
    this.#listHigh = new Uint32Array(slots);
    this.#listLow = new Uint32Array(slots);
  }

  isFree(slot: number): boolean {
    return this.#keyLow[slot] === 0;
  }

  /** The slot of a key, or the free one where it would be. */
  find(high: number, low: number): number {
    const mask = this.slots - 1;
    let slot = high & mask;
    while (!this.isFree(slot) && (this.#keyLow[slot] !== low || this.#keyHigh[slot] !== high)) slot = (slot + 1) & mask;
    return slot;
  }

  set(slot: number, high: number, low: number, marks: Marks): void {
    this.#keyHigh[slot] = high;
    this.#keyLow[slot] = low;
    this.#contentsHigh[slot] = marks.contentsHigh;
    this.#contentsLow[slot] = marks.contentsLow;
    this.#listHigh[slot] = marks.listHigh;
    this.#listLow[slot] = marks.listLow;
  }

  hasContents(slot: number, { contentsHigh, contentsLow }: Marks): boolean {
    return this.#contentsHigh[slot] === contentsHigh && this.#contentsLow[slot] === contentsLow;
  }

  hasList(slot: number, { listHigh, listLow }: Marks): boolean {
    return this.#listHigh[slot] === listHigh && this.#listLow[slot] === listLow;
  }

  move(from: Columns, slot: number): void {
    const [high = 0, low = 0] = [from.#keyHigh[slot], from.#keyLow[slot]];
    const to = this.find(high, low);
    this.set(to, high, low, {
      contentsHigh: from.#contentsHigh[slot] ?? 0,
      contentsLow: from.#contentsLow[slot] ?? 0,
      listHigh: from.#listHigh[slot] ?? 0,
      listLow: from.#listLow[slot] ?? 0,
    });
    this.seen[to] = from.seen[slot] ?? 0;
  }
}

function keyOf(path: string): { readonly high: number; readonly low: number } {
  const digest = sha256(path);
  // A low half of 0 stands for a free slot.
  return { high: digest.readUInt32LE(0), low: digest.readUInt32LE(4) || 1 };
}

function marksOf(path: string, state: NodeState): Marks {
  const { czxid, ctimeMs, owner, version, mzxid, mtimeMs, data, aversion, acl = "", pzxid, creates } = state;
  const contents = sha256(
    `${czxid} ${ctimeMs} ${owner} ${version} ${mzxid} ${mtimeMs} ${data.byteCount} ${data.sha256} ${aversion} ${pzxid} ${creates} ${path}`,
  );
  const list = sha256(`${acl} ${path}`);
  return {
    contentsHigh: contents.readUInt32LE(0),
    contentsLow: contents.readUInt32LE(4),
    listHigh: list.readUInt32LE(0),
    listLow: list.readUInt32LE(4),
  };
}

function sha256(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
