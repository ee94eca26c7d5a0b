import { assert, StatOffset, type TxnOp, type Zxid } from "@zooid/model";
import { listedNameBytes } from "../children/listed-bytes.ts";
import { NO_NODE } from "../nodes/node-row.ts";
import type { TreeState } from "../tree-state.ts";
import type { PendingChanges, PendingNode } from "./pending-changes.ts";

/**
 * Records what a proposed transaction will change: in the records of pending nodes, made from the
 * tree's nodes where there is none.
 */
export class ProposedChanges {
  readonly #state: TreeState;
  readonly #pending: PendingChanges;

  constructor(state: TreeState, pending: PendingChanges) {
    this.#state = state;
    this.#pending = pending;
  }

  /** The record of the node at a path, ready to be changed. */
  change(bytes: Uint8Array, start: number, end: number, zxid: Zxid): PendingNode {
    const pending = this.#pending.find(bytes, start, end);
    const node = pending === undefined ? this.#state.store.find(bytes, start, end) : NO_NODE;
    return this.changeFound(pending, node, bytes, start, end, zxid);
  }

  /**
   * The path's record, ready to be changed: the one that was found, or one made from the tree's
   * node.
   */
  changeFound(
    found: PendingNode | undefined,
    node: number,
    bytes: Uint8Array,
    start: number,
    end: number,
    zxid: Zxid,
  ): PendingNode {
    if (found !== undefined) {
      this.#pending.touch(found, zxid);
      return found;
    }
    assert(node !== NO_NODE, "what a request changes exists");
    const { store, acls } = this.#state;
    const pending = this.#pending.add(bytes, start, end, zxid);
    this.#pending.setExisting(pending, store.owners.high(node), store.owners.low(node));
    pending.node = store.id(node);
    pending.version = store.statInt(node, StatOffset.version);
    pending.aversion = store.statInt(node, StatOffset.aversion);
    pending.created = store.created(node);
    pending.childCount = store.childCount(node);
    pending.listedBytes = store.listings.bytes(node);
    pending.dataLength = store.statInt(node, StatOffset.dataLength);
    pending.acl = acls.get(store.aclId(node));
    return pending;
  }

  recordCreate(op: Readonly<TxnOp>, found: PendingNode | undefined, zxid: Zxid): void {
    let pending = found;
    if (pending === undefined) pending = this.#pending.add(op.path.bytes, op.path.start, op.path.end, zxid);
    else this.#pending.touch(pending, zxid);
    this.#pending.setExisting(pending, op.ownerHigh, op.ownerLow);
    pending.node = op.node;
    pending.version = 0;
    pending.aversion = 0;
    pending.created = 0;
    pending.childCount = 0;
    pending.listedBytes = 0;
    pending.dataLength = op.data.end - op.data.start;
    pending.acl = op.acl;
  }

  recordDelete(op: TxnOp, parent: PendingNode, pending: PendingNode): void {
    op.node = pending.node;
    op.parent = parent.node;
    parent.childCount--;
    parent.listedBytes -= listedNameBytes(parent.length, pending.length);
    this.#pending.setDeleted(pending);
  }
}
