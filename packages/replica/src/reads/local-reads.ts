import {
  assert,
  type ByteSlice,
  ErrorCode,
  may,
  type NodeView,
  OpCode,
  Permission,
  PRICES,
  type Request,
  type RequestDecoder,
  WatchMode,
  WatchTableKind,
  type Zxid,
} from "@zooid/model";
import type { Connection } from "../connections/connection.ts";
import type { GroundParts } from "../parts/ground.ts";
import { ChildPages } from "./child-pages.ts";
import { MultiRead } from "./multi-read.ts";
import { readRefusal } from "./read-refusal.ts";
import { lookUpWork } from "./request-work.ts";
import { featuresView, isFeaturesPath } from "./server-features.ts";
import type { WatchRequests } from "./watch-requests.ts";

interface Parts extends GroundParts {
  readonly watchRequests: WatchRequests;
}

/** The xid of every answer to a ping, whatever the ping's own. */
const PING_XID = -2;
const NO_PREFIX: Readonly<ByteSlice> = { bytes: new Uint8Array(0), start: 0, end: 0 };
const SLASH = 0x2f;
const SPACE = 0x20;

/**
 * Answers requests that change no node from this server's own tree: reads, watches, pings, syncs.
 */
export class LocalReads {
  readonly #parts: Parts;
  readonly #multiReads: MultiRead;
  readonly #childPages: ChildPages;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#multiReads = new MultiRead(parts);
    this.#childPages = new ChildPages(parts);
  }

  /** Throws only where a part of the request is unreadable; then nothing was answered. */
  answer(connection: Connection, request: Request, parts: RequestDecoder, zxid: Zxid): void {
    const { sinks, requestWork } = this.#parts;
    const { replies } = sinks;
    const { ref } = connection;
    const { xid } = request;
    requestWork.count += lookUpWork(request);
    switch (request.op) {
      case OpCode.GET_DATA:
        this.#getData(connection, request, zxid);
        return;
      case OpCode.PING:
        replies.header(ref, PING_XID, zxid, ErrorCode.OK);
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
        if (request.hasPath) replies.path(ref, xid, zxid, request.path);
        else replies.header(ref, xid, zxid, ErrorCode.MARSHALLING_ERROR);
        return;
      case OpCode.MULTI_READ:
        this.#multiReads.answer(connection, request, parts, zxid);
        return;
      case OpCode.ADD_WATCH:
        this.#parts.watchRequests.add(connection, request, zxid);
        return;
      case OpCode.CHECK_WATCHES:
      case OpCode.REMOVE_WATCHES:
        replies.header(ref, xid, zxid, this.#parts.watchRequests.find(connection, request));
        return;
      case OpCode.GET_EPHEMERALS:
        this.#getEphemerals(connection, request, zxid);
        return;
      case OpCode.GET_ALL_CHILDREN_NUMBER:
        this.#getAllChildrenNumber(connection, request, zxid);
        return;
      case OpCode.GET_CHILDREN_PAGE:
        this.#childPages.answer(connection, request, zxid);
        return;
      case OpCode.WHO_AM_I:
        replies.identities(ref, xid, zxid, this.#parts.auth.shown(connection.answeredAs));
        return;
      default:
        replies.header(ref, xid, zxid, ErrorCode.MARSHALLING_ERROR);
    }
  }

  #getData(connection: Connection, request: Request, zxid: Zxid): void {
    const { sinks, tree } = this.#parts;
    if (this.#isPathless(connection, request, zxid)) return;
    const { path } = request;
    const node = tree.find(path.bytes, path.start, path.end);
    const code = readRefusal(this.#parts, connection, node, Permission.READ);
    if (code !== ErrorCode.OK) {
      if (code === ErrorCode.NO_NODE && isFeaturesPath(path))
        sinks.replies.data(connection.ref, request.xid, zxid, this.#features());
      else sinks.replies.header(connection.ref, request.xid, zxid, code);
      return;
    }
    if (request.watch) this.#arm(WatchTableKind.DATA, connection, request);
    sinks.replies.data(connection.ref, request.xid, zxid, tree.view(node));
  }

  #features(): NodeView {
    const { tools, tree } = this.#parts;
    return featuresView(tools.history !== undefined, tree.level);
  }

  #exists(connection: Connection, request: Request, zxid: Zxid): void {
    const { sinks, tree } = this.#parts;
    const { path, xid } = request;
    const { ref } = connection;
    if (!request.hasPath || path.bytes.subarray(path.start, path.end).includes(0)) {
      sinks.replies.header(ref, xid, zxid, request.hasPath ? ErrorCode.BAD_ARGUMENTS : ErrorCode.MARSHALLING_ERROR);
      return;
    }
    const node = tree.find(path.bytes, path.start, path.end);
    const code = readRefusal(this.#parts, connection, node, Permission.READ);
    if (code === ErrorCode.NO_AUTH) {
      sinks.replies.header(ref, xid, zxid, code);
      return;
    }
    if (request.watch && tree.isWatchable(path)) this.#arm(WatchTableKind.DATA, connection, request);
    if (code === ErrorCode.OK) sinks.replies.stat(ref, xid, zxid, tree.view(node));
    else sinks.replies.header(ref, xid, zxid, code);
  }

  #getChildren(connection: Connection, request: Request, zxid: Zxid): void {
    const { config, sinks, tree, requestWork } = this.#parts;
    if (this.#isPathless(connection, request, zxid)) return;
    const { path, xid } = request;
    const { ref } = connection;
    const node = tree.find(path.bytes, path.start, path.end);
    const code = readRefusal(this.#parts, connection, node, Permission.READ);
    if (code !== ErrorCode.OK) {
      sinks.replies.header(ref, xid, zxid, code);
      return;
    }
    if (!tree.isListable(node, config.childrenBytesMax)) {
      sinks.replies.header(ref, xid, zxid, ErrorCode.MARSHALLING_ERROR);
      return;
    }
    if (request.watch) this.#arm(WatchTableKind.CHILD, connection, request);
    requestWork.count += tree.childCount(node) >> PRICES.listedNamesPerUsLog2;
    const view = tree.view(node);
    if (request.op === OpCode.GET_CHILDREN) sinks.replies.children(ref, xid, zxid, view);
    else sinks.replies.childrenAndStat(ref, xid, zxid, view);
  }

  #getAcl(connection: Connection, request: Request, zxid: Zxid): void {
    const { auth, sinks, tree, requestWork } = this.#parts;
    if (this.#isPathless(connection, request, zxid)) return;
    const { path, xid } = request;
    const node = tree.find(path.bytes, path.start, path.end);
    const code = readRefusal(this.#parts, connection, node, Permission.READ | Permission.ADMIN);
    if (code !== ErrorCode.OK) {
      sinks.replies.header(connection.ref, xid, zxid, code);
      return;
    }
    const view = tree.view(node);
    requestWork.count += view.acl.length >> PRICES.aclEntriesPerUsLog2;
    const isAdmin = may(auth.rules, connection.answeredAs, view.acl, Permission.ADMIN);
    const acl = isAdmin ? view.acl : auth.mask(view.acl);
    sinks.replies.aclAndStat(connection.ref, xid, zxid, acl, view);
  }

  /** Refuses the protocol's null as a path. @returns whether it was refused */
  #isPathless({ ref }: Connection, { hasPath, xid }: Request, zxid: Zxid): boolean {
    if (!hasPath) this.#parts.sinks.replies.header(ref, xid, zxid, ErrorCode.MARSHALLING_ERROR);
    return !hasPath;
  }

  /**
   * The prefix is compared as text: `/a` matches `/ab`. A blank one, the root or none matches all.
   */
  #getEphemerals({ ref, session }: Connection, { path, xid }: Request, zxid: Zxid): void {
    const { config, sinks, tree, requestWork } = this.#parts;
    assert(session !== undefined, "an open connection has a session");
    const { ephemeralsBytesMax, ephemeralsWorkMax } = config;
    const { idHigh, idLow } = session;
    const prefix = isBlankOrRoot(path) ? NO_PREFIX : path;
    const limits = { bytesMax: ephemeralsBytesMax, workMax: ephemeralsWorkMax };
    const isAnswered = sinks.replies.strings(ref, xid, zxid, (show) =>
      tree.forEachEphemeralPath(idHigh, idLow, prefix, limits, show),
    );
    requestWork.count += tree.ephemeralWork >> PRICES.listedEphemeralsPerUsLog2;
    if (!isAnswered) sinks.replies.header(ref, xid, zxid, ErrorCode.MARSHALLING_ERROR);
  }

  #getAllChildrenNumber(connection: Connection, request: Request, zxid: Zxid): void {
    const { sinks, tree } = this.#parts;
    if (this.#isPathless(connection, request, zxid)) return;
    const { path, xid } = request;
    const node = tree.find(path.bytes, path.start, path.end);
    const code = readRefusal(this.#parts, connection, node, Permission.READ);
    if (code !== ErrorCode.OK) {
      sinks.replies.header(connection.ref, xid, zxid, code);
      return;
    }
    // To Apache the root itself lies below the empty path, which names it too.
    const rootBelow = path.start === path.end ? 1 : 0;
    sinks.replies.integer(connection.ref, xid, zxid, tree.descendantCount(node) + rootBelow);
  }

  #arm(kind: WatchTableKind, connection: Connection, request: Request): void {
    const { watches } = this.#parts.tree;
    const { bytes, start, end } = request.path;
    watches.arm(kind, bytes, start, end, connection.ref, WatchMode.STANDARD);
  }
}

/** Blank as for Java's `trim`: bytes up to a space. */
function isBlankOrRoot({ bytes, start, end }: Readonly<ByteSlice>): boolean {
  let first = start;
  let last = end;
  while (first < last && (bytes[first] as number) <= SPACE) first++;
  while (last > first && (bytes[last - 1] as number) <= SPACE) last--;
  return first === last || (last - first === 1 && bytes[first] === SLASH);
}
