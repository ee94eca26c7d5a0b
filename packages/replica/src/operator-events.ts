import type { Excess } from "@zooid/data-tree";
import type { Members } from "@zooid/model";
import type { WaitingWish, ZabEvent } from "@zooid/zab";
import type { SlowRequest } from "./slow-requests.ts";

/** Events for operators, as data: the server makes log lines of them, tests look at their kinds. */
export type ReplicaEvent =
  | ZabEvent
  | SlowRequest
  | { readonly kind: "read-only-service" }
  /**
   * A certificate's subject is longer than an identity may be: its client has no identity by it.
   */
  | { readonly kind: "long-certificate-subject"; readonly address: string; readonly bytesMax: number }
  /** A client's change of the ensemble's configuration was refused, for this reason in words. */
  | { readonly kind: "change-refused"; readonly reason: string }
  /**
   * At the leader, each minute: servers have another list of servers in their files than the one in
   * force.
   */
  | { readonly kind: "list-differs"; readonly inForce: Members; readonly wish: WaitingWish }
  /** The wall clock was set: for a while no container and no TTL node is removed. */
  | { readonly kind: "wall-clock-set"; readonly byMs: number; readonly pauseMs: number }
  /** The children of a node have more names than stock clients read by default. */
  | { readonly kind: "large-listing"; readonly path: string; readonly count: number; readonly bytes: number }
  /**
   * A write beyond a quota or the tree's size, and how many more there were since the last such
   * event.
   */
  | { readonly kind: "over-quota"; readonly excess: Excess; readonly moreCount: number };
