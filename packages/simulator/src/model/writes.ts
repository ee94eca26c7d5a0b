/** A container, or a node with a time to live. */
export type Reaped = { readonly kind: "container" } | { readonly kind: "ttl"; readonly ttlMs: number };

/** A write as a simulated client requests it. */
export type Write =
  | {
      readonly kind: "create";
      readonly path: string;
      readonly data: string;
      readonly ephemeral: boolean;
      readonly sequential: boolean;
      /** Undefined: it stays until a client deletes it. */
      readonly reaped?: Reaped;
      /** Only clients with the identity of its creator may change it. */
      readonly isOwn?: boolean;
    }
  | { readonly kind: "setAcl"; readonly path: string; readonly isOwn: boolean; readonly version: number }
  | { readonly kind: "delete"; readonly path: string; readonly version: number }
  | { readonly kind: "set"; readonly path: string; readonly data: string; readonly version: number }
  | { readonly kind: "check"; readonly path: string; readonly version: number };

/** A request of one transaction over the tree. */
export type TreeWrite =
  | { readonly kind: "one"; readonly write: Write }
  | { readonly kind: "multi"; readonly writes: readonly Write[] };

export type WriteRequest = TreeWrite | { readonly kind: "close" };

/** An op of a committed transaction: what it does, not what was requested. */
export type PlainOp =
  | { readonly kind: "create"; readonly path: string; readonly data: string; readonly owner: bigint }
  | { readonly kind: "set"; readonly path: string; readonly data: string }
  | { readonly kind: "delete" | "setAcl"; readonly path: string };

/** The effect of a committed write on a node, in the order of the watch events. */
export interface Effect {
  readonly kind: "created" | "deleted" | "changed" | "acl";
  readonly path: string;
}
