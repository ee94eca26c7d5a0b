import {
  clearTxnOp,
  FRAME_HEADER_BYTES,
  frameLength,
  type LoggedRun,
  newTxnHeader,
  newTxnOp,
  type TxnDecoder,
  type TxnHeader,
  type TxnOp,
  WireError,
} from "@zooid/model";

// Every transaction is decoded into these.
const header: TxnHeader = newTxnHeader();
const op: TxnOp = newTxnOp();

/**
 * Whether each entry of a run is a transaction of known ops. A leader that sends something else has
 * broken the protocol; in the log it would stop this server, when it is applied and at every start
 * from then on.
 *
 * @param opLevels the operations that this server's version knows
 */
export function isReadable(
  decoder: TxnDecoder,
  { bytes, start, end }: LoggedRun,
  opLevels: ReadonlyMap<number, number>,
): boolean {
  try {
    for (let at = start; at < end; ) {
      const from = at + FRAME_HEADER_BYTES;
      at = from + frameLength(bytes, at);
      decoder.open(bytes, from, at, header);
      while (decoder.next(op)) if (!opLevels.has(op.op)) return false;
    }
    // It points to the bytes of the last one.
    clearTxnOp(op, 0);
    return true;
  } catch (error) {
    if (error instanceof WireError) return false;
    throw error;
  }
}
