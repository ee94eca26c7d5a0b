import { nodeKind, StatOffset, ttlMsOf } from "@zooid/model";
import { IntColumn } from "./nodes/columns.ts";
import { NO_NODE } from "./nodes/node-row.ts";
import type { NodeStore } from "./nodes/node-store.ts";

/** When a leader removes containers and TTL nodes. */
export interface ReapLimits {
  /**
   * A container that never had a child goes when it is older than this, in milliseconds; 0: never.
   */
  readonly neverUsedMsMax: number;
}

/**
 * Containers and TTL nodes: a ring through the nodes themselves with a hand that walks it, so that
 * a leader looks at these and at no others, a few at a time, while they come and go.
 */
export class ReapableNodes {
  readonly #next = new IntColumn();
  readonly #previous = new IntColumn();
  /** Looked at next. What is added stands behind it, where it comes to last. */
  #hand: number = NO_NODE;
  #count = 0;

  get count(): number {
    return this.#count;
  }

  add(node: number): void {
    this.#count++;
    if (this.#hand === NO_NODE) {
      this.#hand = node;
      this.#link(node, node);
      return;
    }
    this.#link(this.#previous.get(this.#hand), node);
    this.#link(node, this.#hand);
  }

  remove(node: number): void {
    this.#count--;
    if (this.#hand === node) this.#hand = this.#count === 0 ? NO_NODE : this.#next.get(node);
    this.#link(this.#previous.get(node), this.#next.get(node));
  }

  /** The node under the hand, which moves on; 0 when there is none. */
  take(): number {
    const node = this.#hand;
    if (node !== NO_NODE) this.#hand = this.#next.get(node);
    return node;
  }

  #link(before: number, behind: number): void {
    this.#next.set(before, behind);
    this.#previous.set(behind, before);
  }
}

/**
 * Whether a container or TTL node is to go by what is applied (section 5 of
 * docs/reference/client-protocol.md): it has no child; a container had one or is too old, a TTL
 * node was not written for longer than its time to live.
 */
export function isDue(store: NodeStore, node: number, { neverUsedMsMax }: ReapLimits, timeMs: number): boolean {
  if (store.childCount(node) > 0) return false;
  const ownerHigh = store.owners.high(node);
  const ownerLow = store.owners.low(node);
  const unwrittenMs = timeMs - store.statLong(node, StatOffset.mtime);
  switch (nodeKind(ownerHigh, ownerLow)) {
    case "container":
      return store.created(node) > 0 || (neverUsedMsMax > 0 && unwrittenMs > neverUsedMsMax);
    case "ttl":
      return unwrittenMs > ttlMsOf(ownerHigh, ownerLow);
    default:
      return false;
  }
}
