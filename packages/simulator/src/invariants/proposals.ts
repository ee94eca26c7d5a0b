import {
  counterOf,
  epochOf,
  FRAME_HEADER_BYTES,
  frameLength,
  type Members,
  newTxnHeader,
  newTxnOp,
  OpCode,
  parseMembers,
  sliceText,
  type Zxid,
} from "@zooid/model";
import { TxnReader } from "@zooid/wire/txn";

/** One proposal: the hash of its bytes, and the one that it was proposed after. */
export interface Proposal {
  readonly hash: number;
  readonly previous: Zxid;
  /** The version of the last configuration before it. */
  readonly configuration: Zxid;
  /** No entry: a restored state stands there. */
  readonly isRestored?: boolean;
}

/**
 * Everything that leaders have proposed. Within an epoch there is one stream of proposals, each of
 * which knows its predecessor.
 */
export class ProposalStreams {
  readonly #proposals = new Map<number, Proposal>();
  readonly #lastCounters = new Map<number, number>();

  get(zxid: number): Proposal | undefined {
    return this.#proposals.get(zxid);
  }

  add(zxid: Zxid, proposal: Proposal): void {
    this.#proposals.set(zxid, proposal);
    this.#lastCounters.set(epochOf(zxid), counterOf(zxid));
  }

  /** Each epoch with a proposal, and the counter of the last one. */
  epochs(): Iterable<readonly [epoch: number, lastCounter: number]> {
    return this.#lastCounters;
  }
}

/** The hash of the frame at an offset, header included. */
export function frameHash(bytes: Uint8Array, at: number): number {
  const end = at + FRAME_HEADER_BYTES + frameLength(bytes, at);
  let hash = 0;
  for (let i = at; i < end; i++) hash = Math.imul(hash ^ (bytes[i] ?? 0), 0x0100_0193);
  return hash;
}

const entries = new TxnReader();
const header = newTxnHeader();
const op = newTxnOp();

/** The configuration in the frame at an offset, if it is a change of it that was not refused. */
export function membersIn(bytes: Uint8Array, at: number): Members | undefined {
  const start = at + FRAME_HEADER_BYTES;
  entries.open(bytes, start, start + frameLength(bytes, at), header);
  if (header.op !== OpCode.RECONFIG || !entries.next(op) || op.op !== OpCode.SET_DATA) return undefined;
  return parseMembers(sliceText(op.data));
}
