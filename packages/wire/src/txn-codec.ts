import {
  type Acl,
  type AclEntry,
  clearTxnOp,
  copyBytes,
  FRAME_HEADER_BYTES,
  type FrameBatch,
  OPEN_ACL,
  setSlice,
  type TxnBatcher,
  type TxnDecoder,
  type TxnHeader,
  type TxnOp,
  writeFrameHeader,
  ZXID_NONE,
  type Zxid,
} from "@zooid/model";
import { fixed32, ProtobufReader, varintSize, writeFixed64, writeVarint, zigzag } from "./protobuf-bytes.ts";
import { SpareBuffers } from "./spare-buffers.ts";

/**
 * Transactions as `txn.proto` describes them, written and read without objects of their own. The
 * same bytes go to the log and to every follower, and are what the leader applies:
 *
 * ```
 * ┌──────────┬────────────┬─────────────────────────────────────────────────────────────┐
 * │ zxid u64 │ length u32 │ session fixed64 │ cxid │ time │ op │ Op │ Op │ …  (protobuf) │
 * └──────────┴────────────┴─────────────────────────────────────────────────────────────┘
 *        frame header                          record, message Txn
 * ```
 *
 * Fields are written in the order of their numbers, but for `who`, which comes before the ops, as
 * the rest of the header does: equal transactions have equal bytes. A reader skips fields that it
 * does not know.
 */

const tagOf = (field: number, wireType: number): number => (field << 3) | wireType;
const VARINT = 0;
const FIXED64 = 1;
const DELIMITED = 2;

const TxnTag = {
  session: tagOf(1, FIXED64),
  cxid: tagOf(2, VARINT),
  timeMs: tagOf(3, VARINT),
  origin: tagOf(4, VARINT),
  originSeq: tagOf(5, VARINT),
  op: tagOf(6, VARINT),
  ops: tagOf(7, DELIMITED),
  who: tagOf(8, DELIMITED),
} as const;

const OpTag = {
  op: tagOf(1, VARINT),
  path: tagOf(2, DELIMITED),
  node: tagOf(3, VARINT),
  parent: tagOf(4, VARINT),
  data: tagOf(5, DELIMITED),
  acl: tagOf(6, DELIMITED),
  owner: tagOf(7, FIXED64),
  version: tagOf(8, VARINT),
  parentCversion: tagOf(9, VARINT),
  code: tagOf(10, VARINT),
  failedIndex: tagOf(11, VARINT),
  opCount: tagOf(12, VARINT),
  timeoutMs: tagOf(13, VARINT),
  passwordHash: tagOf(14, DELIMITED),
} as const;

const AclTag = { entries: tagOf(1, DELIMITED) } as const;
const AclEntryTag = { perms: tagOf(1, VARINT), scheme: tagOf(2, DELIMITED), id: tagOf(3, DELIMITED) } as const;

/** Room that one header may need beyond its ops. */
const HEADER_BYTES_MAX = FRAME_HEADER_BYTES + 64;
/**
 * Gathers transactions into batches. `take` hands over the oldest; a new one begins in another
 * buffer.
 */
export class TxnBatchEncoder implements TxnBatcher {
  /** Batches that are full, oldest first. */
  #full: FrameBatch[] = [];
  #fullCount = 0;
  #fullBytes = 0;
  #bytes: Uint8Array;
  #end = 0;
  #count = 0;
  #first: Zxid = ZXID_NONE;
  #last: Zxid = ZXID_NONE;
  /** Where the open transaction's frame and its ops begin. */
  #frame = 0;
  #ops = 0;
  #zxid: Zxid = ZXID_NONE;
  readonly #spare = new SpareBuffers();
  readonly #initialBytes: number;
  readonly #batchBytesMax: number;

  /** @param batchBytesMax a batch that has as many is full: the next transaction begins another */
  constructor(initialBytes: number = 256 * 1024, batchBytesMax: number = Number.POSITIVE_INFINITY) {
    this.#initialBytes = initialBytes;
    this.#batchBytesMax = batchBytesMax;
    this.#bytes = Buffer.allocUnsafeSlow(initialBytes);
  }

  get count(): number {
    return this.#fullCount + this.#count;
  }

  get sizeBytes(): number {
    return this.#fullBytes + this.#end;
  }

  get openBytes(): number {
    return this.#end - this.#frame;
  }

  begin(header: Readonly<TxnHeader>): void {
    const { who } = header;
    this.#reserve(HEADER_BYTES_MAX + who.end - who.start);
    this.#frame = this.#end;
    this.#zxid = header.zxid;
    const bytes = this.#bytes;
    let at = this.#end + FRAME_HEADER_BYTES;
    if (header.sessionHigh !== 0 || header.sessionLow !== 0) {
      bytes[at++] = TxnTag.session;
      at = writeFixed64(bytes, at, header.sessionHigh, header.sessionLow);
    }
    if (header.cxid !== 0) {
      bytes[at++] = TxnTag.cxid;
      at = writeVarint(bytes, at, zigzag(header.cxid));
    }
    bytes[at++] = TxnTag.timeMs;
    at = writeVarint(bytes, at, header.timeMs);
    if (header.origin !== 0) {
      bytes[at++] = TxnTag.origin;
      at = writeVarint(bytes, at, header.origin);
    }
    if (header.originSeq !== 0) {
      bytes[at++] = TxnTag.originSeq;
      at = writeVarint(bytes, at, header.originSeq);
    }
    bytes[at++] = TxnTag.op;
    at = writeVarint(bytes, at, zigzag(header.op));
    if (who.end !== who.start) at = writeDelimited(bytes, at, TxnTag.who, who.bytes, who.start, who.end);
    this.#end = at;
    this.#ops = at;
  }

  op(op: Readonly<TxnOp>): void {
    const size = opSize(op);
    this.#reserve(size + 8);
    let at = this.#end;
    this.#bytes[at++] = TxnTag.ops;
    at = writeVarint(this.#bytes, at, size);
    this.#end = writeOp(this.#bytes, at, op);
  }

  rewind(): void {
    this.#end = this.#ops;
  }

  end(): void {
    writeFrameHeader(this.#bytes, this.#frame, this.#zxid, this.#end - this.#frame - FRAME_HEADER_BYTES);
    if (this.#count === 0) this.#first = this.#zxid;
    this.#last = this.#zxid;
    this.#count++;
    if (this.#end >= this.#batchBytesMax) this.#close();
  }

  /** The oldest batch. Only between transactions, and only when there is something. */
  take(): FrameBatch {
    const batch = this.#full.shift();
    if (batch === undefined) return this.#takeOpen();
    this.#fullCount -= batch.count;
    this.#fullBytes -= batch.end;
    return batch;
  }

  #close(): void {
    const batch = this.#takeOpen();
    this.#full.push(batch);
    this.#fullCount += batch.count;
    this.#fullBytes += batch.end;
  }

  #takeOpen(): FrameBatch {
    const batch = { first: this.#first, last: this.#last, count: this.#count, bytes: this.#bytes, end: this.#end };
    this.#bytes = this.#spare.take(this.#initialBytes);
    this.#end = 0;
    this.#count = 0;
    return batch;
  }

  /** Returns a batch's buffer for later batches; it is not read any more. */
  recycle(batch: FrameBatch): void {
    this.#spare.give(batch.bytes);
  }

  #reserve(more: number): void {
    const needed = this.#end + more;
    if (needed <= this.#bytes.length) return;
    const outgrown = this.#bytes;
    this.#bytes = this.#spare.take(needed);
    copyBytes(outgrown, 0, this.#end, this.#bytes, 0);
    this.#spare.give(outgrown);
  }
}

function numberSize(value: number): number {
  return value === 0 ? 0 : 1 + varintSize(value);
}

function delimitedSize(length: number): number {
  return 1 + varintSize(length) + length;
}

function opSize(op: Readonly<TxnOp>): number {
  let size = numberSize(zigzag(op.op)) + numberSize(op.node) + numberSize(op.parent);
  const pathLength = op.path.end - op.path.start;
  if (pathLength !== 0) size += delimitedSize(pathLength);
  if (op.hasData) size += delimitedSize(op.data.end - op.data.start);
  if (op.acl !== OPEN_ACL) size += delimitedSize(aclBytes(op.acl).length);
  if (op.ownerHigh !== 0 || op.ownerLow !== 0) size += 9;
  size += numberSize(zigzag(op.version)) + numberSize(zigzag(op.parentCversion)) + numberSize(zigzag(op.code));
  size += numberSize(op.failedIndex) + numberSize(op.opCount) + numberSize(op.timeoutMs);
  const hashLength = op.passwordHash.end - op.passwordHash.start;
  if (hashLength !== 0) size += delimitedSize(hashLength);
  return size;
}

function writeNumber(bytes: Uint8Array, at: number, tag: number, value: number): number {
  if (value === 0) return at;
  bytes[at] = tag;
  return writeVarint(bytes, at + 1, value);
}

function writeDelimited(
  bytes: Uint8Array,
  at: number,
  tag: number,
  source: Uint8Array,
  start: number,
  end: number,
): number {
  bytes[at] = tag;
  const body = writeVarint(bytes, at + 1, end - start);
  copyBytes(source, start, end, bytes, body);
  return body + end - start;
}

function writeOp(bytes: Uint8Array, start: number, op: Readonly<TxnOp>): number {
  let at = writeNumber(bytes, start, OpTag.op, zigzag(op.op));
  if (op.path.end !== op.path.start)
    at = writeDelimited(bytes, at, OpTag.path, op.path.bytes, op.path.start, op.path.end);
  at = writeNumber(bytes, at, OpTag.node, op.node);
  at = writeNumber(bytes, at, OpTag.parent, op.parent);
  if (op.hasData) at = writeDelimited(bytes, at, OpTag.data, op.data.bytes, op.data.start, op.data.end);
  if (op.acl !== OPEN_ACL) {
    const acl = aclBytes(op.acl);
    at = writeDelimited(bytes, at, OpTag.acl, acl, 0, acl.length);
  }
  if (op.ownerHigh !== 0 || op.ownerLow !== 0) {
    bytes[at] = OpTag.owner;
    at = writeFixed64(bytes, at + 1, op.ownerHigh, op.ownerLow);
  }
  at = writeNumber(bytes, at, OpTag.version, zigzag(op.version));
  at = writeNumber(bytes, at, OpTag.parentCversion, zigzag(op.parentCversion));
  at = writeNumber(bytes, at, OpTag.code, zigzag(op.code));
  at = writeNumber(bytes, at, OpTag.failedIndex, op.failedIndex);
  at = writeNumber(bytes, at, OpTag.opCount, op.opCount);
  at = writeNumber(bytes, at, OpTag.timeoutMs, op.timeoutMs);
  const hash = op.passwordHash;
  return hash.end === hash.start ? at : writeDelimited(bytes, at, OpTag.passwordHash, hash.bytes, hash.start, hash.end);
}

/**
 * Encoded forms of lists that are in use somewhere; the keys are weak, so an unused list costs
 * nothing.
 */
const encodedAcls = new WeakMap<Acl, Uint8Array>();

/**
 * An access list as `txn.proto` has it: the same list always gives the same bytes. Shared; not to
 * be changed.
 */
export function aclBytes(acl: Acl): Uint8Array {
  let bytes = encodedAcls.get(acl);
  if (bytes === undefined) {
    bytes = encodeAcl(acl);
    encodedAcls.set(acl, bytes);
  }
  return bytes;
}

const utf8 = new TextEncoder();
const text = new TextDecoder("utf-8", { ignoreBOM: true });

function encodeAcl(acl: Acl): Uint8Array {
  const entries = acl.map((entry) => {
    const scheme = utf8.encode(entry.scheme);
    const id = utf8.encode(entry.id);
    const perms = zigzag(entry.perms);
    return { perms, scheme, id, size: numberSize(perms) + delimitedSize(scheme.length) + delimitedSize(id.length) };
  });
  const bytes = Buffer.alloc(entries.reduce((sum, entry) => sum + delimitedSize(entry.size), 0));
  let at = 0;
  for (const entry of entries) {
    bytes[at] = AclTag.entries;
    at = writeVarint(bytes, at + 1, entry.size);
    at = writeNumber(bytes, at, AclEntryTag.perms, entry.perms);
    at = writeDelimited(bytes, at, AclEntryTag.scheme, entry.scheme, 0, entry.scheme.length);
    at = writeDelimited(bytes, at, AclEntryTag.id, entry.id, 0, entry.id.length);
  }
  return bytes;
}

/** Reads back what {@link aclBytes} wrote. */
export function decodeAcl(bytes: Uint8Array, start: number, end: number): Acl {
  const list = new ProtobufReader();
  list.reset(bytes, start, end);
  const acl: AclEntry[] = [];
  for (let tag = list.tag(); tag !== 0; tag = list.tag()) {
    if (tag !== AclTag.entries) {
      list.skip(tag);
      continue;
    }
    const entryEnd = list.delimited();
    acl.push(decodeAclEntry(bytes, list.at, entryEnd));
    list.at = entryEnd;
  }
  return acl;
}

function decodeAclEntry(bytes: Uint8Array, start: number, end: number): AclEntry {
  const reader = new ProtobufReader();
  reader.reset(bytes, start, end);
  let perms = 0;
  let scheme = "";
  let id = "";
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    if (tag === AclEntryTag.perms) perms = reader.sint32();
    else if (tag === AclEntryTag.scheme || tag === AclEntryTag.id) {
      const fieldEnd = reader.delimited();
      const value = text.decode(bytes.subarray(reader.at, fieldEnd));
      if (tag === AclEntryTag.scheme) scheme = value;
      else id = value;
      reader.at = fieldEnd;
    } else reader.skip(tag);
  }
  return { perms, scheme, id };
}

/** Reads transactions back; one reader serves any number of them, one after another. */
export class TxnReader implements TxnDecoder {
  readonly #txn = new ProtobufReader();
  readonly #op = new ProtobufReader();
  readonly #acls = new LastAcl();
  /** Where the op begins that `next` will read, or -1 when there is none. */
  #nextOp = -1;

  open(bytes: Uint8Array, start: number, end: number, header: TxnHeader): void {
    const txn = this.#txn;
    txn.reset(bytes, start, end);
    header.sessionHigh = 0;
    header.sessionLow = 0;
    header.cxid = 0;
    header.timeMs = 0;
    header.origin = 0;
    header.originSeq = 0;
    header.op = 0;
    header.who.end = header.who.start;
    this.#nextOp = -1;
    for (;;) {
      const tag = txn.tag();
      switch (tag) {
        case 0:
          return;
        case TxnTag.session: {
          const at = txn.fixed64();
          header.sessionLow = fixed32(bytes, at);
          header.sessionHigh = fixed32(bytes, at + 4);
          break;
        }
        case TxnTag.cxid:
          header.cxid = txn.sint32();
          break;
        case TxnTag.timeMs:
          header.timeMs = txn.varint();
          break;
        case TxnTag.origin:
          header.origin = txn.uint32();
          break;
        case TxnTag.originSeq:
          header.originSeq = txn.varint();
          break;
        case TxnTag.op:
          header.op = txn.sint32();
          break;
        case TxnTag.who: {
          const fieldEnd = txn.delimited();
          setSlice(header.who, bytes, txn.at, fieldEnd);
          txn.at = fieldEnd;
          break;
        }
        case TxnTag.ops: {
          // Ours come last, after the whole header: no need to look further before they are asked
          // for.
          this.#nextOp = txn.delimited();
          return;
        }
        default:
          txn.skip(tag);
      }
    }
  }

  get hasNext(): boolean {
    return this.#nextOp >= 0;
  }

  next(op: TxnOp): boolean {
    const end = this.#nextOp;
    if (end < 0) return false;
    const txn = this.#txn;
    readOp(this.#op, txn.bytes, txn.at, end, op, this.#acls);
    txn.at = end;
    this.#nextOp = -1;
    for (let tag = txn.tag(); tag !== 0; tag = txn.tag()) {
      if (tag === TxnTag.ops) {
        this.#nextOp = txn.delimited();
        break;
      }
      txn.skip(tag);
    }
    return true;
  }
}

/** The list that was read last: most creates of one transaction have the same. */
class LastAcl {
  #bytes: Buffer = Buffer.alloc(0);
  #acl: Acl = OPEN_ACL;

  read(bytes: Uint8Array, start: number, end: number): Acl {
    if (this.#bytes.length !== end - start || this.#bytes.compare(bytes, start, end) !== 0) {
      this.#acl = decodeAcl(bytes, start, end);
      this.#bytes = Buffer.from(bytes.subarray(start, end));
    }
    return this.#acl;
  }
}

function readOp(reader: ProtobufReader, bytes: Uint8Array, start: number, end: number, op: TxnOp, acls: LastAcl): void {
  clearTxnOp(op, 0);
  reader.reset(bytes, start, end);
  for (;;) {
    const tag = reader.tag();
    switch (tag) {
      case 0:
        return;
      case OpTag.op:
        op.op = reader.sint32();
        break;
      case OpTag.path: {
        const fieldEnd = reader.delimited();
        setSlice(op.path, bytes, reader.at, fieldEnd);
        reader.at = fieldEnd;
        break;
      }
      case OpTag.node:
        op.node = reader.varint();
        break;
      case OpTag.parent:
        op.parent = reader.varint();
        break;
      case OpTag.data: {
        const fieldEnd = reader.delimited();
        op.hasData = true;
        setSlice(op.data, bytes, reader.at, fieldEnd);
        reader.at = fieldEnd;
        break;
      }
      case OpTag.acl: {
        const fieldEnd = reader.delimited();
        op.acl = acls.read(bytes, reader.at, fieldEnd);
        reader.at = fieldEnd;
        break;
      }
      case OpTag.owner: {
        const at = reader.fixed64();
        op.ownerLow = fixed32(bytes, at);
        op.ownerHigh = fixed32(bytes, at + 4);
        break;
      }
      case OpTag.version:
        op.version = reader.sint32();
        break;
      case OpTag.parentCversion:
        op.parentCversion = reader.sint32();
        break;
      case OpTag.code:
        op.code = reader.sint32();
        break;
      case OpTag.failedIndex:
        op.failedIndex = reader.uint32();
        break;
      case OpTag.opCount:
        op.opCount = reader.uint32();
        break;
      case OpTag.timeoutMs:
        op.timeoutMs = reader.uint32();
        break;
      case OpTag.passwordHash: {
        const fieldEnd = reader.delimited();
        setSlice(op.passwordHash, bytes, reader.at, fieldEnd);
        reader.at = fieldEnd;
        break;
      }
      default:
        reader.skip(tag);
    }
  }
}
