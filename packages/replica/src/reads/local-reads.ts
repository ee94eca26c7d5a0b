import type { DataTree, WatchSink, WatchTable } from "@zooid/data-tree";
import {
  AddWatchMode,
  assert,
  type ByteSlice,
  ErrorCode,
  isAddWatchMode,
  isWatchSelector,
  may,
  newRequest,
  OpCode,
  Permission,
  type ReplySink,
  type Request,
  type RequestDecoder,
  WatchMode,
  WatchTableKind,
  type Zxid,
} from "@zooid/model";
import type { AuthSchemes } from "../auth/auth-schemes.ts";
import type { ReplicaConfig } from "../config.ts";
import type { Connection } from "../connections/connection.ts";
import { nameCount, pathWork } from "../requests/path-work.ts";

/** xid of every answer to a ping, whatever the ping carried. */
const PING_XID = -2;
/** Where watches of the protocol's null stand: a byte that is no UTF-8, so no path that a client writes. */
const NULL_PATH: Readonly<ByteSlice> = { bytes: Uint8Array.of(0xff), start: 0, end: 1 };
/** What one answer may take; see {@link ReplicaConfig}. */
export type LocalReadsLimits = Pick<
  ReplicaConfig,
  | "multiReadBytesMax"
  | "multiReadChildrenMax"
  | "multiReadCountMax"
  | "multiReadNamesMax"
  | "ephemeralsBytesMax"
  | "ephemeralsWorkMax"
  | "childrenBytesMax"
>;
const NAMES_PER_UNIT_LOG2 = 3;
const EPHEMERALS_PER_UNIT_LOG2 = 3;
const ENTRIES_PER_UNIT_LOG2 = 3;
const PARTS_READ_PER_UNIT_LOG2 = 5;
/** One short path of a setWatches. */
const RESTORE_WORK = 2;
/** Data up to this length is small: nobody looks up how small. */
const SMALL_BYTES = 1024;
/** What an entry of an access list is taken for before it is looked at. */
const LISTED_ENTRY_BYTES = 64;
const NO_PREFIX: Readonly<ByteSlice> = { bytes: new Uint8Array(0), start: 0, end: 0 };
const SLASH = 0x2f;
const SPACE = 0x20;

/** Answers what changes nothing from this server's own tree: reads, watches, pings, sync. */
export class LocalReads {
  readonly #tree: DataTree;
  readonly #watches: WatchTable;
  readonly #auth: AuthSchemes;
  readonly #replies: ReplySink;
  /** Where a client learns what its watches missed. */
  readonly #missed: WatchSink;
  readonly #part: Request = newRequest();
  /** The nodes of a multiRead's parts; 0 for none. */
  readonly #nodes: number[] = [];
  readonly #limits: LocalReadsLimits;
  /** What answers have cost beside their number: names listed, ephemerals and parts looked at, in units of about a microsecond. */
  #workCount = 0;

  /** @param missed where a client learns what its watches missed */
  constructor(tree: DataTree, auth: AuthSchemes, replies: ReplySink, missed: WatchSink, limits: LocalReadsLimits) {
    this.#tree = tree;
    this.#watches = tree.watches;
    this.#limits = limits;
    this.#auth = auth;
    this.#replies = replies;
    this.#missed = missed;
  }

  get workCount(): number {
    return this.#workCount;
  }

  /** Throws only where a part of the request cannot be read; nothing was answered then. */
  answer(connection: Connection, request: Request, parts: RequestDecoder, zxid: Zxid): void {
    const { ref } = connection;
    const { xid } = request;
    this.#workCount += lookUpWork(request);
    switch (request.op) {
      case OpCode.GET_DATA:
        this.#getData(connection, request, zxid);
        return;
      case OpCode.PING:
        this.#replies.header(ref, PING_XID, zxid, ErrorCode.OK);
        return;
      case OpCode.EXISTS:
        this.#exists(connection, request, zxid);
        return;
      case OpCode.GET_CHILDREN:
      case OpCode.GET_CHILDREN2:
        this.#getChildren(connection, request, zxid);
        return;
      case OpCode.GET_ACL:
        this.#getAcl(connection, request, zxid);
        return;
      case OpCode.SYNC:
        if (request.hasPath) this.#replies.path(ref, xid, zxid, request.path);
        else this.#replies.header(ref, xid, zxid, ErrorCode.MARSHALLING_ERROR);
        return;
      case OpCode.MULTI_READ:
        this.#multiRead(connection, request, parts, zxid);
        return;
      case OpCode.ADD_WATCH:
        this.#addWatch(connection, request, zxid);
        return;
      case OpCode.CHECK_WATCHES:
      case OpCode.REMOVE_WATCHES:
        this.#replies.header(ref, xid, zxid, this.#watchesNamed(connection, request));
        return;
      case OpCode.GET_EPHEMERALS:
        this.#getEphemerals(connection, request, zxid);
        return;
      case OpCode.GET_ALL_CHILDREN_NUMBER:
        this.#getAllChildrenNumber(connection, request, zxid);
        return;
      case OpCode.WHO_AM_I:
        this.#replies.identities(ref, xid, zxid, this.#auth.shown(connection.answeredAs));
        return;
      default:
        this.#replies.header(ref, xid, zxid, ErrorCode.MARSHALLING_ERROR);
    }
  }

  #getData(connection: Connection, request: Request, zxid: Zxid): void {
    if (this.#isPathless(connection, request, zxid)) return;
    const { path } = request;
    const node = this.#tree.find(path.bytes, path.start, path.end);
    const code = this.#refusal(connection, node, Permission.READ);
    if (code !== ErrorCode.OK) {
      this.#replies.header(connection.ref, request.xid, zxid, code);
      return;
    }
    if (request.watch) this.#arm(WatchTableKind.DATA, connection, request);
    this.#replies.data(connection.ref, request.xid, zxid, this.#tree.view(node));
  }

  #exists(connection: Connection, request: Request, zxid: Zxid): void {
    const { path, xid } = request;
    const { ref } = connection;
    if (!request.hasPath || path.bytes.subarray(path.start, path.end).includes(0)) {
      this.#replies.header(ref, xid, zxid, request.hasPath ? ErrorCode.BAD_ARGUMENTS : ErrorCode.MARSHALLING_ERROR);
      return;
    }
    const node = this.#tree.find(path.bytes, path.start, path.end);
    const code = this.#refusal(connection, node, Permission.READ);
    if (code === ErrorCode.NO_AUTH) {
      this.#replies.header(ref, xid, zxid, code);
      return;
    }
    if (request.watch && this.#tree.isWatchable(path)) this.#arm(WatchTableKind.DATA, connection, request);
    if (code === ErrorCode.OK) this.#replies.stat(ref, xid, zxid, this.#tree.view(node));
    else this.#replies.header(ref, xid, zxid, code);
  }

  #getChildren(connection: Connection, request: Request, zxid: Zxid): void {
    if (this.#isPathless(connection, request, zxid)) return;
    const { path, xid } = request;
    const { ref } = connection;
    const node = this.#tree.find(path.bytes, path.start, path.end);
    const code = this.#refusal(connection, node, Permission.READ);
    if (code !== ErrorCode.OK) {
      this.#replies.header(ref, xid, zxid, code);
      return;
    }
    if (!this.#tree.isListable(node, this.#limits.childrenBytesMax)) {
      this.#replies.header(ref, xid, zxid, ErrorCode.MARSHALLING_ERROR);
      return;
    }
    if (request.watch) this.#arm(WatchTableKind.CHILD, connection, request);
    this.#workCount += this.#tree.childCount(node) >> NAMES_PER_UNIT_LOG2;
    const view = this.#tree.view(node);
    if (request.op === OpCode.GET_CHILDREN) this.#replies.children(ref, xid, zxid, view);
    else this.#replies.childrenAndStat(ref, xid, zxid, view);
  }

  #getAcl(connection: Connection, request: Request, zxid: Zxid): void {
    if (this.#isPathless(connection, request, zxid)) return;
    const { path, xid } = request;
    const node = this.#tree.find(path.bytes, path.start, path.end);
    const code = this.#refusal(connection, node, Permission.READ | Permission.ADMIN);
    if (code !== ErrorCode.OK) {
      this.#replies.header(connection.ref, xid, zxid, code);
      return;
    }
    const view = this.#tree.view(node);
    this.#workCount += view.acl.length >> ENTRIES_PER_UNIT_LOG2;
    const isAdmin = may(this.#auth.rules, connection.answeredAs, view.acl, Permission.ADMIN);
    const acl = isAdmin ? view.acl : this.#auth.mask(view.acl);
    this.#replies.aclAndStat(connection.ref, xid, zxid, acl, view);
  }

  /** Each part succeeds or fails by itself. All are read, and the answer is measured, before the first is answered. */
  #multiRead(connection: Connection, request: Request, parts: RequestDecoder, zxid: Zxid): void {
    const { ref } = connection;
    const part = this.#part;
    if (!this.#isAnswerable(parts)) {
      this.#replies.header(ref, request.xid, zxid, ErrorCode.MARSHALLING_ERROR);
      return;
    }
    parts.rewindParts();
    this.#replies.multiBegin(ref, request.xid, zxid);
    for (let i = 0; parts.nextPart(part); i++) {
      const node = this.#nodes[i] as number;
      const code = this.#refusal(connection, node, Permission.READ);
      if (code !== ErrorCode.OK) this.#replies.partError(ref, code);
      else if (part.op === OpCode.GET_DATA) this.#replies.partData(ref, this.#tree.view(node));
      else this.#replies.partChildren(ref, this.#tree.view(node));
    }
    this.#replies.multiEnd(ref);
  }

  /**
   * Whether a multiRead can be answered within its limits. Nothing is measured behind the part that exceeds one; the rest is only read,
   * since a part that cannot be read fails the whole.
   */
  #isAnswerable(parts: RequestDecoder): boolean {
    const { multiReadBytesMax, multiReadChildrenMax, multiReadCountMax, multiReadNamesMax } = this.#limits;
    const part = this.#part;
    let isWithin = true;
    let bytes = 0;
    let children = 0;
    let names = 0;
    this.#nodes.length = 0;
    for (let count = 1; parts.nextPart(part); count++) {
      if (!isWithin) continue;
      names += nameCount(part.path);
      isWithin = part.hasPath && count <= multiReadCountMax && names <= multiReadNamesMax;
      if (!isWithin) continue;
      const node = this.#tree.find(part.path.bytes, part.path.start, part.path.end);
      this.#nodes.push(node);
      if (node === 0) continue;
      if (part.op === OpCode.GET_DATA) bytes += this.#tree.dataLength(node);
      else {
        children += this.#tree.childCount(node);
        isWithin = children <= multiReadChildrenMax;
        if (isWithin) bytes += this.#tree.listingBytes(node, multiReadBytesMax - bytes);
      }
      if (bytes > multiReadBytesMax) isWithin = false;
      this.#workCount++;
    }
    this.#workCount += children >> NAMES_PER_UNIT_LOG2;
    return isWithin;
  }

  /** What the answer to a read takes beside its header, about, were it given now. The request's body has been read. */
  answerBytes({ largestWriteBytes, session }: Connection, { op, path }: Request): number {
    switch (op) {
      case OpCode.GET_DATA: {
        // A write of the same client that is not applied yet may make it as large as that.
        const largest = Math.max(this.#tree.dataBytesMax, largestWriteBytes);
        if (largest <= SMALL_BYTES) return largest;
        return Math.max(largestWriteBytes, this.#dataLengthAt(path));
      }
      case OpCode.GET_CHILDREN:
      case OpCode.GET_CHILDREN2:
        return this.#childCountAt(path) * this.#tree.listedNameBytesMax;
      case OpCode.GET_EPHEMERALS:
        if (session === undefined || this.#tree.ephemeralCountOf(session.idHigh, session.idLow) === 0) return 0;
        return Number.POSITIVE_INFINITY;
      case OpCode.GET_ACL:
        return this.#aclLengthAt(path) * LISTED_ENTRY_BYTES;
      case OpCode.MULTI_READ:
      case OpCode.SET_WATCHES:
      case OpCode.SET_WATCHES2:
        return Number.POSITIVE_INFINITY;
      default:
        return 0;
    }
  }

  #dataLengthAt({ bytes, start, end }: Readonly<ByteSlice>): number {
    const node = this.#tree.find(bytes, start, end);
    return node === 0 ? 0 : this.#tree.dataLength(node);
  }

  #childCountAt({ bytes, start, end }: Readonly<ByteSlice>): number {
    const node = this.#tree.find(bytes, start, end);
    return node === 0 ? 0 : this.#tree.childCount(node);
  }

  #aclLengthAt({ bytes, start, end }: Readonly<ByteSlice>): number {
    const node = this.#tree.find(bytes, start, end);
    return node === 0 ? 0 : this.#tree.view(node).acl.length;
  }

  /** Whether the path is the protocol's null, which names no node and is refused. */
  #isPathless({ ref }: Connection, { hasPath, xid }: Request, zxid: Zxid): boolean {
    if (!hasPath) this.#replies.header(ref, xid, zxid, ErrorCode.MARSHALLING_ERROR);
    return !hasPath;
  }

  /**
   * Reads paths of a setWatches, from where the decoder stands, and throws where one cannot be read.
   *
   * @param workMax what to do now, and one path at least
   * @returns whether it was the last path
   */
  checkSetWatches(parts: RequestDecoder, workMax: number): boolean {
    const countMax = Math.max(1, workMax << PARTS_READ_PER_UNIT_LOG2);
    let count = 0;
    while (count < countMax && parts.nextPart(this.#part)) count++;
    this.#workCount += count >> PARTS_READ_PER_UNIT_LOG2;
    return count < countMax;
  }

  /**
   * Arms watches again that a client had on another connection, or tells at once what they have missed, as far as the client may read it.
   * Events come before the answer. The paths are taken from where the decoder stands.
   *
   * @param workMax what to do now, and one path at least
   * @returns whether it was the last path, and the request is answered
   */
  setWatches(connection: Connection, request: Request, parts: RequestDecoder, zxid: Zxid, workMax: number): boolean {
    const { ref } = connection;
    const part = this.#part;
    const workEnd = this.#workCount + workMax;
    while (parts.nextPart(part)) {
      this.#tree.restoreWatch(part.mode, part.path, ref, request.relativeZxid, this.#missed);
      this.#workCount += RESTORE_WORK + pathWork(part.path);
      if (this.#workCount >= workEnd) return false;
    }
    this.#replies.header(ref, request.xid, zxid, ErrorCode.OK);
    return true;
  }

  /** Arms a watch that stays, on any path: it need not exist, be readable or be a path, and may be null, as in Apache. */
  #addWatch({ ref }: Connection, { hasPath, mode, path, xid }: Request, zxid: Zxid): void {
    if (!isAddWatchMode(mode)) {
      this.#replies.header(ref, xid, zxid, ErrorCode.MARSHALLING_ERROR);
      return;
    }
    const watched = hasPath ? path : NULL_PATH;
    const { bytes, start, end } = watched;
    if (!this.#tree.isWatchable(watched)) return this.#replies.integer(ref, xid, zxid, ErrorCode.OK);
    if (mode === AddWatchMode.PERSISTENT) this.#watches.armPersistent(bytes, start, end, ref);
    else this.#watches.armRecursive(bytes, start, end, ref);
    this.#replies.integer(ref, xid, zxid, ErrorCode.OK);
  }

  /** Looks for watches of the connection, and takes them away where that was asked. */
  #watchesNamed({ ref }: Connection, { op, hasPath, mode, path }: Request): ErrorCode {
    if (!isWatchSelector(mode)) return ErrorCode.MARSHALLING_ERROR;
    const { bytes, start, end } = hasPath ? path : NULL_PATH;
    const isFound =
      op === OpCode.REMOVE_WATCHES
        ? this.#watches.remove(bytes, start, end, ref, mode)
        : this.#watches.contains(bytes, start, end, ref, mode);
    return isFound ? ErrorCode.OK : ErrorCode.NO_WATCHER;
  }

  /** The prefix is text and knows no path: `/a` is one of `/ab`. A blank one, or the root, or none, asks for all. */
  #getEphemerals({ ref, session }: Connection, { path, xid }: Request, zxid: Zxid): void {
    assert(session !== undefined, "an open connection has a session");
    const { ephemeralsBytesMax, ephemeralsWorkMax } = this.#limits;
    const { idHigh, idLow } = session;
    const prefix = isBlankOrRoot(path) ? NO_PREFIX : path;
    const limits = { bytesMax: ephemeralsBytesMax, workMax: ephemeralsWorkMax };
    const isAnswered = this.#replies.strings(ref, xid, zxid, (show) =>
      this.#tree.forEachEphemeralPath(idHigh, idLow, prefix, limits, show),
    );
    this.#workCount += this.#tree.ephemeralWork >> EPHEMERALS_PER_UNIT_LOG2;
    if (!isAnswered) this.#replies.header(ref, xid, zxid, ErrorCode.MARSHALLING_ERROR);
  }

  #getAllChildrenNumber(connection: Connection, request: Request, zxid: Zxid): void {
    if (this.#isPathless(connection, request, zxid)) return;
    const { path, xid } = request;
    const node = this.#tree.find(path.bytes, path.start, path.end);
    const code = this.#refusal(connection, node, Permission.READ);
    if (code !== ErrorCode.OK) {
      this.#replies.header(connection.ref, xid, zxid, code);
      return;
    }
    // To Apache the root itself lies below the empty path, which names it too.
    const rootBelow = path.start === path.end ? 1 : 0;
    this.#replies.integer(connection.ref, xid, zxid, this.#tree.descendantCount(node) + rootBelow);
  }

  #arm(kind: WatchTableKind, connection: Connection, request: Request): void {
    const { bytes, start, end } = request.path;
    this.#watches.arm(kind, bytes, start, end, connection.ref, WatchMode.STANDARD);
  }

  #refusal(connection: Connection, node: number, need: number): ErrorCode {
    if (node === 0) return ErrorCode.NO_NODE;
    const { acl } = this.#tree.view(node);
    return may(this.#auth.rules, connection.answeredAs, acl, need) ? ErrorCode.OK : ErrorCode.NO_AUTH;
  }
}

/** What looking up the path of a read takes, where it has one of its own; see {@link pathWork}. */
export function lookUpWork({ op, hasPath, path }: Request): number {
  switch (op) {
    case OpCode.PING:
    case OpCode.WHO_AM_I:
    case OpCode.MULTI_READ:
    case OpCode.SET_WATCHES:
    case OpCode.SET_WATCHES2:
      return 0;
    default:
      return hasPath ? pathWork(path) : 0;
  }
}

/** Blanks are what Java's `trim` takes away: bytes up to a space. */
function isBlankOrRoot({ bytes, start, end }: Readonly<ByteSlice>): boolean {
  let first = start;
  let last = end;
  while (first < last && (bytes[first] as number) <= SPACE) first++;
  while (last > first && (bytes[last - 1] as number) <= SPACE) last--;
  return first === last || (last - first === 1 && bytes[first] === SLASH);
}
