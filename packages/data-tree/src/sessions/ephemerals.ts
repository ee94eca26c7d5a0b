import { IntColumn } from "../nodes/columns.ts";
import { NO_NODE } from "../nodes/node-row.ts";
import { NO_SESSION, type SessionTable } from "./session-table.ts";

/**
 * Which session owns which nodes: a list through the nodes themselves, so that a session ends in
 * the time its own nodes take.
 */
export class Ephemerals {
  readonly #sessions: SessionTable;
  readonly #next = new IntColumn();
  readonly #previous = new IntColumn();
  /** The next node of each unfinished listing. */
  readonly #listings = new Set<{ next: number }>();
  #count = 0;

  constructor(sessions: SessionTable) {
    this.#sessions = sessions;
  }

  get count(): number {
    return this.#count;
  }

  add(high: number, low: number, node: number): void {
    const row = this.#sessions.findOrAdd(high, low);
    const first = this.#sessions.firstNode(row);
    this.#next.set(node, first);
    this.#previous.set(node, NO_NODE);
    if (first !== NO_NODE) this.#previous.set(first, node);
    this.#sessions.setNodes(row, node, 1);
    this.#count++;
  }

  remove(high: number, low: number, node: number): void {
    const row = this.#sessions.find(high, low);
    const next = this.#next.get(node);
    const previous = this.#previous.get(node);
    for (const listing of this.#listings) if (listing.next === node) listing.next = next;
    if (next !== NO_NODE) this.#previous.set(next, previous);
    if (previous !== NO_NODE) this.#next.set(previous, next);
    this.#sessions.setNodes(row, previous === NO_NODE ? next : this.#sessions.firstNode(row), -1);
    this.#sessions.dropIfUnknown(row);
    this.#count--;
  }

  /** The session's first node, or 0; {@link next} gives the others. */
  first(high: number, low: number): number {
    const row = this.#sessions.find(high, low);
    return row === NO_SESSION ? NO_NODE : this.#sessions.firstNode(row);
  }

  next(node: number): number {
    return this.#next.get(node);
  }

  /**
   * The session's nodes. Between two of them others may be added and removed: each that is there
   * all the time is met once.
   */
  *list(high: number, low: number): Generator<number, void, undefined> {
    const listing = { next: this.first(high, low) };
    this.#listings.add(listing);
    try {
      while (listing.next !== NO_NODE) {
        const node = listing.next;
        listing.next = this.next(node);
        yield node;
      }
    } finally {
      this.#listings.delete(listing);
    }
  }
}
