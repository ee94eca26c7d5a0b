import {
  assert,
  type ByteSlice,
  emptySlice,
  lastSlash,
  OpCode,
  StatOffset,
  setSlice,
  type TxnHeader,
  type TxnOp,
  WatchEventType,
} from "@zooid/model";
import { NO_NODE } from "./nodes/node-row.ts";
import { NO_SESSION } from "./sessions/session-table.ts";
import { showWithoutComments } from "./shown-configuration.ts";
import { type TreeState, textLength } from "./tree-state.ts";
import type { WatchSink, WatchTable } from "./watches/watch-table.ts";

/**
 * A transaction's effects on the tree, one function for each kind. They are decided already: what
 * does not fit the tree is a defect here, never an answer. Watches fire once the change is made, in
 * the order that section 7.2 of docs/reference/client-protocol.md gives.
 */
export class TxnApplier {
  readonly #state: TreeState;
  readonly #watches: WatchTable;
  readonly #parentPath: ByteSlice = emptySlice();

  constructor(state: TreeState, watches: WatchTable) {
    this.#state = state;
    this.#watches = watches;
  }

  /** @returns the node that was created or changed, 0 for ops that leave none */
  apply(header: Readonly<TxnHeader>, op: Readonly<TxnOp>, sink: WatchSink | undefined): number {
    switch (op.op) {
      case OpCode.SET_DATA:
        return this.#setData(header, op, sink);
      case OpCode.CREATE:
      case OpCode.CREATE2:
      case OpCode.CREATE_CONTAINER:
      case OpCode.CREATE_TTL:
        return this.#create(header, op, sink);
      case OpCode.DELETE:
      case OpCode.DELETE_CONTAINER:
        this.#delete(header, op, sink);
        return NO_NODE;
      case OpCode.SET_ACL:
        return this.#setAcl(op);
      case OpCode.CREATE_SESSION:
        this.#createSession(header, op);
        return NO_NODE;
      case OpCode.CLOSE_SESSION:
        this.#closeSession(header);
        return NO_NODE;
      case OpCode.BEGIN_CLOSE_SESSION:
        this.#beginCloseSession(header);
        return NO_NODE;
      case OpCode.RAISE_LEVEL:
        this.#state.raiseLevel(op.version);
        return NO_NODE;
      default:
        assert(op.op === OpCode.CHECK || op.op === OpCode.ERROR, "a transaction consists of known ops");
        return NO_NODE;
    }
  }

  #create(header: Readonly<TxnHeader>, op: Readonly<TxnOp>, sink: WatchSink | undefined): number {
    const state = this.#state;
    const store = state.store;
    const { bytes, start, end } = op.path;
    const name = this.#findParentPath(op) + 1;
    const parent = store.find(bytes, start, this.#parentPath.end);
    assert(
      parent !== NO_NODE && store.id(parent) === op.parent,
      "the parent of a created node is the one that was prepared",
    );
    assert(store.child(parent, bytes, name, end) === NO_NODE, "a node that is created does not exist yet");

    state.removeFromDigest(parent);
    const node = store.create(parent, bytes, name, end, op.node);
    store.setStatLong(node, StatOffset.czxid, header.zxid);
    store.setStatLong(node, StatOffset.mzxid, header.zxid);
    store.setStatLong(node, StatOffset.pzxid, header.zxid);
    store.setStatLong(node, StatOffset.ctime, header.timeMs);
    store.setStatLong(node, StatOffset.mtime, header.timeMs);
    if (op.hasData) store.setData(node, op.data.bytes, op.data.start, op.data.end);
    const aclId = state.acls.acquire(op.acl);
    store.setAclId(node, aclId);
    if (op.ownerHigh !== 0 || op.ownerLow !== 0) state.setOwner(node, op.ownerHigh, op.ownerLow);
    if (op.parentCversion > store.created(parent)) {
      store.setCreated(parent, op.parentCversion);
      store.setStatLong(parent, StatOffset.pzxid, header.zxid);
    }
    state.addToDigest(node);
    state.addToDigest(parent);
    if (op.node >= state.nextNode) state.nextNode = op.node + 1;
    state.approximateDataSize += textLength(bytes, start, end) + (op.hasData ? op.data.end - op.data.start : 0);
    state.quotas.created(node, op.path);

    if (sink !== undefined && !this.#watches.isEmpty) {
      const zxid = header.zxid;
      this.#watches.trigger(WatchEventType.NODE_CREATED, op.path, state.acls.get(aclId), zxid, sink);
      this.#triggerChildren(header, parent, sink);
    }
    return node;
  }

  #delete(header: Readonly<TxnHeader>, op: Readonly<TxnOp>, sink: WatchSink | undefined): void {
    const state = this.#state;
    const store = state.store;
    const { bytes, start, end } = op.path;
    const node = store.find(bytes, start, end);
    assert(node !== NO_NODE && store.id(node) === op.node, "a node that is deleted is the one that was prepared");
    const parent = store.parent(node);
    assert(store.id(parent) === op.parent, "the parent of a deleted node is the one that was prepared");

    state.removeFromDigest(node);
    state.removeFromDigest(parent);
    state.disown(node);
    const aclId = store.aclId(node);
    const acl = state.acls.get(aclId);
    state.acls.release(aclId);
    state.approximateDataSize -= textLength(bytes, start, end) + store.statInt(node, StatOffset.dataLength);
    const dataLength = store.statInt(node, StatOffset.dataLength);
    state.shown.forget(node);
    store.remove(node);
    state.quotas.count(op.path, -1, -dataLength);
    if (header.zxid > store.statLong(parent, StatOffset.pzxid)) {
      store.setStatLong(parent, StatOffset.pzxid, header.zxid);
    }
    state.addToDigest(parent);

    if (sink !== undefined && !this.#watches.isEmpty) {
      this.#watches.trigger(WatchEventType.NODE_DELETED, op.path, acl, header.zxid, sink);
      this.#findParentPath(op);
      this.#triggerChildren(header, parent, sink);
    }
  }

  #setData(header: Readonly<TxnHeader>, op: Readonly<TxnOp>, sink: WatchSink | undefined): number {
    const state = this.#state;
    const store = state.store;
    const node = this.#findPrepared(op);
    const lengthBefore = store.statInt(node, StatOffset.dataLength);
    state.shown.forget(node);
    state.removeFromDigest(node);
    state.approximateDataSize -= store.statInt(node, StatOffset.dataLength);
    if (op.hasData) store.setData(node, op.data.bytes, op.data.start, op.data.end);
    else store.setNullData(node);
    state.approximateDataSize += store.statInt(node, StatOffset.dataLength);
    store.setStatInt(node, StatOffset.version, op.version);
    store.setStatLong(node, StatOffset.mzxid, header.zxid);
    store.setStatLong(node, StatOffset.mtime, header.timeMs);
    state.addToDigest(node);
    state.quotas.count(op.path, 0, store.statInt(node, StatOffset.dataLength) - lengthBefore);
    if (header.op === OpCode.RECONFIG) showWithoutComments(state, node);
    if (sink !== undefined && !this.#watches.isEmpty) {
      const acl = state.acls.get(store.aclId(node));
      this.#watches.trigger(WatchEventType.NODE_DATA_CHANGED, op.path, acl, header.zxid, sink);
    }
    return node;
  }

  #setAcl(op: Readonly<TxnOp>): number {
    const { store, acls } = this.#state;
    const node = this.#findPrepared(op);
    this.#state.removeFromDigest(node);
    const aclId = acls.acquire(op.acl);
    acls.release(store.aclId(node));
    store.setAclId(node, aclId);
    store.setStatInt(node, StatOffset.aversion, op.version);
    this.#state.addToDigest(node);
    return node;
  }

  #createSession(header: Readonly<TxnHeader>, op: Readonly<TxnOp>): void {
    const sessions = this.#state.sessions;
    const row = sessions.findOrAdd(header.sessionHigh, header.sessionLow);
    const { bytes, start, end } = op.passwordHash;
    sessions.open(row, op.timeoutMs, bytes, start, end);
    this.#state.addSessionToDigest(row);
  }

  /** Closing a session that is unknown succeeds, as at ZooKeeper. */
  #closeSession(header: Readonly<TxnHeader>): void {
    const sessions = this.#state.sessions;
    const row = sessions.find(header.sessionHigh, header.sessionLow);
    if (row === NO_SESSION) return;
    assert(sessions.nodeCount(row) === 0, "a session's ephemerals are deleted before it is closed");
    if (sessions.isOpen(row)) this.#state.removeSessionFromDigest(row);
    sessions.close(row);
  }

  /**
   * From here on the session is over: a leader that takes over finds it in the table and removes
   * what is left of it.
   */
  #beginCloseSession(header: Readonly<TxnHeader>): void {
    const sessions = this.#state.sessions;
    const row = sessions.find(header.sessionHigh, header.sessionLow);
    if (row === NO_SESSION || !sessions.isOpen(row)) return;
    this.#state.removeSessionFromDigest(row);
    sessions.beginClose(row);
    this.#state.addSessionToDigest(row);
  }

  #findPrepared(op: Readonly<TxnOp>): number {
    const store = this.#state.store;
    const node = store.find(op.path.bytes, op.path.start, op.path.end);
    assert(node !== NO_NODE && store.id(node) === op.node, "a node that is changed is the one that was prepared");
    return node;
  }

  #triggerChildren(header: Readonly<TxnHeader>, parent: number, sink: WatchSink): void {
    const acl = this.#state.acls.get(this.#state.store.aclId(parent));
    this.#watches.trigger(WatchEventType.NODE_CHILDREN_CHANGED, this.#parentPath, acl, header.zxid, sink);
  }

  /**
   * Lets `#parentPath` show the parent's path, and returns where the slash before the name stands.
   */
  #findParentPath(op: Readonly<TxnOp>): number {
    const { bytes, start, end } = op.path;
    const slash = lastSlash(bytes, start, end);
    setSlice(this.#parentPath, bytes, start, slash === start ? start + 1 : slash);
    return slash;
  }
}
