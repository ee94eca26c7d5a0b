import { type AddWatchMode, CreateMode, OpCode, Permission, type WatchSelector } from "@zooid/model";
import { JuteWriter } from "@zooid/wire";
import type { WatchLists } from "../model/watches.ts";
import type { Write, WriteRequest } from "../model/writes.ts";

/** A read of one node, which may leave a one-shot watch. */
export interface NodeRead {
  readonly kind: "data" | "exists" | "children";
  readonly path: string;
  readonly watch: boolean;
}

/** A request that changes no node. */
export type Read =
  | NodeRead
  | { readonly kind: "addWatch"; readonly path: string; readonly mode: AddWatchMode }
  | { readonly kind: "checkWatches" | "removeWatches"; readonly path: string; readonly selector: WatchSelector }
  | { readonly kind: "descendants"; readonly path: string }
  | { readonly kind: "ephemerals"; readonly prefix: string }
  | { readonly kind: "ping" }
  | { readonly kind: "auth"; readonly identity: string }
  | { readonly kind: "sync"; readonly path: string }
  | { readonly kind: "setWatches"; readonly lists: WatchLists };

/** A request whose answer the model does not predict. */
export interface HostileRequest {
  readonly kind: "hostile";
  readonly what: string;
  readonly op: number;
  /** Default: the client's next xid. */
  readonly xid?: number;
  readonly body: (writer: JuteWriter) => void;
}

export type SimRequest =
  | HostileRequest
  | { readonly kind: "write"; readonly request: WriteRequest }
  | { readonly kind: "read"; readonly read: Read };

/** The frame, without its length, in which a client sends a request. */
export function encodeRequest(xid: number, { ...request }: SimRequest): Uint8Array {
  const writer = new JuteWriter();
  if (request.kind === "hostile") {
    writer.int(xid);
    writer.int(request.op);
    request.body(writer);
  } else if (request.kind === "read") writeRead(writer, xid, request.read);
  else writeWrite(writer, xid, request.request);
  return writer.bytes.subarray(0, writer.end);
}

function writeRead(writer: JuteWriter, xid: number, read: Read): void {
  switch (read.kind) {
    case "ping":
      writer.int(-2);
      writer.int(OpCode.PING);
      return;
    case "auth":
      writer.int(xid);
      writer.int(OpCode.AUTH);
      writer.int(0);
      writer.text("digest");
      writer.text(read.identity);
      return;
    case "sync":
      writer.int(xid);
      writer.int(OpCode.SYNC);
      writer.text(read.path);
      return;
    case "setWatches":
      writeSetWatches(writer, xid, read.lists);
      return;
    case "addWatch":
      writer.int(xid);
      writer.int(OpCode.ADD_WATCH);
      writer.text(read.path);
      writer.int(read.mode);
      return;
    case "checkWatches":
    case "removeWatches":
      writer.int(xid);
      writer.int(read.kind === "checkWatches" ? OpCode.CHECK_WATCHES : OpCode.REMOVE_WATCHES);
      writer.text(read.path);
      writer.int(read.selector);
      return;
    case "descendants":
      writer.int(xid);
      writer.int(OpCode.GET_ALL_CHILDREN_NUMBER);
      writer.text(read.path);
      return;
    case "ephemerals":
      writer.int(xid);
      writer.int(OpCode.GET_EPHEMERALS);
      writer.text(read.prefix);
      return;
    default:
      writer.int(xid);
      writer.int({ data: OpCode.GET_DATA, exists: OpCode.EXISTS, children: OpCode.GET_CHILDREN }[read.kind]);
      writer.text(read.path);
      writer.bool(read.watch);
  }
}

/** The older request has no lists for persistent watches. */
function writeSetWatches(writer: JuteWriter, xid: number, lists: WatchLists): void {
  const { data, exist, child, persistent, recursive } = lists;
  const hasPersistent = persistent.length + recursive.length > 0;
  writer.int(xid);
  writer.int(hasPersistent ? OpCode.SET_WATCHES2 : OpCode.SET_WATCHES);
  writer.zxid(lists.relativeZxid);
  for (const paths of [data, exist, child, ...(hasPersistent ? [persistent, recursive] : [])]) {
    writer.int(paths.length);
    for (const path of paths) writer.text(path);
  }
}

function writeWrite(writer: JuteWriter, xid: number, request: WriteRequest): void {
  writer.int(xid);
  switch (request.kind) {
    case "close":
      writer.int(OpCode.CLOSE_SESSION);
      return;
    case "one":
      writer.int(opOf(request.write));
      writeBody(writer, request.write);
      return;
    default:
      writer.int(OpCode.MULTI);
      for (const write of request.writes) {
        writeMultiHeader(writer, opOf(write), false);
        writeBody(writer, write);
      }
      writeMultiHeader(writer, -1, true);
  }
}

function writeMultiHeader(writer: JuteWriter, type: number, done: boolean): void {
  writer.int(type);
  writer.bool(done);
  writer.int(-1);
}

const OPS = {
  create: OpCode.CREATE,
  delete: OpCode.DELETE,
  set: OpCode.SET_DATA,
  setAcl: OpCode.SET_ACL,
  check: OpCode.CHECK,
} as const;

function opOf(write: Write): number {
  if (write.kind === "create" && write.reaped !== undefined) {
    return write.reaped.kind === "container" ? OpCode.CREATE_CONTAINER : OpCode.CREATE_TTL;
  }
  return OPS[write.kind];
}

function writeBody(writer: JuteWriter, write: Write): void {
  writer.text(write.path);
  switch (write.kind) {
    case "create":
      writer.text(write.data);
      writeAcl(writer, write.isOwn === true);
      writer.int(modeOf(write));
      if (write.reaped?.kind === "ttl") writer.zxid(write.reaped.ttlMs);
      return;
    case "setAcl":
      writeAcl(writer, write.isOwn);
      writer.int(write.version);
      return;
    case "set":
      writer.text(write.data);
      writer.int(write.version);
      return;
    default:
      writer.int(write.version);
  }
}

/**
 * Every client may read and set the list; the rest is for all, or for the client's own identities.
 */
function writeAcl(writer: JuteWriter, isOwn: boolean): void {
  writer.int(isOwn ? 2 : 1);
  writer.int(isOwn ? Permission.READ | Permission.ADMIN : Permission.ALL);
  writer.text("world");
  writer.text("anyone");
  if (!isOwn) return;
  writer.int(Permission.ALL);
  writer.text("auth");
  writer.text("");
}

function modeOf({ ephemeral, sequential, reaped }: Extract<Write, { kind: "create" }>): number {
  if (reaped?.kind === "container") return CreateMode.CONTAINER;
  if (reaped?.kind === "ttl") {
    return sequential ? CreateMode.PERSISTENT_SEQUENTIAL_WITH_TTL : CreateMode.PERSISTENT_WITH_TTL;
  }
  if (ephemeral) return sequential ? CreateMode.EPHEMERAL_SEQUENTIAL : CreateMode.EPHEMERAL;
  return sequential ? CreateMode.PERSISTENT_SEQUENTIAL : CreateMode.PERSISTENT;
}
