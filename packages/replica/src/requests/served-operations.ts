import { OpCode } from "@zooid/model";

/**
 * The operations that clients may request. All others, internal operations of servers among them,
 * are answered with UNIMPLEMENTED, and the connection is closed.
 */
const SERVED: ReadonlySet<number> = new Set([
  OpCode.CREATE,
  OpCode.CREATE2,
  OpCode.CREATE_CONTAINER,
  OpCode.CREATE_TTL,
  OpCode.DELETE,
  OpCode.EXISTS,
  OpCode.GET_DATA,
  OpCode.SET_DATA,
  OpCode.GET_ACL,
  OpCode.SET_ACL,
  OpCode.GET_CHILDREN,
  OpCode.GET_CHILDREN2,
  OpCode.SYNC,
  OpCode.PING,
  OpCode.MULTI,
  OpCode.RECONFIG,
  OpCode.MULTI_READ,
  OpCode.SET_WATCHES,
  OpCode.SET_WATCHES2,
  OpCode.ADD_WATCH,
  OpCode.CHECK_WATCHES,
  OpCode.REMOVE_WATCHES,
  OpCode.GET_EPHEMERALS,
  OpCode.GET_ALL_CHILDREN_NUMBER,
  OpCode.GET_CHILDREN_PAGE,
  OpCode.WHO_AM_I,
  OpCode.AUTH,
  OpCode.CLOSE_SESSION,
]);

/** The further ones of a server that keeps a history. */
const OF_HISTORY: ReadonlySet<number> = new Set([OpCode.GET_PAST, OpCode.GET_CHANGES]);

export function isServed(op: number, hasHistory: boolean): boolean {
  return SERVED.has(op) || (hasHistory && OF_HISTORY.has(op));
}
