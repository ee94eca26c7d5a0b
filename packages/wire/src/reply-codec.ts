import {
  type Acl,
  type ByteSlice,
  ChildDetail,
  type ChildPage,
  type ConnectAnswer,
  type ConnectionRef,
  copyBytes,
  type Identity,
  type NodeView,
  OpCode,
  type ReplySink,
  STAT_BYTES,
  type WatchEventType,
  type Zxid,
  zxidHigh,
  zxidLow,
} from "@zooid/model";
import { writeAcl } from "./acl-codec.ts";
import { writeConnectResponse } from "./handshake.ts";
import { JuteWriter, putInt } from "./jute-writer.ts";
import { ListingCache } from "./listing-cache.ts";

/**
 * Replies and notifications as a server writes them:
 *
 * ```
 *  reply          length i32 │ xid i32 │ zxid i64 │ error i32 │ body, where the error is 0
 *  notification   length i32 │     -1  │ zxid i64 │ 0         │ type i32 │ state i32 │ path
 *  multi          length i32 │ xid i32 │ zxid i64 │ 0         │ part … │ -1 │ true │ -1
 *  part           op i32 │ false │ error i32 │ body; for an error the op is -1, the body its code
 * ```
 *
 * The zxid is that of the last transaction that the server has applied: a client that resumes its
 * session elsewhere sends the highest one that it saw, and is served by no server that is behind
 * it. A Stat is copied: the tree keeps its 68 bytes in the form in which they are sent.
 */

/** The frame's length, the xid, the zxid and the error. */
const FRAME_AND_HEADER_BYTES = 20;
const NOTIFICATION_XID = -1;
/** The state of the session in every notification: it is connected. */
const STATE_SYNC_CONNECTED = 3;
/** A larger buffer for a multi's answer is not kept for the next one. */
const MULTI_BYTES_KEPT = 64 * 1024;

/** The encoder's interface to the owner of the connections. */
export interface ReplyTargets {
  /**
   * Where a connection's bytes of this turn are gathered; undefined when it is gone, and what is
   * said to it is lost.
   */
  writer(to: ConnectionRef): JuteWriter | undefined;
  /** The same for a notification, for which the client does not wait. */
  eventWriter(to: ConnectionRef): JuteWriter | undefined;
  /** Whether the client sent the read-only byte and so expects it back. */
  sentReadOnly(to: ConnectionRef): boolean;
  close(to: ConnectionRef): void;
}

/** Encodes answers and events straight into their connections' buffers. */
export class ReplyEncoder implements ReplySink {
  readonly #targets: ReplyTargets;
  /**
   * The open multi's frame. It is written beside the connection's buffer, since events that its ops
   * fire come first there.
   */
  readonly #multi = new JuteWriter();
  readonly #listings = new ListingCache();

  constructor(targets: ReplyTargets) {
    this.#targets = targets;
  }

  connected(to: ConnectionRef, { timeoutMs, session, password, isReadOnly }: ConnectAnswer): void {
    const writer = this.#targets.writer(to);
    if (writer === undefined) return;
    const readOnly = this.#targets.sentReadOnly(to) ? isReadOnly : undefined;
    writeConnectResponse(writer, { timeoutMs, sessionId: session, password, readOnly });
  }

  header(to: ConnectionRef, xid: number, zxid: Zxid | -1, code: number): void {
    const writer = this.#targets.writer(to);
    if (writer !== undefined) frame(writer, 0, xid, zxid, code);
  }

  data(to: ConnectionRef, xid: number, zxid: Zxid, node: NodeView): void {
    const writer = this.#targets.writer(to);
    if (writer === undefined) return;
    const { data } = node;
    frame(writer, 4 + data.end - data.start + STAT_BYTES, xid, zxid, 0);
    putData(writer, node, data);
    putStat(writer, node);
  }

  stat(to: ConnectionRef, xid: number, zxid: Zxid, node: NodeView): void {
    const writer = this.#targets.writer(to);
    if (writer === undefined) return;
    frame(writer, STAT_BYTES, xid, zxid, 0);
    putStat(writer, node);
  }

  children(to: ConnectionRef, xid: number, zxid: Zxid, node: NodeView): void {
    const writer = this.#targets.writer(to);
    if (writer === undefined) return;
    const at = beginReply(writer, xid, zxid);
    this.#listings.write(writer, node);
    writer.endFrame(at);
  }

  childrenAndStat(to: ConnectionRef, xid: number, zxid: Zxid, node: NodeView): void {
    const writer = this.#targets.writer(to);
    if (writer === undefined) return;
    const at = beginReply(writer, xid, zxid);
    this.#listings.write(writer, node);
    writeStat(writer, node);
    writer.endFrame(at);
  }

  aclAndStat(to: ConnectionRef, xid: number, zxid: Zxid, acl: Acl, node: NodeView): void {
    const writer = this.#targets.writer(to);
    if (writer === undefined) return;
    const at = beginReply(writer, xid, zxid);
    writeAcl(writer, acl);
    writeStat(writer, node);
    writer.endFrame(at);
  }

  path(to: ConnectionRef, xid: number, zxid: Zxid, path: Readonly<ByteSlice>): void {
    const writer = this.#targets.writer(to);
    if (writer === undefined) return;
    frame(writer, 4 + path.end - path.start, xid, zxid, 0);
    putSlice(writer, path);
  }

  pathAndStat(to: ConnectionRef, xid: number, zxid: Zxid, path: Readonly<ByteSlice>, node: NodeView): void {
    const writer = this.#targets.writer(to);
    if (writer === undefined) return;
    frame(writer, 4 + path.end - path.start + STAT_BYTES, xid, zxid, 0);
    putSlice(writer, path);
    putStat(writer, node);
  }

  strings(
    to: ConnectionRef,
    xid: number,
    zxid: Zxid,
    each: (show: (value: Readonly<ByteSlice>) => void) => boolean,
  ): boolean {
    const writer = this.#targets.writer(to);
    if (writer === undefined) return true;
    const at = beginReply(writer, xid, zxid);
    const countAt = writer.end;
    writer.int(0);
    let count = 0;
    const isWhole = each((value) => {
      count++;
      writer.slice(value);
    });
    if (!isWhole) {
      writer.end = at;
      return false;
    }
    putInt(writer.bytes, countAt, count);
    writer.endFrame(at);
    return true;
  }

  childPage(to: ConnectionRef, xid: number, zxid: Zxid, page: ChildPage): void {
    const writer = this.#targets.writer(to);
    if (writer === undefined) return;
    const at = beginReply(writer, xid, zxid);
    const { detail } = page;
    writer.int(page.count);
    for (let i = 0; i < page.count; i++) {
      const child = page.child(i);
      writer.slice(child.name);
      if (detail === ChildDetail.NAME) continue;
      const isReadable = page.isReadable(child);
      writer.bool(isReadable);
      if (!isReadable) continue;
      if (detail === ChildDetail.DATA) {
        const { data } = child;
        writer.reserve(4 + data.end - data.start);
        putData(writer, child, data);
      }
      writeStat(writer, child);
    }
    writer.bool(page.isLast);
    writeStat(writer, page.parent());
    writer.endFrame(at);
  }

  integer(to: ConnectionRef, xid: number, zxid: Zxid, value: number): void {
    const writer = this.#targets.writer(to);
    if (writer === undefined) return;
    frame(writer, 4, xid, zxid, 0);
    writer.int(value);
  }

  identities(to: ConnectionRef, xid: number, zxid: Zxid, identities: readonly Identity[]): void {
    const writer = this.#targets.writer(to);
    if (writer === undefined) return;
    const at = beginReply(writer, xid, zxid);
    writer.int(identities.length);
    for (const identity of identities) {
      writer.text(identity.scheme);
      writer.text(identity.id);
    }
    writer.endFrame(at);
  }

  token(to: ConnectionRef, xid: number, zxid: Zxid, code: number, token: Uint8Array | undefined): void {
    const writer = this.#targets.writer(to);
    if (writer === undefined) return;
    frame(writer, 4, xid, zxid, code);
    if (token === undefined) {
      writer.null();
      return;
    }
    const at = writer.end - FRAME_AND_HEADER_BYTES;
    writer.range(token, 0, token.length);
    writer.endFrame(at);
  }

  multiBegin(to: ConnectionRef, xid: number, zxid: Zxid): void {
    this.#multi.end = 0;
    if (this.#targets.writer(to) !== undefined) beginReply(this.#multi, xid, zxid);
  }

  partError(to: ConnectionRef, code: number): void {
    const writer = this.#part(to, OpCode.ERROR, code);
    writer?.int(code);
  }

  partEmpty(to: ConnectionRef, op: number): void {
    this.#part(to, op, 0);
  }

  partPath(to: ConnectionRef, path: Readonly<ByteSlice>): void {
    this.#part(to, OpCode.CREATE, 0)?.slice(path);
  }

  partPathAndStat(to: ConnectionRef, path: Readonly<ByteSlice>, node: NodeView): void {
    const writer = this.#part(to, OpCode.CREATE2, 0);
    if (writer === undefined) return;
    writer.slice(path);
    writeStat(writer, node);
  }

  partStat(to: ConnectionRef, node: NodeView): void {
    const writer = this.#part(to, OpCode.SET_DATA, 0);
    if (writer !== undefined) writeStat(writer, node);
  }

  partData(to: ConnectionRef, node: NodeView): void {
    const writer = this.#part(to, OpCode.GET_DATA, 0);
    if (writer === undefined) return;
    const { data } = node;
    writer.reserve(4 + data.end - data.start + STAT_BYTES);
    putData(writer, node, data);
    putStat(writer, node);
  }

  partChildren(to: ConnectionRef, node: NodeView): void {
    const writer = this.#part(to, OpCode.GET_CHILDREN, 0);
    if (writer !== undefined) this.#listings.write(writer, node);
  }

  multiEnd(to: ConnectionRef): void {
    const writer = this.#targets.writer(to);
    if (writer === undefined) return;
    const multi = this.#multi;
    partHeader(multi, -1, true, -1);
    multi.endFrame(0);
    writer.raw(multi.bytes, 0, multi.end);
    if (multi.bytes.length > MULTI_BYTES_KEPT) multi.clear();
  }

  event(to: ConnectionRef, zxid: Zxid | -1, type: WatchEventType, path: Readonly<ByteSlice>): void {
    const writer = this.#targets.eventWriter(to);
    if (writer === undefined) return;
    frame(writer, 12 + path.end - path.start, NOTIFICATION_XID, zxid, 0);
    writer.int(type);
    writer.int(STATE_SYNC_CONNECTED);
    writer.slice(path);
  }

  close(to: ConnectionRef): void {
    this.#targets.close(to);
  }

  #part(to: ConnectionRef, type: number, code: number): JuteWriter | undefined {
    if (this.#targets.writer(to) === undefined) return undefined;
    partHeader(this.#multi, type, false, code);
    return this.#multi;
  }
}

/**
 * Writes length and header of a reply whose body has a known size, and makes room for that body.
 */
function frame(writer: JuteWriter, bodyBytes: number, xid: number, zxid: number, code: number): void {
  writer.reserve(FRAME_AND_HEADER_BYTES + bodyBytes);
  const { view, end } = writer;
  view.setInt32(end, FRAME_AND_HEADER_BYTES - 4 + bodyBytes);
  view.setInt32(end + 4, xid);
  view.setInt32(end + 8, zxidHigh(zxid));
  view.setInt32(end + 12, zxidLow(zxid));
  view.setInt32(end + 16, code);
  writer.end = end + FRAME_AND_HEADER_BYTES;
}

/** Begins a reply whose size shows only when it is written. */
function beginReply(writer: JuteWriter, xid: number, zxid: Zxid): number {
  const at = writer.beginFrame();
  writer.int(xid);
  writer.zxid(zxid);
  writer.int(0);
  return at;
}

function partHeader(writer: JuteWriter, type: number, done: boolean, code: number): void {
  writer.int(type);
  writer.bool(done);
  writer.int(code);
}

function putData(writer: JuteWriter, node: NodeView, data: Readonly<ByteSlice>): void {
  const length = data.end - data.start;
  // Without data there are no bytes either; only whether it is null is left to ask.
  writer.view.setInt32(writer.end, length === 0 && !node.hasData ? -1 : length);
  if (length > 0) copyBytes(data.bytes, data.start, data.end, writer.bytes, writer.end + 4);
  writer.end += 4 + length;
}

function putSlice(writer: JuteWriter, slice: Readonly<ByteSlice>): void {
  const at = putInt(writer.bytes, writer.end, slice.end - slice.start);
  copyBytes(slice.bytes, slice.start, slice.end, writer.bytes, at);
  writer.end = at + slice.end - slice.start;
}

function putStat(writer: JuteWriter, node: NodeView): void {
  const { view, end } = writer;
  const { statView, statStart } = node;
  // Compiled code copies eight bytes at once so, and makes no bigint.
  for (let i = 0; i < STAT_BYTES - 4; i += 8) view.setBigInt64(end + i, statView.getBigInt64(statStart + i));
  view.setInt32(end + STAT_BYTES - 4, statView.getInt32(statStart + STAT_BYTES - 4));
  writer.end = end + STAT_BYTES;
}

function writeStat(writer: JuteWriter, node: NodeView): void {
  writer.reserve(STAT_BYTES);
  putStat(writer, node);
}
