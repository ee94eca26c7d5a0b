import type { ByteSlice } from "../byte-slice.ts";
import type { Acl, Identity } from "../tree/acl-entry.ts";
import type { NodeView } from "../tree/node-view.ts";
import type { SessionId } from "../tree/session.ts";
import type { WatchEventType } from "../tree/watch.ts";
import type { Zxid } from "./zxid.ts";

/** A connection at this server: a small number that is used again after the connection is gone. */
export type ConnectionRef = number & { readonly __brand: "ConnectionRef" };

/** The answer to a connect request. */
export interface ConnectAnswer {
  /** 0 says that the session is gone; the connection is closed afterwards. */
  readonly timeoutMs: number;
  readonly session: SessionId;
  readonly password: Readonly<ByteSlice>;
  /** The server has no quorum and serves reads only. */
  readonly isReadOnly: boolean;
}

/** The facts of each child in a page, beside its name. */
export const ChildDetail = { NAME: 0, STAT: 1, DATA: 2 } as const;
export type ChildDetail = (typeof ChildDetail)[keyof typeof ChildDetail];

/**
 * A page of children, seen through the tree's one cursor: each view is valid until the next call.
 */
export interface ChildPage {
  readonly detail: ChildDetail;
  readonly count: number;
  /** Whether no child follows. */
  readonly isLast: boolean;
  child(i: number): NodeView;
  /**
   * Whether the client may read that child; of others only the name is shown. Asked right after
   * `child`.
   */
  isReadable(view: NodeView): boolean;
  /** The node itself. */
  parent(): NodeView;
}

/**
 * Where answers and events go, in the order in which the client must see them. `@zooid/wire`
 * implements it over bytes, the simulator by recording. Arguments are valid during the call only.
 *
 * A multi is answered between `multiBegin` and `multiEnd` by one part for each of its ops.
 */
export interface ReplySink {
  connected(to: ConnectionRef, answer: ConnectAnswer): void;
  /** An answer without a body: success (0) of delete, ping, setWatches, …, or any refusal. */
  header(to: ConnectionRef, xid: number, zxid: Zxid | -1, code: number): void;
  data(to: ConnectionRef, xid: number, zxid: Zxid, node: NodeView): void;
  stat(to: ConnectionRef, xid: number, zxid: Zxid, node: NodeView): void;
  children(to: ConnectionRef, xid: number, zxid: Zxid, node: NodeView): void;
  childrenAndStat(to: ConnectionRef, xid: number, zxid: Zxid, node: NodeView): void;
  aclAndStat(to: ConnectionRef, xid: number, zxid: Zxid, acl: Acl, node: NodeView): void;
  path(to: ConnectionRef, xid: number, zxid: Zxid, path: Readonly<ByteSlice>): void;
  pathAndStat(to: ConnectionRef, xid: number, zxid: Zxid, path: Readonly<ByteSlice>, node: NodeView): void;
  /**
   * A list of strings, which `each` hands over one by one. Where `each` returns false, nothing is
   * answered, and another answer has to follow.
   *
   * @returns what `each` returned
   */
  strings(
    to: ConnectionRef,
    xid: number,
    zxid: Zxid,
    each: (show: (value: Readonly<ByteSlice>) => void) => boolean,
  ): boolean;
  /**
   * A run of a node's children in the order of their names; then whether it is the last one, and
   * the node's Stat.
   */
  childPage(to: ConnectionRef, xid: number, zxid: Zxid, page: ChildPage): void;
  /** A body of one number: a count, or the 0 that addWatch is answered with. */
  integer(to: ConnectionRef, xid: number, zxid: Zxid, value: number): void;
  /** An identity of a connection as it may be shown: the id names a user and has no hash. */
  identities(to: ConnectionRef, xid: number, zxid: Zxid, identities: readonly Identity[]): void;
  /**
   * The answer to a step of SASL. Undefined is the protocol's null, which is said with a refusal
   * too.
   */
  token(to: ConnectionRef, xid: number, zxid: Zxid, code: number, token: Uint8Array | undefined): void;
  multiBegin(to: ConnectionRef, xid: number, zxid: Zxid): void;
  partError(to: ConnectionRef, code: number): void;
  /** A part without a body: delete, check. */
  partEmpty(to: ConnectionRef, op: number): void;
  partPath(to: ConnectionRef, path: Readonly<ByteSlice>): void;
  partPathAndStat(to: ConnectionRef, path: Readonly<ByteSlice>, node: NodeView): void;
  partStat(to: ConnectionRef, node: NodeView): void;
  partData(to: ConnectionRef, node: NodeView): void;
  partChildren(to: ConnectionRef, node: NodeView): void;
  multiEnd(to: ConnectionRef): void;
  event(to: ConnectionRef, zxid: Zxid | -1, type: WatchEventType, path: Readonly<ByteSlice>): void;
  /** Nothing more will be said on this connection: send what was said, then close it. */
  close(to: ConnectionRef): void;
}
