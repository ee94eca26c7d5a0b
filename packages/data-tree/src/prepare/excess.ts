/** The limit that a write exceeds; data for operators. */
export type Excess =
  | QuotaExcess
  /**
   * The text of a quota's limits or usage is longer than it may be; the write is refused, like
   * those that follow.
   */
  | { readonly kind: "quota-text"; readonly sizeBytes: number; readonly bytesMax: number }
  /** The children of a node would take more in a listing than they may; the create is refused. */
  | { readonly kind: "children-bytes"; readonly path: string; readonly bytes: number; readonly bytesMax: number }
  /** The tree has as many pages as it may have. */
  | { readonly kind: "tree-pages" }
  /** The tree would hold more than it may. */
  | { readonly kind: "tree-bytes"; readonly heldBytes: number; readonly heldBytesMax: number }
  /** The tree has room, but not for this client. */
  | { readonly kind: "client-share"; readonly heldBytes: number; readonly heldBytesMax: number };

/** A quota that a write exceeds; a hard one refuses the write. */
export interface QuotaExcess {
  readonly kind: "quota";
  readonly isHard: boolean;
  /** Whose quota it is. */
  readonly path: string;
  readonly unit: "nodes" | "bytes";
  readonly limit: number;
  /** The usage that the write leads to. */
  readonly usage: number;
}
