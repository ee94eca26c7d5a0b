import {
  type ByteSlice,
  CONTAINER_OWNER_HIGH,
  CONTAINER_OWNER_LOW,
  CreateMode,
  copyBytes,
  ErrorCode,
  isEphemeralMode,
  isSequentialMode,
  isTtlMode,
  isValidPath,
  lastSlash,
  nodeKind,
  OpCode,
  Permission,
  type Request,
  sequenceSuffix,
  setSlice,
  TTL_MS_MAX,
  TTL_OWNER_TAG,
  type TxnOp,
} from "@zooid/model";
import { listedNameBytes } from "../children/listed-bytes.ts";
import { aclBytes } from "../nodes/acl-table.ts";
import { NO_NODE } from "../nodes/node-row.ts";
import type { TreeState } from "../tree-state.ts";
import { hasNul, parentEndOf } from "./path-bytes.ts";
import { isTooLong, SUFFIX_BYTES_MAX } from "./path-limits.ts";
import type { PendingChanges, PendingNode } from "./pending-changes.ts";
import type { PrepareContext } from "./prepare-context.ts";
import type { PrepareParts } from "./prepare-parts.ts";
import type { ProposedChanges } from "./proposed-changes.ts";
import type { WriteLimits } from "./write-limits.ts";

/**
 * Creates become transactions here: a sequential node gets its number, a container or TTL node its
 * marker.
 */
export class CreatePreparer {
  readonly #parts: PrepareParts;
  readonly #state: TreeState;
  readonly #pending: PendingChanges;
  readonly #changes: ProposedChanges;
  readonly #limits: WriteLimits;

  constructor(parts: PrepareParts) {
    this.#parts = parts;
    this.#state = parts.state;
    this.#pending = parts.pending;
    this.#changes = parts.changes;
    this.#limits = parts.limits;
  }

  /** The checks of the mode come first: {@link checkCreateMode}. */
  create(request: Readonly<Request>, context: Readonly<PrepareContext>, op: TxnOp): ErrorCode {
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
    if (!this.#parts.may(context, parentPending, parentNode, Permission.CREATE)) return ErrorCode.NO_AUTH;

    const path = op.path;
    if (isSequentialMode(request.flags)) {
      this.#appendSequence(request.path, parentPending?.created ?? store.created(parentNode), path);
    } else setSlice(path, bytes, start, end);
    if (!isValidPath(path.bytes, path.start, path.end)) return ErrorCode.BAD_ARGUMENTS;

    const pending = this.#pending.find(path.bytes, path.start, path.end);
    if (pending === undefined ? this.#existsBelow(parentNode, path, slash - start) : pending.exists) {
      return ErrorCode.NODE_EXISTS;
    }
    if (parentPending === undefined ? store.owners.isEphemeral(parentNode) : isSession(parentPending)) {
      return ErrorCode.NO_CHILDREN_FOR_EPHEMERALS;
    }
    if (this.#state.quotas.limitsAll(path)) return ErrorCode.BAD_ARGUMENTS;
    const dataLength = request.data.end - request.data.start;
    if (this.#limits.isLongQuotaText(path, dataLength, context)) return ErrorCode.BAD_ARGUMENTS;
    const overQuota = this.#limits.judgeQuota(path, 1, dataLength, context);
    if (overQuota !== ErrorCode.OK) return overQuota;
    if (!this.#limits.hasRoom(path.end - path.start + dataLength + aclBytes(acl), context))
      return ErrorCode.QUOTA_EXCEEDED;

    const nameBytes = listedNameBytes(parentEnd - start, path.end - path.start);
    const listedBytes = (parentPending?.listedBytes ?? store.listings.bytes(parentNode)) + nameBytes;
    if (listedBytes > (context.childrenBytesMax ?? listedBytes)) {
      this.#limits.reportListing(bytes, start, parentEnd, listedBytes, context);
      return ErrorCode.QUOTA_EXCEEDED;
    }

    fillOwner(request, context, op);
    op.acl = acl;
    op.hasData = request.hasData;
    setSlice(op.data, request.data.bytes, request.data.start, request.data.end);
    op.node = Math.max(this.#pending.nextNode, this.#state.nextNode);
    this.#pending.nextNode = op.node + 1;

    const parent = this.#changes.changeFound(parentPending, parentNode, bytes, start, parentEnd, context.zxid);
    parent.created = (parent.created + 1) | 0;
    parent.childCount++;
    parent.listedBytes += nameBytes;
    op.parent = parent.node;
    op.parentCversion = parent.created;
    this.#changes.recordCreate(op, pending, context.zxid);
    return ErrorCode.OK;
  }

  /**
   * Whether the tree has the path, whose name begins after the slash at that offset. Sequence names
   * may add no slash.
   */
  #existsBelow(parentNode: number, path: Readonly<ByteSlice>, slashOffset: number): boolean {
    const name = path.start + slashOffset + 1;
    // "/" itself: the root, which exists.
    if (name >= path.end) return true;
    return parentNode !== NO_NODE && this.#state.store.child(parentNode, path.bytes, name, path.end) !== NO_NODE;
  }

  #appendSequence(path: Readonly<ByteSlice>, counter: number, into: ByteSlice): void {
    const length = path.end - path.start;
    const scratch = this.#parts.scratch.of(length + SUFFIX_BYTES_MAX);
    copyBytes(path.bytes, path.start, path.end, scratch, 0);
    setSlice(into, scratch, 0, length + writeSequence(scratch, length, counter));
  }
}

/**
 * The checks of a create that come before the session's (section 3.5.1, steps 2 to 4).
 * {@link DataTree.prepare} makes them too; they are the first that decide an answer.
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
