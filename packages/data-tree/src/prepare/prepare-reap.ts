import { assert, clearTxnOp, lastSlash, OpCode, setSlice, type TxnOp } from "@zooid/model";
import { isDue, type ReapLimits } from "../reapable-nodes.ts";
import { parentEndOf } from "./path-bytes.ts";
import type { PrepareContext } from "./prepare-context.ts";
import type { PrepareParts } from "./prepare-parts.ts";

/** The removal of containers and TTL nodes becomes a transaction here. */
export class ReapPreparer {
  readonly #parts: PrepareParts;

  constructor(parts: PrepareParts) {
    this.#parts = parts;
  }

  /**
   * Whether a container or TTL node is removed: it is due by its kind, and nothing is proposed
   * about it. A change in flight is a need.
   */
  isReapable(node: number, limits: ReapLimits, timeMs: number): boolean {
    const { store } = this.#parts.state;
    if (!isDue(store, node, limits, timeMs)) return false;
    const length = store.pathLength(node);
    const path = this.#parts.scratch.of(length);
    store.writePath(node, path, length);
    return this.#parts.pending.find(path, 0, length) === undefined;
  }

  /** Fills `op` with the removal of a node that {@link isReapable}. */
  reap(node: number, context: Readonly<PrepareContext>, op: TxnOp): void {
    const { store } = this.#parts.state;
    const length = store.pathLength(node);
    const path = this.#parts.scratch.of(length);
    store.writePath(node, path, length);
    assert(this.#parts.pending.find(path, 0, length) === undefined, "nothing is proposed about a node that is reaped");
    clearTxnOp(op, OpCode.DELETE_CONTAINER);
    setSlice(op.path, path, 0, length);
    const parent = this.#parts.changes.change(path, 0, parentEndOf(0, lastSlash(path, 0, length)), context.zxid);
    this.#parts.changes.recordDelete(
      op,
      parent,
      this.#parts.changes.changeFound(undefined, node, path, 0, length, context.zxid),
    );
  }
}
