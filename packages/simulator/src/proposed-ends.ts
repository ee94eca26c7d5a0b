import {
  FRAME_HEADER_BYTES,
  formatZxid,
  frameLength,
  frameZxid,
  newTxnHeader,
  newTxnOp,
  OpCode,
  sliceText,
  type Zxid,
} from "@zooid/model";
import { TxnReader } from "@zooid/wire/peer";
import type { Limits } from "./limits.ts";
import { Violation } from "./violation.ts";

/** One transaction of the end of a session, as its leader proposed it. */
export interface ProposedEnd {
  /** The ephemerals that it removes, in this order. */
  readonly paths: readonly string[];
  /** More follow, and none came before. */
  readonly isFirst: boolean;
  readonly isLast: boolean;
}

/** Reads what leaders propose: remembers the transactions that end sessions, and checks that each transaction is within its limits. */
export class ProposedEnds {
  readonly #limits: Limits;
  readonly #ends = new Map<number, ProposedEnd>();
  readonly #reader = new TxnReader();
  readonly #header = newTxnHeader();
  readonly #op = newTxnOp();

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  at(zxid: number): ProposedEnd | undefined {
    return this.#ends.get(zxid);
  }

  proposed(bytes: Uint8Array, start: number, end: number): void {
    for (let at = start; at < end; at += FRAME_HEADER_BYTES + frameLength(bytes, at)) {
      const length = frameLength(bytes, at);
      const begin = at + FRAME_HEADER_BYTES;
      this.#reader.open(bytes, begin, begin + length, this.#header);
      if (this.#header.op === OpCode.CLOSE_SESSION) this.#end(frameZxid(bytes, at));
      else if (this.#header.op === OpCode.MULTI && length > this.#limits.txnBytesMax) {
        this.#mustBeRefused(frameZxid(bytes, at), length);
      }
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
