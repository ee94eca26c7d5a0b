import {
  type Acl,
  type ByteSlice,
  ChildDetail,
  type ChildPage,
  ErrorCode,
  may,
  type NodeView,
  Permission,
  PRICES,
  type Request,
  STAT_BYTES,
  type Zxid,
} from "@zooid/model";
import type { Connection } from "../connections/connection.ts";
import type { GroundParts } from "../parts/ground.ts";
import { readRefusal } from "./read-refusal.ts";
import type { WatchRequests } from "./watch-requests.ts";

interface Parts extends GroundParts {
  readonly watchRequests: WatchRequests;
}

/**
 * Children in one page at most: a turn can look them up and copy them without a delay for others.
 */
const COUNT_MAX = 1000;
/** Bytes of a page: data end it early, so that stock limits on answers hold. */
const BYTES_MAX = 512 * 1024;
const NOTHING: Readonly<ByteSlice> = { bytes: new Uint8Array(0), start: 0, end: 0 };

/**
 * Lists the children of a node in pages, in the order of their names' bytes. A page begins behind a
 * name, which need not exist any more, so nothing is kept between pages: a name that is there all
 * the time is in exactly one of them, whichever server answers, and another one in at most one.
 */
export class ChildPages {
  readonly #parts: Parts;
  readonly #page: TreePage;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#page = new TreePage(parts);
  }

  /**
   * Needs the permission of getChildren; a child's Stat and data need that of a read of the child.
   */
  answer(connection: Connection, request: Request, zxid: Zxid): void {
    const { sinks, tree, requestWork } = this.#parts;
    const { path, xid, mode } = request;
    const { ref } = connection;
    const countMax = request.version;
    if (!request.hasPath || countMax < 1 || mode < ChildDetail.NAME || mode > ChildDetail.DATA) {
      sinks.replies.header(ref, xid, zxid, request.hasPath ? ErrorCode.BAD_ARGUMENTS : ErrorCode.MARSHALLING_ERROR);
      return;
    }
    const node = tree.find(path.bytes, path.start, path.end);
    const code = readRefusal(this.#parts, connection, node, Permission.READ);
    if (code !== ErrorCode.OK) {
      sinks.replies.header(ref, xid, zxid, code);
      return;
    }
    const page = this.#page;
    page.fill(connection, node, request, Math.min(countMax, COUNT_MAX));
    // A node with few children sorts them for each page.
    requestWork.count += Math.min(tree.childCount(node), COUNT_MAX) >> PRICES.childrenOfPagePerUsLog2;
    sinks.replies.childPage(ref, xid, zxid, page);
  }
}

/** The page of the request in hand, over the tree's cursor. */
class TreePage implements ChildPage {
  readonly #parts: Parts;
  readonly #children: number[] = [];
  #connection: Connection | undefined;
  #node = 0;
  /** The last access list, which most siblings share, and what it permits. */
  #acl: Acl | undefined;
  #isReadable = false;
  detail: ChildDetail = ChildDetail.NAME;
  count = 0;
  isLast = false;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  fill(connection: Connection, node: number, { hasData, data, mode }: Request, countMax: number): void {
    this.#connection = connection;
    this.#node = node;
    this.detail = mode as ChildDetail;
    this.isLast = this.#parts.tree.childrenAfter(node, hasData ? data : NOTHING, countMax, this.#children);
    this.#acl = undefined;
    this.count = this.#fits() ? this.#children.length : this.#countWithin(BYTES_MAX);
    if (this.count < this.#children.length) this.isLast = false;
  }

  child(i: number): NodeView {
    return this.#parts.tree.view(this.#children[i] as number);
  }

  isReadable({ acl }: NodeView): boolean {
    if (acl === this.#acl) return this.#isReadable;
    const { auth } = this.#parts;
    this.#acl = acl;
    this.#isReadable =
      this.#connection !== undefined && may(auth.rules, this.#connection.answeredAs, acl, Permission.READ);
    return this.#isReadable;
  }

  parent(): NodeView {
    return this.#parts.tree.view(this.#node);
  }

  /** Whether the children fit, if all of them were the largest: then they need not be looked at. */
  #fits(): boolean {
    const { tree } = this.#parts;
    const dataBytes = this.detail === ChildDetail.DATA ? tree.dataBytesMax : 0;
    return this.#children.length * (tree.listedNameBytesMax + STAT_BYTES + dataBytes) <= BYTES_MAX;
  }

  /** At least one child, so that the listing advances. */
  #countWithin(bytesMax: number): number {
    let bytes = 0;
    for (let i = 0; i < this.#children.length; i++) {
      const { name, data } = this.child(i);
      bytes += name.end - name.start + STAT_BYTES;
      if (this.detail === ChildDetail.DATA) bytes += data.end - data.start;
      if (bytes > bytesMax && i > 0) return i;
    }
    return this.#children.length;
  }
}
