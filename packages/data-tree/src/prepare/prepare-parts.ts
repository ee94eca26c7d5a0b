import { may } from "@zooid/model";
import type { TreeState } from "../tree-state.ts";
import { PathScratch } from "./path-scratch.ts";
import type { PendingChanges, PendingNode } from "./pending-changes.ts";
import type { PrepareContext } from "./prepare-context.ts";
import { ProposedChanges } from "./proposed-changes.ts";
import { WriteLimits } from "./write-limits.ts";

/** The state that the parts which prepare transactions share. */
export class PrepareParts {
  readonly state: TreeState;
  readonly pending: PendingChanges;
  readonly changes: ProposedChanges;
  readonly limits: WriteLimits;
  /** The path of a sequential node with its suffix, or of a node that goes without a request. */
  readonly scratch: PathScratch = new PathScratch();

  constructor(state: TreeState, pending: PendingChanges) {
    this.state = state;
    this.pending = pending;
    this.changes = new ProposedChanges(state, pending);
    this.limits = new WriteLimits(state);
  }

  /**
   * Whether the client has a permission on a node: by the ACL that is proposed for it, if there is
   * one.
   */
  may(context: Readonly<PrepareContext>, pending: PendingNode | undefined, node: number, need: number): boolean {
    const acl = pending === undefined ? this.state.acls.get(this.state.store.aclId(node)) : pending.acl;
    return may(context.rules, context.identities, acl, need);
  }
}
