export { decodeEnvelope } from "./envelope-decoder.ts";
export { EnvelopeWriter, envelopeBytesMax } from "./envelope-encoder.ts";
export type {
  AuthProof,
  EnvelopeMessage,
  Heartbeat,
  Hello,
  LinkMessage,
  LinkPurpose,
  LinkRefuse,
  LinkRefuseReason,
  RelayBytes,
  RelayClose,
  RelayMessage,
  RelayOpen,
  RelayReady,
  RelayRun,
  RelayTo,
} from "./envelope-message.ts";
export {
  type Crc32,
  type EnvelopeSink,
  type FrameChunk,
  HANDSHAKE_FRAME_BYTES_MAX,
  PEER_FRAME_HEADER_BYTES,
  PeerFrameReader,
  PeerFrameWriter,
  peerFrameBytesMax,
  type SharedFrames,
} from "./peer-frames.ts";
export { FORWARD_HEADER_BYTES, forwardLength } from "./peer-runs.ts";
export { EntryFrames, returnChunk } from "./shared-frames.ts";
