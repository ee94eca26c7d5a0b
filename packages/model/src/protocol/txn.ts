import { type ByteSlice, emptySlice, setSlice } from "../byte-slice.ts";
import { OPEN_ACL } from "../tree/acl.ts";
import type { Acl } from "../tree/acl-entry.ts";
import type { FrameBatch } from "./txn-frame.ts";
import { ZXID_NONE, type Zxid } from "./zxid.ts";

const NO_BYTES = new Uint8Array(0);

/**
 * A transaction is a decided change: it carries its effects, so that applying it needs no clock, no
 * chance and no permission check, and does the same on every server.
 *
 * It is one header and a run of ops: one for a simple write, several for a multi, the deletes of a
 * session's ephemerals before the op that closes it, and a single error op for a write that was
 * refused (which consumes its zxid all the same). A session with many ephemerals is closed by
 * several transactions: the first ends in BEGIN_CLOSE_SESSION, the last in CLOSE_SESSION.
 *
 * Header and ops are structures that encoder, decoder, tree and state store fill and read again and
 * again; none may keep one.
 */
export interface TxnHeader {
  zxid: Zxid;
  /** The session that asked, as signed halves; both 0 for what servers do by themselves. */
  sessionHigh: number;
  sessionLow: number;
  /** The client's xid; 0 for what servers do by themselves. */
  cxid: number;
  /** The leader's wall clock when it prepared the transaction. */
  timeMs: number;
  /**
   * The server whose client asked, and that server's own count of its requests: together they find
   * the waiting client.
   */
  origin: number;
  originSeq: number;
  /** The request's opcode: MULTI, CLOSE_SESSION, CREATE, … */
  op: number;
  /**
   * The client's address and identities, a line each, where the leader keeps a history; else
   * empty. A digest identity has its user alone, and other schemes than those in use their name.
   */
  who: ByteSlice;
}

/** One effect. Which fields hold anything depends on `op`. */
export interface TxnOp {
  /**
   * CREATE, CREATE2, CREATE_CONTAINER, CREATE_TTL, DELETE, SET_DATA, SET_ACL, CHECK, ERROR,
   * CREATE_SESSION or CLOSE_SESSION, as the client asked it: the form of the answer follows from
   * it. DELETE_CONTAINER, BEGIN_CLOSE_SESSION and RAISE_LEVEL are a leader's own.
   */
  op: number;
  /** The full path, of a sequential node with its suffix. Empty for session ops and errors. */
  path: ByteSlice;
  /**
   * The node's id: never used again, counting up with each create. Creates, deletes, SET_DATA,
   * SET_ACL.
   */
  node: number;
  /** The parent's node id. Creates and deletes. */
  parent: number;
  /** Whether `data` holds bytes; false is ZooKeeper's null. Creates and SET_DATA. */
  hasData: boolean;
  data: ByteSlice;
  /** Creates and SET_ACL. */
  acl: Acl;
  /**
   * The owner as stored, in halves: a session, a container's or a TTL node's marker, or 0. Creates.
   */
  ownerHigh: number;
  ownerLow: number;
  /**
   * The version that results: of the data (SET_DATA) or the ACL (SET_ACL). RAISE_LEVEL: the level.
   */
  version: number;
  /** How many children the parent was ever given, this one counted. Creates. */
  parentCversion: number;
  /** ERROR: the code to answer; for a multi also which of how many ops failed. */
  code: number;
  failedIndex: number;
  opCount: number;
  /** CREATE_SESSION: the negotiated timeout and the first bytes of the password's SHA-256. */
  timeoutMs: number;
  passwordHash: ByteSlice;
}

export function newTxnHeader(): TxnHeader {
  const numbers = { sessionHigh: 0, sessionLow: 0, cxid: 0, timeMs: 0, origin: 0, originSeq: 0, op: 0 };
  return { zxid: ZXID_NONE, ...numbers, who: emptySlice() };
}

export function newTxnOp(): TxnOp {
  return {
    op: 0,
    path: emptySlice(),
    node: 0,
    parent: 0,
    hasData: false,
    data: emptySlice(),
    acl: OPEN_ACL,
    ownerHigh: 0,
    ownerLow: 0,
    version: 0,
    parentCversion: 0,
    code: 0,
    failedIndex: 0,
    opCount: 0,
    timeoutMs: 0,
    passwordHash: emptySlice(),
  };
}

/** Leaves nothing of what an op said before: an encoder writes every field that says something. */
export function clearTxnOp(op: TxnOp, kind: number): void {
  op.op = kind;
  setSlice(op.path, NO_BYTES, 0, 0);
  op.node = 0;
  op.parent = 0;
  op.hasData = false;
  setSlice(op.data, NO_BYTES, 0, 0);
  op.acl = OPEN_ACL;
  op.ownerHigh = 0;
  op.ownerLow = 0;
  op.version = 0;
  op.parentCversion = 0;
  op.code = 0;
  op.failedIndex = 0;
  op.opCount = 0;
  op.timeoutMs = 0;
  setSlice(op.passwordHash, NO_BYTES, 0, 0);
}

/**
 * Writes transactions, one after another, into a batch. Implemented by `@zooid/wire/txn`; handed to
 * the core, which knows no bytes.
 */
export interface TxnEncoder {
  /** Opens a transaction. What follows belongs to it until {@link end}. */
  begin(header: Readonly<TxnHeader>): void;
  op(op: Readonly<TxnOp>): void;
  /** Takes back every op since {@link begin}: the request was refused half-way. */
  rewind(): void;
  end(): void;
}

/** Gathers what an encoder wrote into batches for the log and the followers. */
export interface TxnBatcher extends TxnEncoder {
  /** Transactions that were not taken yet, and their bytes. */
  readonly count: number;
  readonly sizeBytes: number;
  /** Bytes of the open transaction so far, its header among them. */
  readonly openBytes: number;
  /**
   * Hands over the oldest batch: all of {@link count}, or as many as one batch may hold. Only
   * between transactions, and only when there is something.
   */
  take(): FrameBatch;
  /** Returns a batch's buffer, which is not read any more. */
  recycle(batch: FrameBatch): void;
}

/** Reads one transaction: header first, then op by op. */
export interface TxnDecoder {
  /** Fills the header and stands before the first op. Throws on bytes that are no transaction. */
  open(bytes: Uint8Array, start: number, end: number, header: TxnHeader): void;
  /** Fills the next op; its slices lie in the bytes that were opened. False after the last. */
  next(op: TxnOp): boolean;
  /** Whether {@link next} would fill one more. */
  readonly hasNext: boolean;
}
