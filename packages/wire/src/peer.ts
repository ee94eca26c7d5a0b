export {
  aclBytes,
  decodeAcl,
  FRAME_HEADER_BYTES,
  frameLength,
  frameZxid,
  type TxnBatch,
  TxnBatchEncoder,
  TxnReader,
} from "./txn-codec.ts";
export { WireError, type WireErrorCode } from "./wire-error.ts";
