export { AclReader, writeAcl } from "./acl-codec.ts";
export { BufferPool } from "./buffer-pool.ts";
export { Framer, type FrameSink } from "./framer.ts";
export {
  type ConnectResponse,
  readConnectRequest,
  readConnectResponse,
  writeConnectRequest,
  writeConnectResponse,
} from "./handshake.ts";
export { JuteReader } from "./jute-reader.ts";
export { JuteWriter } from "./jute-writer.ts";
export { ReplyEncoder, type ReplyTargets } from "./reply-codec.ts";
export { RequestReader } from "./request-codec.ts";
export { WireError, type WireErrorCode } from "./wire-error.ts";
