import type { Excess } from "@zooid/data-tree";
import type { ZabEvent } from "@zooid/zab";

/** What operators should know of a replica, as data: checks and tests look at kinds, and the edge makes sentences of them. */
export type ReplicaEvent =
  | ZabEvent
  | { readonly kind: "read-only-service" }
  /** A certificate's subject is longer than an identity may be: it gives its client none. */
  | { readonly kind: "long-certificate-subject"; readonly address: string; readonly bytesMax: number }
  /** The wall clock was set: for a while no container or TTL node is removed. */
  | { readonly kind: "wall-clock-set"; readonly byMs: number; readonly pauseMs: number }
  /** A write that goes beyond a quota or the tree's size; and how many more there were since the last such event. */
  | { readonly kind: "over-quota"; readonly excess: Excess; readonly moreCount: number };
