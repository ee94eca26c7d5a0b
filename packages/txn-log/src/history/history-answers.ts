import {
  type Acl,
  assertNever,
  type ByteSlice,
  CHANGES_COUNT_MAX,
  type HistoryAnswer,
  type HistoryQuery,
  laterOf,
  OpCode,
  PAST_NAMES_BYTES_MAX,
  type PastChange,
  type PastMoment,
  type TxnOp,
  ZXID_NONE,
  type Zxid,
} from "@zooid/model/storage";
import { StoreError } from "../store/store-error.ts";
import type { HistoryReader } from "./history-reader.ts";
import { RecentPages } from "./recent-pages.ts";
import type { TimePlace } from "./time-places.ts";

/** Blocks that are read for the children of a node at a moment: some 0.3 s. */
const CHILDREN_BLOCKS_MAX = 1024;

/** Blocks of one page: some tens of milliseconds. */
const BLOCKS_MAX = 128;
/** A page ends behind the transaction that brings its data and paths to that many bytes. */
const DATA_BYTES_MAX = 512 * 1024;

/**
 * Answers a client's question, in bounded time but for what only a base has.
 *
 * @param pages of earlier questions
 * @param floor where the log begins
 */
export function answerHistory(
  reader: HistoryReader,
  query: HistoryQuery,
  pages: RecentPages = new RecentPages(),
  floor: Zxid = ZXID_NONE,
): HistoryAnswer {
  try {
    switch (query.kind) {
      case "node":
        return nodeOf(reader, query, floor);
      case "children":
        return childrenOf(reader, query, floor);
      case "changes":
        // Without files the answer changes with the floor.
        return reader.files().length === 0
          ? changesOf(reader, query, floor)
          : pages.answer(reader.files(), query, () => changesOf(reader, query, floor));
      case "acls":
        return { kind: "acls", acls: reader.aclsAt(query.nodes) };
      default:
        return assertNever(query);
    }
  } catch (cause) {
    if (!(cause instanceof StoreError) && !(cause instanceof Error && "code" in cause)) throw cause;
    return { kind: "failed", reason: cause.message };
  }
}

type MomentQuery = Extract<HistoryQuery, { kind: "node" | "children" }>;
type ChangesQuery = Extract<HistoryQuery, { kind: "changes" }>;

function nodeOf(reader: HistoryReader, { path, at }: MomentQuery, floor: Zxid): HistoryAnswer {
  const place = placeOf(reader, at);
  if (place.kind !== "zxid") return unknown(reader, floor, place);
  const answer = reader.nodeAt(Buffer.from(path), place.zxid);
  return answer.kind === "unknown" ? unknown(reader, floor) : answer;
}

function childrenOf(reader: HistoryReader, { path, at }: MomentQuery, floor: Zxid): HistoryAnswer {
  const place = placeOf(reader, at);
  if (place.kind !== "zxid") return unknown(reader, floor, place);
  const limits = { blocksMax: CHILDREN_BLOCKS_MAX, namesBytesMax: PAST_NAMES_BYTES_MAX };
  const answer = reader.childrenAt(Buffer.from(path), place.zxid, limits);
  if (answer.kind === "unknown") return unknown(reader, floor);
  return answer.kind === "children" ? { kind: "children", acl: answer.node.acl, names: answer.names } : answer;
}

function unknown(reader: HistoryReader, floor: Zxid, place?: NoMoment): HistoryAnswer {
  const reach = reader.reach(floor);
  return place === undefined || place.kind === "none"
    ? { kind: "unknown", reach }
    : { kind: "unknown", reach, fault: place };
}

type NoMoment = Exclude<TimePlace, { kind: "zxid" }>;

function placeOf(reader: HistoryReader, at: PastMoment): NoMoment | { readonly kind: "zxid"; readonly zxid: Zxid } {
  return "zxid" in at ? { kind: "zxid", zxid: at.zxid } : reader.placeOf(at.timeMs);
}

/** Access lists that no change of the page sets are left to another question. */
function changesOf(
  reader: HistoryReader,
  { path: asked, scope, after: begin, countMax: countAsked }: ChangesQuery,
  floor: Zxid,
): HistoryAnswer {
  const range = reader.range(floor);
  const isPurged = reader.files().length === 0 && begin !== 0 && begin < (range?.after ?? 0);
  if (range === undefined || isPurged) return unknown(reader, floor);
  // Behind no transaction: where the history begins.
  const after = begin === 0 ? laterOf(begin, range.after) : begin;
  const countMax = Math.min(CHANGES_COUNT_MAX, countAsked);
  const changes: PastChange[] = [];
  const lists = new Map<string, Acl>();
  let bytes = 0;
  const query = { path: Buffer.from(asked), scope, after, blocksMax: BLOCKS_MAX, countMax };
  const page = reader.changes(query, (header, op) => {
    const { zxid, timeMs } = header;
    const path = copyOf(op.path);
    const data = hasValue(op) && op.hasData ? copyOf(op.data) : null;
    const key = path.toString("latin1");
    if (setsAcl(op)) lists.set(key, op.acl);
    const who = copyOf(header.who).toString("utf8");
    changes.push({ path, zxid, timeMs, who, op: op.op, data, version: versionOf(op), acl: lists.get(key) });
    bytes += path.length + (data?.length ?? 0);
    return bytes < DATA_BYTES_MAX && changes.length < countMax;
  });
  return { kind: "changes", begins: range.after, changes: inOneBuffer(changes, bytes), ...page };
}

/**
 * The page in one buffer of its own: a message takes along whole buffers, and those that Node.js
 * shares among small values are larger than these.
 */
function inOneBuffer(changes: readonly PastChange[], bytes: number): readonly PastChange[] {
  const buffer = Buffer.allocUnsafeSlow(bytes);
  let end = 0;
  const moved = (value: Uint8Array): Uint8Array => {
    buffer.set(value, end);
    end += value.length;
    return buffer.subarray(end - value.length, end);
  };
  return changes.map(({ path, data, ...change }) => ({
    ...change,
    path: moved(path),
    data: data === null ? null : moved(data),
  }));
}

function copyOf({ bytes, start, end }: Readonly<ByteSlice>): Buffer {
  return Buffer.from(bytes.subarray(start, end));
}

function setsAcl(op: Readonly<TxnOp>): boolean {
  return op.op === OpCode.SET_ACL || isCreate(op);
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
