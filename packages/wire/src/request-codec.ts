import {
  CreateMode,
  copyRange,
  OpCode,
  type PartsPosition,
  type Request,
  type RequestDecoder,
  WireError,
} from "@zooid/model";
import { AclReader } from "./acl-codec.ts";
import { JuteReader } from "./jute-reader.ts";

/**
 * Requests as a server reads them:
 *
 * ```
 *  request      xid i32 │ op i32 │ body of that op
 *  multi        xid │ 14 │ (op i32 │ false │ -1 │ body of that op) … │ -1 │ true │ -1
 *  setWatches   xid │ 101 or 105 │ last zxid seen i64 │ 3 or 5 lists of paths: data, exists, children, …
 * ```
 *
 * Header and body are read apart, `open` and then `body`: the answer to a malformed body depends on
 * the op, and a request that must wait behind an earlier one is not decoded before its turn. The
 * parts of a multi are read one at a time and as often as it takes, since neither their number nor
 * their sizes are known before the last one.
 */

/** A path is at least its length. */
const STRING_BYTES_MIN = 4;

/** Decodes the requests of the client port in place: slices of the request lie in the frame. */
export class RequestReader implements RequestDecoder {
  readonly #reader = new JuteReader();
  readonly #acls = new AclReader();
  #op = 0;
  #start = 0;
  /**
   * Where the parts of a multi or of setWatches begin, and how far `nextPart` has come in the
   * latter's lists.
   */
  #partsStart = 0;
  #list = -1;
  #leftInList = 0;
  #done = false;

  open(bytes: Uint8Array, start: number, end: number, request: Request): void {
    this.#reader.reset(bytes, start, end);
    this.#start = start;
    request.xid = this.#reader.int();
    request.op = this.#reader.int();
    this.#op = request.op;
  }

  body(request: Request): void {
    const reader = this.#reader;
    switch (request.op) {
      case OpCode.GET_DATA:
      case OpCode.EXISTS:
      case OpCode.GET_CHILDREN:
      case OpCode.GET_CHILDREN2:
        request.hasPath = reader.slice(request.path);
        request.watch = reader.bool();
        return;
      case OpCode.PING:
      case OpCode.CLOSE_SESSION:
      case OpCode.WHO_AM_I:
        return;
      case OpCode.AUTH:
        reader.int();
        request.hasPath = reader.slice(request.path);
        request.hasData = reader.slice(request.data);
        return;
      case OpCode.MULTI:
      case OpCode.MULTI_READ:
        this.#partsStart = reader.at;
        this.rewindParts();
        return;
      case OpCode.SET_WATCHES:
      case OpCode.SET_WATCHES2:
        request.relativeZxid = reader.zxid();
        this.#partsStart = reader.at;
        this.rewindParts();
        return;
      default:
        this.#operation(request);
    }
  }

  rewindParts(): void {
    this.#reader.at = this.#partsStart;
    this.#list = -1;
    this.#leftInList = 0;
    this.#done = false;
  }

  partsPosition(): PartsPosition {
    return { offset: this.#reader.at - this.#start, list: this.#list, leftInList: this.#leftInList };
  }

  goToPart({ offset, list, leftInList }: PartsPosition): void {
    this.#reader.at = this.#start + offset;
    this.#list = list;
    this.#leftInList = leftInList;
    this.#done = false;
  }

  copyFrame(): Uint8Array {
    return copyRange(this.#reader.bytes, this.#start, this.#reader.end);
  }

  nextPart(part: Request): boolean {
    if (this.#done) return false;
    return this.#op === OpCode.SET_WATCHES || this.#op === OpCode.SET_WATCHES2
      ? this.#nextWatch(part)
      : this.#nextOperation(part);
  }

  /** A request's body that may also stand inside a multi. */
  #operation(request: Request): void {
    const reader = this.#reader;
    request.ttlMs = -1;
    switch (request.op) {
      case OpCode.CREATE:
      case OpCode.CREATE2:
      case OpCode.CREATE_CONTAINER:
      case OpCode.CREATE_TTL:
        request.hasPath = reader.slice(request.path);
        request.hasData = reader.slice(request.data);
        request.acl = this.#acls.read(reader);
        request.flags = reader.int();
        if (request.op === OpCode.CREATE_TTL) request.ttlMs = reader.zxid();
        return;
      case OpCode.DELETE:
      case OpCode.CHECK:
        request.hasPath = reader.slice(request.path);
        request.version = reader.int();
        return;
      case OpCode.SET_DATA:
        request.hasPath = reader.slice(request.path);
        request.hasData = reader.slice(request.data);
        request.version = reader.int();
        return;
      case OpCode.SET_ACL:
        request.hasPath = reader.slice(request.path);
        request.acl = this.#acls.read(reader);
        request.version = reader.int();
        return;
      case OpCode.GET_DATA:
      case OpCode.GET_CHILDREN:
        request.hasPath = reader.slice(request.path);
        request.watch = reader.bool();
        return;
      case OpCode.GET_ACL:
      case OpCode.SYNC:
      case OpCode.GET_ALL_CHILDREN_NUMBER:
      case OpCode.GET_EPHEMERALS:
      case OpCode.DELETE_CONTAINER:
        request.hasPath = reader.slice(request.path);
        return;
      case OpCode.GET_CHILDREN_PAGE:
        // The last name of the page before, null for none; the largest number of children; what to
        // show of each.
        request.hasPath = reader.slice(request.path);
        request.hasData = reader.slice(request.data);
        request.version = reader.int();
        request.mode = reader.int();
        return;
      case OpCode.GET_PAST:
        request.hasPath = reader.slice(request.path);
        request.relativeZxid = reader.zxid();
        request.mode = reader.int();
        request.version = reader.int();
        return;
      case OpCode.GET_CHANGES:
        request.hasPath = reader.slice(request.path);
        request.relativeZxid = reader.zxid();
        request.version = reader.int();
        request.mode = reader.int();
        return;
      case OpCode.ADD_WATCH:
      case OpCode.CHECK_WATCHES:
      case OpCode.REMOVE_WATCHES:
        request.hasPath = reader.slice(request.path);
        request.mode = reader.int();
        return;
      case OpCode.RECONFIG:
        request.hasPath = false;
        request.change = {
          joining: reader.text() ?? undefined,
          leaving: reader.text() ?? undefined,
          members: reader.text() ?? undefined,
          fromVersion: reader.zxid(),
        };
        return;
      case OpCode.SASL:
        request.hasData = reader.slice(request.data);
        return;
      default:
        throw new WireError("UNKNOWN_TYPE", `operation ${request.op} has no body that this server knows`);
    }
  }

  #nextOperation(part: Request): boolean {
    const reader = this.#reader;
    const type = reader.int();
    const done = reader.bool();
    reader.int();
    if (done) {
      this.#done = true;
      return false;
    }
    if (!isPart(this.#op, type))
      throw new WireError("UNKNOWN_TYPE", `operation ${type} cannot stand inside operation ${this.#op}`);
    part.op = type;
    this.#operation(part);
    normalizePart(part);
    return true;
  }

  #nextWatch(part: Request): boolean {
    const reader = this.#reader;
    const lists = this.#op === OpCode.SET_WATCHES2 ? 5 : 3;
    while (this.#leftInList === 0) {
      if (++this.#list === lists) {
        this.#done = true;
        return false;
      }
      const count = reader.count(STRING_BYTES_MIN);
      if (count === -1) throw new WireError("VALUE", "a list of watches is null");
      this.#leftInList = count;
    }
    this.#leftInList--;
    part.mode = this.#list;
    part.hasPath = reader.slice(part.path);
    if (!part.hasPath) throw new WireError("VALUE", "a watch's path is null");
    return true;
  }
}

function isPart(outer: number, type: number): boolean {
  if (outer === OpCode.MULTI_READ) return type === OpCode.GET_DATA || type === OpCode.GET_CHILDREN;
  switch (type) {
    case OpCode.CREATE:
    case OpCode.CREATE2:
    case OpCode.CREATE_CONTAINER:
    case OpCode.CREATE_TTL:
    case OpCode.DELETE:
    case OpCode.SET_DATA:
    case OpCode.CHECK:
      return true;
    default:
      return false;
  }
}

/**
 * Changes a part as Apache does while it decodes a multi: the flags of a create decide its kind,
 * and wrong ones fail the whole multi.
 */
function normalizePart(part: Request): void {
  const isCreate =
    part.op === OpCode.CREATE ||
    part.op === OpCode.CREATE2 ||
    part.op === OpCode.CREATE_CONTAINER ||
    part.op === OpCode.CREATE_TTL;
  if (!isCreate) return;
  const isTtl =
    part.flags === CreateMode.PERSISTENT_WITH_TTL || part.flags === CreateMode.PERSISTENT_SEQUENTIAL_WITH_TTL;
  if (part.flags < CreateMode.PERSISTENT || part.flags > CreateMode.PERSISTENT_SEQUENTIAL_WITH_TTL) {
    throw new WireError("VALUE", `create mode ${part.flags} does not exist`);
  }
  if (part.op === OpCode.CREATE_TTL) {
    if (isTtl) return;
    part.op = part.flags === CreateMode.CONTAINER ? OpCode.CREATE_CONTAINER : OpCode.CREATE;
    part.ttlMs = -1;
    return;
  }
  if (isTtl) throw new WireError("VALUE", "a node with a time to live needs operation 21");
  if (part.acl === undefined) throw new WireError("VALUE", "a create inside a multi has no access list");
  if (part.flags === CreateMode.CONTAINER) part.op = OpCode.CREATE_CONTAINER;
}
