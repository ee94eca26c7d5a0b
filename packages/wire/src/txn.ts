export { aclBytes, decodeAcl, TxnBatchEncoder, TxnReader } from "./txn-codec.ts";
