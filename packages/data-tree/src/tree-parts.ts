import type { HashKey } from "@zooid/model";
import { TxnApplier } from "./apply-txn.ts";
import { NodeCursor } from "./nodes/node-cursor.ts";
import { PendingChanges } from "./prepare/pending-changes.ts";
import { PrepareParts } from "./prepare/prepare-parts.ts";
import { ReapPreparer } from "./prepare/prepare-reap.ts";
import { SessionPreparer } from "./prepare/prepare-session.ts";
import { TxnPreparer } from "./prepare/prepare-txn.ts";
import { EphemeralPaths } from "./sessions/ephemeral-paths.ts";
import { TreeState } from "./tree-state.ts";
import type { WatchTable } from "./watches/watch-table.ts";

/** An empty replicated state and all that works on it. A load replaces them together. */
export class TreeParts {
  readonly state: TreeState;
  readonly pending: PendingChanges;
  readonly requests: TxnPreparer;
  readonly sessions: SessionPreparer;
  readonly reaps: ReapPreparer;
  readonly applier: TxnApplier;
  readonly cursor: NodeCursor;
  readonly ephemeralPaths: EphemeralPaths;

  constructor(hashKey: HashKey, watches: WatchTable) {
    const state = new TreeState(hashKey);
    this.state = state;
    this.pending = new PendingChanges(hashKey);
    const parts = new PrepareParts(state, this.pending);
    this.requests = new TxnPreparer(parts);
    this.sessions = new SessionPreparer(parts);
    this.reaps = new ReapPreparer(parts);
    this.applier = new TxnApplier(state, watches);
    this.cursor = new NodeCursor(state.store, state.acls, state.shown);
    this.ephemeralPaths = new EphemeralPaths(state.store);
  }
}
