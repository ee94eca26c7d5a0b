import {
  type AccessRules,
  type Acl,
  assert,
  type ByteSlice,
  CONTAINER_OWNER_HIGH,
  CONTAINER_OWNER_LOW,
  CreateMode,
  clearTxnOp,
  copyBytes,
  ErrorCode,
  type Identity,
  isEphemeralMode,
  isSequentialMode,
  isTtlMode,
  isValidPath,
  lastSlash,
  may,
  newTxnOp,
  nodeKind,
  OpCode,
  Permission,
  type Request,
  StatOffset,
  sequenceSuffix,
  setSlice,
  sliceEquals,
  sliceOf,
  TTL_MS_MAX,
  TTL_OWNER_TAG,
  type TxnOp,
  type Zxid,
} from "@zooid/model";
import { aclBytes } from "./acl-table.ts";
import type { Excess } from "./excess.ts";
import { NO_NODE } from "./node-store.ts";
import { isTooLong, SUFFIX_BYTES_MAX } from "./path-limits.ts";
import type { PendingChanges, PendingNode } from "./pending-changes.ts";
import { QUOTA_TEXT_BYTES_MAX } from "./quotas.ts";
import { isDue, type ReapLimits } from "./reapable-nodes.ts";
import { NO_SESSION } from "./session-table.ts";
import type { TreeState } from "./tree-state.ts";

/** What a request is judged by, beside the tree. One structure that the caller fills again for each request. */
export interface PrepareContext {
  sessionHigh: number;
  sessionLow: number;
  /** The session is one that no transaction created, so none would remove what it owns: it may have no ephemerals. */
  isLocal?: boolean;
  identities: readonly Identity[];
  readonly rules: AccessRules;
  /** Of the transaction that the request becomes. */
  zxid: Zxid;
  timeMs: number;
  /** The list to store for the list that a client sent (null: undefined), or undefined to refuse it as invalid. */
  readonly fixAcl: (acl: Acl | undefined, identities: readonly Identity[]) => Acl | undefined;
  /** Whether TTL nodes may be made. */
  readonly isTtlEnabled: boolean;
  /** Whether hard quotas refuse writes, and soft ones are told of. */
  readonly isQuotaEnforced: boolean;
  /** What all clients together may have the tree hold, see {@link DataTree.heldBytes}. */
  readonly heldBytesMax: number;
  /** Whether the client may add so many bytes to a tree that holds so many; absent: it may. */
  readonly mayAdd?: (growthBytes: number, heldBytes: number) => boolean;
  /** A write would go beyond a quota, or beyond what the tree may hold. `refused`: its path, for a hard quota. */
  readonly overQuota: (excess: Excess, refused?: Readonly<ByteSlice>) => void;
}

/** How much of a session's end one transaction may hold; one ephemeral at least. */
export interface CloseLimits {
  readonly opCountMax: number;
  /** Bytes of the ephemerals' paths. */
  readonly pathBytesMax: number;
}

const VERSION_ANY = -1;
const PATH_BYTES_KEPT = 4096;
const RESERVED: readonly Readonly<ByteSlice>[] = ["/", "/zookeeper", "/zookeeper/quota", "/zookeeper/config"].map(
  sliceOf,
);

/**
 * Requests become transactions here: checked against the tree as it will be when all that is proposed has been applied, in the order
 * in which ZooKeeper checks (sections 3.5 and 6 of docs/reference/client-protocol.md), because the first failing check decides the answer.
 */
export class TxnPreparer {
  readonly #state: TreeState;
  readonly #pending: PendingChanges;
  /** The path of a sequential node with its suffix, or of an ephemeral that a closing session takes along. */
  #scratch: Buffer = Buffer.allocUnsafeSlow(PATH_BYTES_KEPT);
  readonly #closing: TxnOp = newTxnOp();

  constructor(state: TreeState, pending: PendingChanges) {
    this.#state = state;
    this.#pending = pending;
  }

  prepare(request: Readonly<Request>, context: Readonly<PrepareContext>, op: TxnOp): ErrorCode {
    clearTxnOp(op, request.op);
    switch (request.op) {
      case OpCode.CREATE:
      case OpCode.CREATE2:
      case OpCode.CREATE_CONTAINER:
      case OpCode.CREATE_TTL:
        return checkCreateMode(request, context) || this.#create(request, context, op);
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

  createSession(
    timeoutMs: number,
    passwordHash: Readonly<ByteSlice>,
    context: Readonly<PrepareContext>,
    op: TxnOp,
  ): void {
    const sessions = this.#state.sessions;
    const row = sessions.findOrAdd(context.sessionHigh, context.sessionLow);
    assert(!sessions.isKnown(row), "a session that is created is not known yet");
    sessions.markCreating(row);
    clearTxnOp(op, OpCode.CREATE_SESSION);
    op.timeoutMs = timeoutMs;
    setSlice(op.passwordHash, passwordHash.bytes, passwordHash.start, passwordHash.end);
  }

  /** See {@link DataTree.prepareCloseSession}. */
  closeSession(
    high: number,
    low: number,
    limits: CloseLimits,
    context: Readonly<PrepareContext>,
    emit: (op: Readonly<TxnOp>) => void,
  ): boolean {
    const { sessions, ephemerals, store } = this.#state;
    const row = sessions.find(high, low);
    const isBegun = row !== NO_SESSION && sessions.isEnding(row);
    if (row !== NO_SESSION && sessions.isKnown(row)) sessions.markClosing(row);
    let count = 0;
    let bytes = 0;
    const hasRoom = (length: number): boolean =>
      count === 0 || (count < limits.opCountMax && bytes + length <= limits.pathBytesMax);
    let isWhole = true;
    for (let node = ephemerals.first(high, low); node !== NO_NODE; node = ephemerals.next(node)) {
      const length = store.pathLength(node);
      const path = this.#scratchOf(length);
      store.writePath(node, path, length);
      const pending = this.#pending.find(path, 0, length);
      if (pending !== undefined && (!pending.exists || pending.node !== store.id(node))) continue;
      isWhole = hasRoom(length);
      if (!isWhole) break;
      this.#closeNode(path, length, context, emit);
      count++;
      bytes += length;
    }
    // rule: ephemerals-in-flight-end-too
    for (; isWhole; count++) {
      const pending = this.#pending.firstOwned(high, low);
      if (pending === undefined) break;
      const { length } = pending;
      isWhole = hasRoom(length);
      if (!isWhole) break;
      const path = this.#scratchOf(length);
      copyBytes(pending.path, 0, length, path, 0);
      this.#closeNode(path, length, context, emit);
      bytes += length;
    }
    if (isWhole || !isBegun) {
      clearTxnOp(this.#closing, isWhole ? OpCode.CLOSE_SESSION : OpCode.BEGIN_CLOSE_SESSION);
      emit(this.#closing);
    }
    return isWhole;
  }

  #closeNode(
    path: Buffer,
    length: number,
    context: Readonly<PrepareContext>,
    emit: (op: Readonly<TxnOp>) => void,
  ): void {
    const op = this.#closing;
    clearTxnOp(op, OpCode.DELETE);
    setSlice(op.path, path, 0, length);
    const parentEnd = parentEndOf(0, lastSlash(path, 0, length));
    const parent = this.#change(path, 0, parentEnd, context.zxid);
    this.#recordDelete(op, parent, this.#change(path, 0, length, context.zxid));
    emit(op);
  }

  /**
   * Whether a container or TTL node goes, since nobody needs it any more: it is due by its kind, and nothing is proposed about it. A change
   * in flight is a need.
   */
  isReapable(node: number, limits: ReapLimits, timeMs: number): boolean {
    const { store } = this.#state;
    if (!isDue(store, node, limits, timeMs)) return false;
    const length = store.pathLength(node);
    const path = this.#scratchOf(length);
    store.writePath(node, path, length);
    return this.#pending.find(path, 0, length) === undefined;
  }

  /** Fills `op` with the removal of a node that {@link isReapable}. */
  reap(node: number, context: Readonly<PrepareContext>, op: TxnOp): void {
    const { store } = this.#state;
    const length = store.pathLength(node);
    const path = this.#scratchOf(length);
    store.writePath(node, path, length);
    assert(this.#pending.find(path, 0, length) === undefined, "nothing is proposed about a node that is reaped");
    clearTxnOp(op, OpCode.DELETE_CONTAINER);
    setSlice(op.path, path, 0, length);
    const parent = this.#change(path, 0, parentEndOf(0, lastSlash(path, 0, length)), context.zxid);
    this.#recordDelete(op, parent, this.#changeFound(undefined, node, path, 0, length, context.zxid));
  }

  #create(request: Readonly<Request>, context: Readonly<PrepareContext>, op: TxnOp): ErrorCode {
    if (!request.hasPath) return ErrorCode.MARSHALLING_ERROR;
    if (context.isLocal === true && isEphemeralMode(request.flags)) return ErrorCode.EPHEMERAL_ON_LOCAL_SESSION;
    const { bytes, start, end } = request.path;
    const slash = lastSlash(bytes, start, end);
    if (slash < 0 || hasNul(bytes, start, end) || isTooLong(request.path)) return ErrorCode.BAD_ARGUMENTS;
    const acl = context.fixAcl(request.acl, context.identities);
    if (acl === undefined || acl.length === 0) return ErrorCode.INVALID_ACL;

    const { store } = this.#state;
    const parentEnd = parentEndOf(start, slash);
    const parentPending = this.#pending.find(bytes, start, parentEnd);
    const parentNode = store.find(bytes, start, parentEnd);
    if (parentPending === undefined ? parentNode === NO_NODE : !parentPending.exists) return ErrorCode.NO_NODE;
    if (!this.#may(context, parentPending, parentNode, Permission.CREATE)) return ErrorCode.NO_AUTH;

    const path = op.path;
    if (isSequentialMode(request.flags)) {
      this.#appendSequence(request.path, parentPending?.created ?? store.created(parentNode), path);
    } else setSlice(path, bytes, start, end);
    if (!isValidPath(path.bytes, path.start, path.end)) return ErrorCode.BAD_ARGUMENTS;

    const pending = this.#pending.find(path.bytes, path.start, path.end);
    if (pending === undefined ? this.#existsBelow(parentNode, path, slash - start) : pending.exists) {
      return ErrorCode.NODE_EXISTS;
    }
    if (parentPending === undefined ? store.isEphemeral(parentNode) : isSession(parentPending)) {
      return ErrorCode.NO_CHILDREN_FOR_EPHEMERALS;
    }
    if (this.#state.quotas.limitsAll(path)) return ErrorCode.BAD_ARGUMENTS;
    const dataLength = request.data.end - request.data.start;
    if (this.#isLongQuotaText(path, dataLength, context)) return ErrorCode.BAD_ARGUMENTS;
    const overQuota = this.#judgeQuota(path, 1, dataLength, context);
    if (overQuota !== ErrorCode.OK) return overQuota;
    if (!this.#hasRoom(path.end - path.start + dataLength + aclBytes(acl), context)) return ErrorCode.QUOTA_EXCEEDED;

    fillOwner(request, context, op);
    op.acl = acl;
    op.hasData = request.hasData;
    setSlice(op.data, request.data.bytes, request.data.start, request.data.end);
    op.node = Math.max(this.#pending.nextNode, this.#state.nextNode);
    this.#pending.nextNode = op.node + 1;

    const parent = this.#changeFound(parentPending, parentNode, bytes, start, parentEnd, context.zxid);
    parent.created = (parent.created + 1) | 0;
    parent.childCount++;
    op.parent = parent.node;
    op.parentCversion = parent.created;
    this.#recordCreate(op, pending, context.zxid);
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
    if (!this.#may(context, parentPending, parentNode, Permission.DELETE)) return ErrorCode.NO_AUTH;

    const pending = this.#pending.find(bytes, start, end);
    const node = pending === undefined ? store.find(bytes, start, end) : NO_NODE;
    if (pending === undefined ? node === NO_NODE : !pending.exists) return ErrorCode.NO_NODE;
    const version = pending?.version ?? store.statInt(node, StatOffset.version);
    if (request.version !== VERSION_ANY && request.version !== version) return ErrorCode.BAD_VERSION;
    if ((pending?.childCount ?? store.childCount(node)) > 0) return ErrorCode.NOT_EMPTY;

    setSlice(op.path, bytes, start, end);
    const parent = this.#changeFound(parentPending, parentNode, bytes, start, parentEnd, context.zxid);
    this.#recordDelete(op, parent, this.#changeFound(pending, node, bytes, start, end, context.zxid));
    return ErrorCode.OK;
  }

  #setData(request: Readonly<Request>, context: Readonly<PrepareContext>, op: TxnOp): ErrorCode {
    const { bytes, start, end } = request.path;
    if (!isValidPath(bytes, start, end)) return ErrorCode.BAD_ARGUMENTS;
    const { store } = this.#state;
    const pending = this.#pending.find(bytes, start, end);
    const node = pending === undefined ? store.find(bytes, start, end) : NO_NODE;
    if (pending === undefined ? node === NO_NODE : !pending.exists) return ErrorCode.NO_NODE;
    if (!this.#may(context, pending, node, Permission.WRITE)) return ErrorCode.NO_AUTH;
    const dataLength = request.data.end - request.data.start;
    if (this.#isLongQuotaText(request.path, dataLength, context)) return ErrorCode.BAD_ARGUMENTS;
    const lengthBefore = pending?.dataLength ?? store.statInt(node, StatOffset.dataLength);
    const overQuota = this.#judgeQuota(request.path, 0, dataLength - lengthBefore, context);
    if (overQuota !== ErrorCode.OK) return overQuota;
    if (!this.#hasRoom(dataLength - lengthBefore, context)) return ErrorCode.QUOTA_EXCEEDED;
    const version = pending?.version ?? store.statInt(node, StatOffset.version);
    if (request.version !== VERSION_ANY && request.version !== version) return ErrorCode.BAD_VERSION;

    const changed = this.#changeFound(pending, node, bytes, start, end, context.zxid);
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
    if (!this.#may(context, pending, node, Permission.ADMIN)) return ErrorCode.NO_AUTH;
    const aversion = pending?.aversion ?? store.statInt(node, StatOffset.aversion);
    if (request.version !== VERSION_ANY && request.version !== aversion) return ErrorCode.BAD_VERSION;

    const aclBefore = pending?.acl ?? this.#state.acls.get(this.#state.store.aclId(node));
    if (!this.#hasRoom(aclBytes(acl) - aclBytes(aclBefore), context)) return ErrorCode.QUOTA_EXCEEDED;
    const changed = this.#changeFound(pending, node, bytes, start, end, context.zxid);
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
    if (!this.#may(context, pending, node, Permission.READ)) return ErrorCode.NO_AUTH;
    const version = pending?.version ?? store.statInt(node, StatOffset.version);
    if (request.version !== VERSION_ANY && request.version !== version) return ErrorCode.BAD_VERSION;
    op.node = pending?.node ?? store.id(node);
    op.version = version;
    setSlice(op.path, bytes, start, end);
    return ErrorCode.OK;
  }

  #may(context: Readonly<PrepareContext>, pending: PendingNode | undefined, node: number, need: number): boolean {
    const acl = pending === undefined ? this.#state.acls.get(this.#state.store.aclId(node)) : pending.acl;
    return may(context.rules, context.identities, acl, need);
  }

  #isLongQuotaText(path: Readonly<ByteSlice>, length: number, { overQuota }: Readonly<PrepareContext>): boolean {
    if (length <= QUOTA_TEXT_BYTES_MAX || !this.#state.quotas.isQuotaText(path)) return false;
    overQuota({ kind: "quota-text", sizeBytes: length, bytesMax: QUOTA_TEXT_BYTES_MAX });
    return true;
  }

  #judgeQuota(
    path: Readonly<ByteSlice>,
    nodes: number,
    bytes: number,
    { isQuotaEnforced, overQuota }: Readonly<PrepareContext>,
  ): ErrorCode {
    if (!isQuotaEnforced) return ErrorCode.OK;
    const excesses = this.#state.quotas.judge(path, nodes, bytes);
    if (excesses === undefined) return ErrorCode.MARSHALLING_ERROR;
    for (const excess of excesses) {
      overQuota(excess, excess.isHard ? path : undefined);
      if (excess.isHard) return ErrorCode.QUOTA_EXCEEDED;
    }
    return ErrorCode.OK;
  }

  /** As with quotas, what is on its way is not counted; that has a bound of its own. What makes the tree smaller is always allowed. */
  #hasRoom(growthBytes: number, { heldBytesMax, mayAdd, overQuota }: Readonly<PrepareContext>): boolean {
    if (growthBytes <= 0) return true;
    if (this.#state.store.isNearlyFull) {
      overQuota({ kind: "tree-pages" });
      return false;
    }
    const { heldBytes } = this.#state;
    if (heldBytes + growthBytes <= heldBytesMax) {
      if (mayAdd === undefined || mayAdd(growthBytes, heldBytes)) return true;
      overQuota({ kind: "client-share", heldBytes, heldBytesMax });
      return false;
    }
    overQuota({ kind: "tree-bytes", heldBytes, heldBytesMax });
    return false;
  }

  /** Whether the tree has the path, whose name begins after the slash at that offset. Sequence names may add no slash. */
  #existsBelow(parentNode: number, path: Readonly<ByteSlice>, slashOffset: number): boolean {
    const name = path.start + slashOffset + 1;
    // "/" itself: the root, which exists.
    if (name >= path.end) return true;
    return parentNode !== NO_NODE && this.#state.store.child(parentNode, path.bytes, name, path.end) !== NO_NODE;
  }

  #appendSequence(path: Readonly<ByteSlice>, counter: number, into: ByteSlice): void {
    const length = path.end - path.start;
    const scratch = this.#scratchOf(length + SUFFIX_BYTES_MAX);
    copyBytes(path.bytes, path.start, path.end, scratch, 0);
    setSlice(into, scratch, 0, length + writeSequence(scratch, length, counter));
  }

  #scratchOf(length: number): Buffer {
    if (this.#scratch.length < length) this.#scratch = Buffer.allocUnsafeSlow(length * 2);
    return this.#scratch;
  }

  #change(bytes: Uint8Array, start: number, end: number, zxid: Zxid): PendingNode {
    const pending = this.#pending.find(bytes, start, end);
    const node = pending === undefined ? this.#state.store.find(bytes, start, end) : NO_NODE;
    return this.#changeFound(pending, node, bytes, start, end, zxid);
  }

  /** The path's record, ready to be changed: the one that was found, or one made from the tree's node. */
  #changeFound(
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
    this.#pending.setExisting(pending, store.ownerHigh(node), store.ownerLow(node));
    pending.node = store.id(node);
    pending.version = store.statInt(node, StatOffset.version);
    pending.aversion = store.statInt(node, StatOffset.aversion);
    pending.created = store.created(node);
    pending.childCount = store.childCount(node);
    pending.dataLength = store.statInt(node, StatOffset.dataLength);
    pending.acl = acls.get(store.aclId(node));
    return pending;
  }

  #recordCreate(op: Readonly<TxnOp>, found: PendingNode | undefined, zxid: Zxid): void {
    let pending = found;
    if (pending === undefined) pending = this.#pending.add(op.path.bytes, op.path.start, op.path.end, zxid);
    else this.#pending.touch(pending, zxid);
    this.#pending.setExisting(pending, op.ownerHigh, op.ownerLow);
    pending.node = op.node;
    pending.version = 0;
    pending.aversion = 0;
    pending.created = 0;
    pending.childCount = 0;
    pending.dataLength = op.data.end - op.data.start;
    pending.acl = op.acl;
  }

  #recordDelete(op: TxnOp, parent: PendingNode, pending: PendingNode): void {
    op.node = pending.node;
    op.parent = parent.node;
    parent.childCount--;
    this.#pending.setDeleted(pending);
  }
}

/**
 * The checks of a create that come before the session's (section 3.5.1, steps 2 to 4). {@link DataTree.prepare} makes them too;
 * they are apart for those who must answer in the exact order even where the session is closing.
 */
export function checkCreateMode(request: Readonly<Request>, context: Readonly<PrepareContext>): ErrorCode {
  const { flags, ttlMs } = request;
  if (flags < CreateMode.PERSISTENT || flags > CreateMode.PERSISTENT_SEQUENTIAL_WITH_TTL)
    return ErrorCode.BAD_ARGUMENTS;
  if (isTtlMode(flags)) {
    if (!context.isTtlEnabled) return ErrorCode.UNIMPLEMENTED;
    return ttlMs > 0 && ttlMs <= TTL_MS_MAX ? ErrorCode.OK : ErrorCode.BAD_ARGUMENTS;
  }
  // Apache accepts createTTL without a TTL and then fails to apply it.
  return ttlMs >= 0 || request.op === OpCode.CREATE_TTL ? ErrorCode.BAD_ARGUMENTS : ErrorCode.OK;
}

function fillOwner(request: Readonly<Request>, context: Readonly<PrepareContext>, op: TxnOp): void {
  if (request.op === OpCode.CREATE_CONTAINER) {
    op.ownerHigh = CONTAINER_OWNER_HIGH;
    op.ownerLow = CONTAINER_OWNER_LOW;
  } else if (isTtlMode(request.flags)) {
    op.ownerHigh = TTL_OWNER_TAG | Math.floor(request.ttlMs / 2 ** 32);
    op.ownerLow = request.ttlMs | 0;
  } else if (isEphemeralMode(request.flags)) {
    op.ownerHigh = context.sessionHigh;
    op.ownerLow = context.sessionLow;
  }
}

function isSession(pending: PendingNode): boolean {
  return nodeKind(pending.ownerHigh, pending.ownerLow) === "ephemeral";
}

/** Where the parent's path ends: before the last slash, or after it when the parent is the root. */
function parentEndOf(start: number, slash: number): number {
  return slash === start ? start + 1 : slash;
}

function isDeletable(path: Readonly<ByteSlice>): boolean {
  const { bytes, start, end } = path;
  if (lastSlash(bytes, start, end) < 0 || hasNul(bytes, start, end)) return false;
  return !RESERVED.some((reserved) => sliceEquals(reserved, path));
}

function hasNul(bytes: Uint8Array, start: number, end: number): boolean {
  for (let i = start; i < end; i++) if (bytes[i] === 0) return true;
  return false;
}

/** The digits of {@link sequenceSuffix} without making a string where it is the usual ten. */
function writeSequence(target: Uint8Array, at: number, counter: number): number {
  if (counter < 0) {
    const text = sequenceSuffix(counter);
    for (let i = 0; i < text.length; i++) target[at + i] = text.charCodeAt(i);
    return text.length;
  }
  let rest = counter;
  for (let i = 9; i >= 0; i--) {
    const tenth = Math.floor(rest / 10);
    target[at + i] = 0x30 + rest - tenth * 10;
    rest = tenth;
  }
  return 10;
}
