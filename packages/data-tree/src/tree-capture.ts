import type { Zxid } from "@zooid/model";
import { ROOT } from "./nodes/node-row.ts";
import { type NodeRecord, nodeRecord, type SessionRecord, sessionRecord } from "./snapshot.ts";
import type { TreeState } from "./tree-state.ts";

export interface CaptureSink {
  session(record: Readonly<SessionRecord>): void;
  node(record: Readonly<NodeRecord>): void;
}

/** Free rows are only stepped over, but there may be many of them. */
const ROWS_PER_RECORD = 16;

/**
 * A walk over a tree that changes meanwhile. Records are taken at different times, so together they
 * are of no single zxid.
 *
 * The transactions after {@link applied} make them exact, up to any that was applied when the walk
 * had ended: each one says what a node or a session becomes, so applying one again changes nothing,
 * and nodes that are created after {@link applied} are left to them.
 */
export class TreeCapture {
  /** The last transaction that was applied when the walk began. */
  readonly applied: Zxid;
  /** Nodes from this id on are not captured. */
  readonly nextNode: number;
  /** The feature level when the walk began. */
  readonly level: number;
  readonly #state: TreeState;
  #session = 1;
  #node: number = ROOT;

  /** @internal `DataTree.capture()` makes one */
  constructor(state: TreeState) {
    this.#state = state;
    this.applied = state.applied;
    this.nextNode = state.nextNode;
    this.level = state.level;
  }

  /**
   * Hands over some records: sessions first, then nodes in no order.
   *
   * @returns false when there are no more
   */
  next(countMax: number, sink: CaptureSink): boolean {
    const { sessions, store } = this.#state;
    let left = countMax * ROWS_PER_RECORD;
    for (; left > 0 && this.#session < sessions.end; this.#session++, left--) {
      if (!sessions.isOpen(this.#session)) continue;
      sink.session(sessionRecord(this.#state, this.#session));
      left -= ROWS_PER_RECORD;
    }
    for (; left > 0 && this.#node < store.end; this.#node++, left--) {
      if (!store.exists(this.#node) || store.id(this.#node) >= this.nextNode) continue;
      sink.node(nodeRecord(this.#state, this.#node));
      left -= ROWS_PER_RECORD;
    }
    return this.#session < sessions.end || this.#node < store.end;
  }
}
