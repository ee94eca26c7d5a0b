import { IntColumn, NumberColumn } from "./columns.ts";
import type { NodeRows } from "./node-row.ts";

const NONE = 0;

/**
 * How many nodes each node has below it, and how many bytes of data these have. Kept with each
 * change, since a walk of a large tree would hold up all clients. A change costs a step for each
 * node above.
 */
export class SubtreeCounts {
  readonly #rows: NodeRows;
  readonly #nodes = new IntColumn();
  /** Pages of nodes that have none below do not exist. */
  readonly #bytes = new NumberColumn();

  constructor(rows: NodeRows) {
    this.#rows = rows;
  }

  nodesBelow(node: number): number {
    return this.#nodes.get(node);
  }

  bytesBelow(node: number): number {
    return this.#bytes.get(node);
  }

  /** A child of `parent` comes or goes, with its data. The root's parent is 0. */
  addNodes(parent: number, change: number, bytes: number): void {
    const counts = this.#nodes;
    for (let at = parent; at !== NONE; at = this.#rows.parent(at)) counts.set(at, counts.get(at) + change);
    if (bytes !== 0) this.addBytes(parent, bytes);
  }

  addBytes(parent: number, change: number): void {
    const bytes = this.#bytes;
    for (let at = parent; at !== NONE; at = this.#rows.parent(at)) bytes.set(at, bytes.get(at) + change);
  }
}
