import {
  type ByteSlice,
  clearTxnOp,
  ErrorCode,
  isValidPath,
  lastSlash,
  OpCode,
  Permission,
  type Request,
  StatOffset,
  setSlice,
  sliceEquals,
  sliceOf,
  type TxnOp,
} from "@zooid/model";
import { aclBytes } from "../nodes/acl-table.ts";
import { NO_NODE } from "../nodes/node-row.ts";
import type { TreeState } from "../tree-state.ts";
import { hasNul, parentEndOf } from "./path-bytes.ts";
import type { PendingChanges } from "./pending-changes.ts";
import type { PrepareContext } from "./prepare-context.ts";
import { CreatePreparer, checkCreateMode } from "./prepare-create.ts";
import type { PrepareParts } from "./prepare-parts.ts";
import type { ProposedChanges } from "./proposed-changes.ts";
import type { WriteLimits } from "./write-limits.ts";

const VERSION_ANY = -1;
const RESERVED: readonly Readonly<ByteSlice>[] = ["/", "/zookeeper", "/zookeeper/quota", "/zookeeper/config"].map(
  sliceOf,
);

const CONFIG_NODE: Readonly<ByteSlice> = sliceOf("/zookeeper/config");

/**
 * Requests become transactions here: checked against the tree as it will be when all that is
 * proposed has been applied, in the order in which ZooKeeper checks (sections 3.5 and 6 of
 * docs/reference/client-protocol.md), because the first failing check decides the answer.
 */
export class TxnPreparer {
  readonly #parts: PrepareParts;
  readonly #state: TreeState;
  readonly #pending: PendingChanges;
  readonly #changes: ProposedChanges;
  readonly #limits: WriteLimits;
  readonly #creates: CreatePreparer;

  constructor(parts: PrepareParts) {
    this.#parts = parts;
    this.#state = parts.state;
    this.#pending = parts.pending;
    this.#changes = parts.changes;
    this.#limits = parts.limits;
    this.#creates = new CreatePreparer(parts);
  }

  prepare(request: Readonly<Request>, context: Readonly<PrepareContext>, op: TxnOp): ErrorCode {
    clearTxnOp(op, request.op);
    switch (request.op) {
      case OpCode.CREATE:
      case OpCode.CREATE2:
      case OpCode.CREATE_CONTAINER:
      case OpCode.CREATE_TTL:
        return checkCreateMode(request, context) || this.#creates.create(request, context, op);
      case OpCode.SET_DATA:
        return this.#setData(request, context, op);
      case OpCode.DELETE:
        return this.#delete(request, context, op);
      case OpCode.SET_ACL:
        return this.#setAcl(request, context, op);
      case OpCode.CHECK:
        return this.#check(request, context, op);
      case OpCode.RECONFIG:
        return ErrorCode.RECONFIG_DISABLED;
      default:
        return ErrorCode.UNIMPLEMENTED;
    }
  }

  /** Whether a client may change the ensemble's configuration. */
  mayReconfig(context: Readonly<PrepareContext>): boolean {
    const { bytes, start, end } = CONFIG_NODE;
    const pending = this.#pending.find(bytes, start, end);
    const node = pending === undefined ? this.#state.store.find(bytes, start, end) : NO_NODE;
    return this.#parts.may(context, pending, node, Permission.WRITE);
  }

  /**
   * A change of the ensemble's configuration, which the node shows from its transaction on; its
   * version stays -1.
   */
  reconfig(text: Uint8Array, context: Readonly<PrepareContext>, op: TxnOp, needsNoPermission: boolean): ErrorCode {
    clearTxnOp(op, OpCode.SET_DATA);
    const { bytes, start, end } = CONFIG_NODE;
    const { store } = this.#state;
    const pending = this.#pending.find(bytes, start, end);
    const node = pending === undefined ? store.find(bytes, start, end) : NO_NODE;
    if (pending === undefined ? node === NO_NODE : !pending.exists) return ErrorCode.NO_NODE;
    if (!needsNoPermission && !this.#parts.may(context, pending, node, Permission.WRITE)) return ErrorCode.NO_AUTH;
    const changed = this.#changes.changeFound(pending, node, bytes, start, end, context.zxid);
    changed.version = VERSION_ANY;
    changed.dataLength = text.length;
    op.node = changed.node;
    op.version = changed.version;
    op.hasData = true;
    setSlice(op.path, bytes, start, end);
    setSlice(op.data, text, 0, text.length);
    return ErrorCode.OK;
  }

  #delete(request: Readonly<Request>, context: Readonly<PrepareContext>, op: TxnOp): ErrorCode {
    if (!request.hasPath) return ErrorCode.MARSHALLING_ERROR;
    const { bytes, start, end } = request.path;
    if (!isDeletable(request.path)) return ErrorCode.BAD_ARGUMENTS;
    const { store } = this.#state;
    const parentEnd = parentEndOf(start, lastSlash(bytes, start, end));
    const parentPending = this.#pending.find(bytes, start, parentEnd);
    const parentNode = store.find(bytes, start, parentEnd);
    if (parentPending === undefined ? parentNode === NO_NODE : !parentPending.exists) return ErrorCode.NO_NODE;
    if (!this.#parts.may(context, parentPending, parentNode, Permission.DELETE)) return ErrorCode.NO_AUTH;

    const pending = this.#pending.find(bytes, start, end);
    const node = pending === undefined ? store.find(bytes, start, end) : NO_NODE;
    if (pending === undefined ? node === NO_NODE : !pending.exists) return ErrorCode.NO_NODE;
    const version = pending?.version ?? store.statInt(node, StatOffset.version);
    if (request.version !== VERSION_ANY && request.version !== version) return ErrorCode.BAD_VERSION;
    if ((pending?.childCount ?? store.childCount(node)) > 0) return ErrorCode.NOT_EMPTY;

    setSlice(op.path, bytes, start, end);
    const parent = this.#changes.changeFound(parentPending, parentNode, bytes, start, parentEnd, context.zxid);
    this.#changes.recordDelete(op, parent, this.#changes.changeFound(pending, node, bytes, start, end, context.zxid));
    return ErrorCode.OK;
  }

  #setData(request: Readonly<Request>, context: Readonly<PrepareContext>, op: TxnOp): ErrorCode {
    const { bytes, start, end } = request.path;
    if (!isValidPath(bytes, start, end)) return ErrorCode.BAD_ARGUMENTS;
    const { store } = this.#state;
    const pending = this.#pending.find(bytes, start, end);
    const node = pending === undefined ? store.find(bytes, start, end) : NO_NODE;
    if (pending === undefined ? node === NO_NODE : !pending.exists) return ErrorCode.NO_NODE;
    if (!this.#parts.may(context, pending, node, Permission.WRITE)) return ErrorCode.NO_AUTH;
    const dataLength = request.data.end - request.data.start;
    if (this.#limits.isLongQuotaText(request.path, dataLength, context)) return ErrorCode.BAD_ARGUMENTS;
    const lengthBefore = pending?.dataLength ?? store.statInt(node, StatOffset.dataLength);
    const overQuota = this.#limits.judgeQuota(request.path, 0, dataLength - lengthBefore, context);
    if (overQuota !== ErrorCode.OK) return overQuota;
    if (!this.#limits.hasRoom(dataLength - lengthBefore, context)) return ErrorCode.QUOTA_EXCEEDED;
    const version = pending?.version ?? store.statInt(node, StatOffset.version);
    if (request.version !== VERSION_ANY && request.version !== version) return ErrorCode.BAD_VERSION;

    const changed = this.#changes.changeFound(pending, node, bytes, start, end, context.zxid);
    changed.version = (version + 1) | 0;
    changed.dataLength = dataLength;
    op.node = changed.node;
    op.version = changed.version;
    op.hasData = request.hasData;
    setSlice(op.path, bytes, start, end);
    setSlice(op.data, request.data.bytes, request.data.start, request.data.end);
    return ErrorCode.OK;
  }

  #setAcl(request: Readonly<Request>, context: Readonly<PrepareContext>, op: TxnOp): ErrorCode {
    const { bytes, start, end } = request.path;
    if (!isValidPath(bytes, start, end)) return ErrorCode.BAD_ARGUMENTS;
    const acl = context.fixAcl(request.acl, context.identities);
    if (acl === undefined || acl.length === 0) return ErrorCode.INVALID_ACL;
    const { store } = this.#state;
    const pending = this.#pending.find(bytes, start, end);
    const node = pending === undefined ? store.find(bytes, start, end) : NO_NODE;
    if (pending === undefined ? node === NO_NODE : !pending.exists) return ErrorCode.NO_NODE;
    if (!this.#parts.may(context, pending, node, Permission.ADMIN)) return ErrorCode.NO_AUTH;
    const aversion = pending?.aversion ?? store.statInt(node, StatOffset.aversion);
    if (request.version !== VERSION_ANY && request.version !== aversion) return ErrorCode.BAD_VERSION;

    const aclBefore = pending?.acl ?? this.#state.acls.get(this.#state.store.aclId(node));
    if (!this.#limits.hasRoom(aclBytes(acl) - aclBytes(aclBefore), context)) return ErrorCode.QUOTA_EXCEEDED;
    const changed = this.#changes.changeFound(pending, node, bytes, start, end, context.zxid);
    changed.aversion = (aversion + 1) | 0;
    changed.acl = acl;
    op.node = changed.node;
    op.version = changed.aversion;
    op.acl = acl;
    setSlice(op.path, bytes, start, end);
    return ErrorCode.OK;
  }

  #check(request: Readonly<Request>, context: Readonly<PrepareContext>, op: TxnOp): ErrorCode {
    const { bytes, start, end } = request.path;
    if (!isValidPath(bytes, start, end)) return ErrorCode.BAD_ARGUMENTS;
    const { store } = this.#state;
    const pending = this.#pending.find(bytes, start, end);
    const node = pending === undefined ? store.find(bytes, start, end) : NO_NODE;
    if (pending === undefined ? node === NO_NODE : !pending.exists) return ErrorCode.NO_NODE;
    if (!this.#parts.may(context, pending, node, Permission.READ)) return ErrorCode.NO_AUTH;
    const version = pending?.version ?? store.statInt(node, StatOffset.version);
    if (request.version !== VERSION_ANY && request.version !== version) return ErrorCode.BAD_VERSION;
    op.node = pending?.node ?? store.id(node);
    op.version = version;
    setSlice(op.path, bytes, start, end);
    return ErrorCode.OK;
  }
}

function isDeletable(path: Readonly<ByteSlice>): boolean {
  const { bytes, start, end } = path;
  if (lastSlash(bytes, start, end) < 0 || hasNul(bytes, start, end)) return false;
  return !RESERVED.some((reserved) => sliceEquals(reserved, path));
}
