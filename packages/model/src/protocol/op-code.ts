/**
 * The requests of a client, by the numbers of the protocol. Negative ones are internal to servers,
 * except closeSession.
 */
export const OpCode = {
  NOTIFICATION: 0,
  CREATE: 1,
  DELETE: 2,
  EXISTS: 3,
  GET_DATA: 4,
  SET_DATA: 5,
  GET_ACL: 6,
  SET_ACL: 7,
  GET_CHILDREN: 8,
  SYNC: 9,
  PING: 11,
  GET_CHILDREN2: 12,
  CHECK: 13,
  MULTI: 14,
  CREATE2: 15,
  RECONFIG: 16,
  CHECK_WATCHES: 17,
  REMOVE_WATCHES: 18,
  CREATE_CONTAINER: 19,
  DELETE_CONTAINER: 20,
  CREATE_TTL: 21,
  MULTI_READ: 22,
  AUTH: 100,
  SET_WATCHES: 101,
  SASL: 102,
  GET_EPHEMERALS: 103,
  GET_ALL_CHILDREN_NUMBER: 104,
  SET_WATCHES2: 105,
  ADD_WATCH: 106,
  WHO_AM_I: 107,
  /**
   * Zooid's own, like all from 1001 on: children in the order of their names, with their Stats and
   * data.
   */
  GET_CHILDREN_PAGE: 1001,
  /** A node behind a transaction of the past. */
  GET_PAST: 1002,
  /** A page of the changes of a node. */
  GET_CHANGES: 1003,
  CREATE_SESSION: -10,
  CLOSE_SESSION: -11,
  /**
   * Inside the transactions of servers: a session whose end takes several of them is over from here
   * on.
   */
  BEGIN_CLOSE_SESSION: -12,
  /** Inside the transactions of servers: the feature level is raised. */
  RAISE_LEVEL: -13,
  ERROR: -1,
} as const;

export type OpName = keyof typeof OpCode;
export type OpCode = (typeof OpCode)[OpName];

const nameByCode = new Map<number, OpName>();
for (const name of Object.keys(OpCode) as OpName[]) nameByCode.set(OpCode[name], name);

/** `GET_DATA` for 4; undefined for a number that names nothing. */
export function opName(code: number): OpName | undefined {
  return nameByCode.get(code);
}

/** Whether an answer waits for consensus: the operation consumes a zxid, even where it fails. */
export function isWrite(code: number): boolean {
  switch (code) {
    case OpCode.CREATE:
    case OpCode.CREATE2:
    case OpCode.CREATE_CONTAINER:
    case OpCode.CREATE_TTL:
    case OpCode.DELETE:
    case OpCode.DELETE_CONTAINER:
    case OpCode.SET_DATA:
    case OpCode.SET_ACL:
    case OpCode.MULTI:
    case OpCode.RECONFIG:
    case OpCode.CREATE_SESSION:
    case OpCode.CLOSE_SESSION:
      return true;
    default:
      return false;
  }
}
