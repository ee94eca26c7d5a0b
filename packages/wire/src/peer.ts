export { aclBytes, decodeAcl, TxnBatchEncoder, TxnReader } from "./txn-codec.ts";
export { WireError, type WireErrorCode } from "./wire-error.ts";
