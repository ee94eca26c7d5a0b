import {
  FRAME_HEADER_BYTES,
  formatZxid,
  frameLength,
  frameZxid,
  newTxnHeader,
  newTxnOp,
  OpCode,
  type SessionId,
  sessionIdFromHalves,
  sliceText,
  type TxnHeader,
  type TxnOp,
  type Zxid,
} from "@zooid/model";
import { TxnReader } from "@zooid/wire/txn";
import type { Limits } from "../cluster/limits.ts";
import { Violation } from "../invariants/violation.ts";
import type { PlainOp } from "./writes.ts";

/** Undefined where an op changes nothing. */
function plainOp({ op, path, data, ownerHigh, ownerLow }: Readonly<TxnOp>): PlainOp | undefined {
  const at = { path: sliceText(path) };
  switch (op) {
    case OpCode.CREATE:
    case OpCode.CREATE2:
      return { ...at, kind: "create", data: sliceText(data), owner: sessionIdFromHalves(ownerHigh, ownerLow) };
    case OpCode.SET_DATA:
      return { ...at, kind: "set", data: sliceText(data) };
    case OpCode.DELETE:
      return { ...at, kind: "delete" };
    case OpCode.SET_ACL:
      return { ...at, kind: "setAcl" };
    default:
      return undefined;
  }
}

/** One transaction of the end of a session, as its leader proposed it. */
export interface ProposedEnd {
  /** The ephemerals that it removes, in this order. */
  readonly paths: readonly string[];
  /** The first of several parts. */
  readonly isFirst: boolean;
  readonly isLast: boolean;
}

/**
 * Decodes what leaders propose: keeps the transactions that end sessions and those of hostile
 * tenants, and checks the size of each one (B1).
 */
export class ProposedTxns {
  readonly #limits: Limits;
  readonly #ends = new Map<number, ProposedEnd>();
  readonly #hostile = new Map<number, readonly PlainOp[]>();
  readonly #hostileSessions = new Set<SessionId>();
  readonly #reader = new TxnReader();
  readonly #header = newTxnHeader();
  readonly #op = newTxnOp();

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  endAt(zxid: number): ProposedEnd | undefined {
    return this.#ends.get(zxid);
  }

  /** The acts of a hostile tenant's transaction. */
  hostileAt(zxid: number): readonly PlainOp[] | undefined {
    return this.#hostile.get(zxid);
  }

  addHostile(session: SessionId): void {
    this.#hostileSessions.add(session);
  }

  isHostile(session: SessionId): boolean {
    return this.#hostileSessions.has(session);
  }

  /** @param seen called for each transaction, once its end of a session is known */
  proposed(bytes: Uint8Array, start: number, end: number, seen: (header: Readonly<TxnHeader>) => void): void {
    for (let at = start; at < end; at += FRAME_HEADER_BYTES + frameLength(bytes, at)) {
      const length = frameLength(bytes, at);
      const begin = at + FRAME_HEADER_BYTES;
      this.#reader.open(bytes, begin, begin + length, this.#header);
      const { op, sessionHigh, sessionLow } = this.#header;
      const zxid = frameZxid(bytes, at);
      this.#header.zxid = zxid;
      if (op === OpCode.CLOSE_SESSION) {
        this.#end(zxid);
        seen(this.#header);
        continue;
      }
      if (op === OpCode.MULTI && length > this.#limits.txnBytesMax) this.#mustBeRefused(zxid, length);
      seen(this.#header);
      const session = sessionIdFromHalves(sessionHigh, sessionLow);
      if (!this.#hostileSessions.has(session)) continue;
      this.#reader.open(bytes, begin, begin + length, this.#header);
      const ops: PlainOp[] = [];
      while (this.#reader.next(this.#op)) {
        const plain = plainOp(this.#op);
        if (plain !== undefined) ops.push(plain);
      }
      this.#hostile.set(zxid, ops);
    }
  }

  #end(zxid: Zxid): void {
    const op = this.#op;
    const paths: string[] = [];
    let bytes = 0;
    let last = 0;
    while (this.#reader.next(op)) {
      last = op.op;
      if (op.op !== OpCode.DELETE) continue;
      paths.push(sliceText(op.path));
      bytes += op.path.end - op.path.start;
    }
    if (last === OpCode.ERROR) return;
    const { closeOpCountMax, closePathBytesMax } = this.#limits;
    if (paths.length > closeOpCountMax || (paths.length > 1 && bytes > closePathBytesMax)) {
      throw new Violation("B1", `${formatZxid(zxid)} removes ${paths.length} ephemerals with ${bytes} bytes of paths`);
    }
    this.#ends.set(zxid, {
      paths,
      isFirst: last === OpCode.BEGIN_CLOSE_SESSION,
      isLast: last === OpCode.CLOSE_SESSION,
    });
  }

  #mustBeRefused(zxid: Zxid, length: number): void {
    if (this.#reader.next(this.#op) && this.#op.op === OpCode.ERROR) return;
    throw new Violation("B1", `${formatZxid(zxid)} has ${length} bytes, which is more than a multi may`);
  }
}
