import {
  type Acl,
  assertNever,
  CHANGES_COUNT_MAX,
  type HistoryAnswer,
  type HistoryQuery,
  laterOf,
  OpCode,
  PAST_NAMES_BYTES_MAX,
  type PastChange,
  type PastMoment,
  type TxnOp,
  type Zxid,
} from "@zooid/model/storage";
import { StoreError } from "../store-error.ts";
import type { HistoryReader } from "./history-reader.ts";

const UNKNOWN = { kind: "unknown" } as const;
/** Blocks that are read for the children of a node at a moment: some 0.3 s. */
const CHILDREN_BLOCKS_MAX = 2048;

/** Blocks of one page: some tens of milliseconds. */
const BLOCKS_MAX = 256;
/** A page ends behind the transaction that brings its data to that many bytes. */
const DATA_BYTES_MAX = 512 * 1024;

/** Answers a client's question, in bounded time but for what only a base has. */
export function answerHistory(reader: HistoryReader, query: HistoryQuery): HistoryAnswer {
  try {
    switch (query.kind) {
      case "node":
        return nodeOf(reader, query);
      case "children":
        return childrenOf(reader, query);
      case "changes":
        return changesOf(reader, query);
      default:
        return assertNever(query);
    }
  } catch (cause) {
    if (!(cause instanceof StoreError) && !(cause instanceof Error && "code" in cause)) throw cause;
    return { kind: "failed", reason: cause.message };
  }
}

type MomentQuery = Exclude<HistoryQuery, { kind: "changes" }>;

function nodeOf(reader: HistoryReader, { path, at }: MomentQuery): HistoryAnswer {
  const zxid = zxidOf(reader, at);
  const answer = zxid === undefined ? UNKNOWN : reader.nodeAt(Buffer.from(path), zxid);
  return answer.kind === "unknown" ? UNKNOWN : answer;
}

function childrenOf(reader: HistoryReader, { path, at }: MomentQuery): HistoryAnswer {
  const zxid = zxidOf(reader, at);
  if (zxid === undefined) return UNKNOWN;
  const limits = { blocksMax: CHILDREN_BLOCKS_MAX, namesBytesMax: PAST_NAMES_BYTES_MAX };
  const answer = reader.childrenAt(Buffer.from(path), zxid, limits);
  if (answer.kind !== "children") return answer.kind === "unknown" ? UNKNOWN : answer;
  return { kind: "children", acl: answer.node.acl, names: answer.names };
}

function zxidOf(reader: HistoryReader, at: PastMoment): Zxid | undefined {
  return "zxid" in at ? at.zxid : reader.zxidAt(at.timeMs);
}

function changesOf(reader: HistoryReader, query: Extract<HistoryQuery, { kind: "changes" }>): HistoryAnswer {
  const range = reader.range();
  if (range === undefined) return UNKNOWN;
  const path = Buffer.from(query.path);
  // Behind no transaction: where the history begins.
  const after = query.after === 0 ? laterOf(query.after, range.after) : query.after;
  const countMax = Math.min(CHANGES_COUNT_MAX, query.countMax);
  const lists = new ListsInForce(reader, path);
  const changes: PastChange[] = [];
  let dataBytes = 0;
  const page = reader.changes({ path, scope: "node", after, blocksMax: BLOCKS_MAX, countMax }, (header, op) => {
    const { zxid, timeMs } = header;
    const data = op.hasData ? Buffer.from(op.data.bytes.subarray(op.data.start, op.data.end)) : null;
    const acl = lists.behind(op);
    changes.push({ zxid, timeMs, op: op.op, data: hasValue(op) ? data : null, version: versionOf(op), acl });
    dataBytes += data?.length ?? 0;
    return dataBytes < DATA_BYTES_MAX && changes.length < countMax;
  });
  for (const [i, change] of changes.entries()) {
    if (change.acl === undefined) changes[i] = { ...change, acl: lists.before(change.zxid) };
    else break;
  }
  return { kind: "changes", changes, ...page };
}

/** The access lists of a node, from change to change. */
class ListsInForce {
  readonly #reader: HistoryReader;
  readonly #path: Buffer;
  #acl: Acl | undefined;
  /** What was in force before the first change, once it was looked up. */
  #before: { readonly acl: Acl | undefined } | undefined;

  constructor(reader: HistoryReader, path: Buffer) {
    this.#reader = reader;
    this.#path = path;
  }

  /** Undefined before the first change that sets one. */
  behind(op: Readonly<TxnOp>): Acl | undefined {
    if (op.op === OpCode.SET_ACL || isCreate(op)) this.#acl = op.acl;
    return this.#acl;
  }

  /** The list before a change that no change before it in the page has set. */
  before(zxid: Zxid): Acl | undefined {
    if (this.#before === undefined) {
      const answer = this.#reader.nodeAt(this.#path, (zxid - 1) as Zxid);
      this.#before = { acl: answer.kind === "node" ? answer.node.acl : undefined };
    }
    return this.#before.acl;
  }
}

function isCreate({ op }: Readonly<TxnOp>): boolean {
  switch (op) {
    case OpCode.CREATE:
    case OpCode.CREATE2:
    case OpCode.CREATE_CONTAINER:
    case OpCode.CREATE_TTL:
      return true;
    default:
      return false;
  }
}

function hasValue(op: Readonly<TxnOp>): boolean {
  return op.op === OpCode.SET_DATA || isCreate(op);
}

function versionOf({ op, version }: Readonly<TxnOp>): number {
  return op === OpCode.SET_DATA || op === OpCode.SET_ACL ? version : 0;
}
