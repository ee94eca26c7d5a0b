import {
  clearTxnOp,
  FRAME_HEADER_BYTES,
  frameLength,
  type LoggedRun,
  newTxnHeader,
  newTxnOp,
  OpCode,
  type TxnDecoder,
  type TxnHeader,
  type TxnOp,
  WireError,
} from "@zooid/model";

const KNOWN_OPS: ReadonlySet<number> = new Set([
  ...[OpCode.SET_DATA, OpCode.CREATE, OpCode.CREATE2, OpCode.CREATE_CONTAINER, OpCode.CREATE_TTL, OpCode.DELETE],
  ...[OpCode.DELETE_CONTAINER, OpCode.SET_ACL, OpCode.CREATE_SESSION, OpCode.CLOSE_SESSION],
  ...[OpCode.BEGIN_CLOSE_SESSION, OpCode.CHECK, OpCode.ERROR],
]);
// Every transaction is decoded into these.
const header: TxnHeader = newTxnHeader();
const op: TxnOp = newTxnOp();

/**
 * Whether each entry of a run is a transaction of known ops. A leader that sends something else has
 * broken the protocol; in the log it would stop this server, when it is applied and at every start
 * from then on.
 */
export function isReadable(decoder: TxnDecoder, { bytes, start, end }: LoggedRun): boolean {
  try {
    for (let at = start; at < end; ) {
      const from = at + FRAME_HEADER_BYTES;
      at = from + frameLength(bytes, at);
      decoder.open(bytes, from, at, header);
      while (decoder.next(op)) if (!KNOWN_OPS.has(op.op)) return false;
    }
    // It points to the bytes of the last one.
    clearTxnOp(op, 0);
    return true;
  } catch (error) {
    if (error instanceof WireError) return false;
    throw error;
  }
}
