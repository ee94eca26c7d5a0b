/**
 * The fields that a server shows of a node in place of the stored ones; missing ones are as stored.
 */
export interface VirtualNode {
  readonly data: Uint8Array;
  readonly version?: number;
  readonly mtimeMs?: number;
}

/**
 * Nodes of which a server shows something else than is stored: a quota's usage, which it counts,
 * and the ensemble's configuration, which it knows. Neither is replicated, so neither is part of
 * the digest or of any file, and no watch fires.
 *
 * A client that writes such a node shows its own text, until the server has something to show
 * again.
 */
export class VirtualNodes {
  readonly #shown = new Map<number, VirtualNode>();

  get(node: number): VirtualNode | undefined {
    return this.#shown.size === 0 ? undefined : this.#shown.get(node);
  }

  show(node: number, shown: VirtualNode): void {
    this.#shown.set(node, shown);
  }

  /** The node was written or is gone. */
  forget(node: number): void {
    if (this.#shown.size > 0) this.#shown.delete(node);
  }
}
