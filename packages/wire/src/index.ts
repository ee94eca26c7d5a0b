export { WireError, type WireErrorCode } from "@zooid/model";
export { AclReader, writeAcl } from "./acl-codec.ts";
export { BufferPool, type WriteBuffer } from "./buffer-pool.ts";
export {
  CHILD_PAGE_COUNT_MAX,
  type ChildPageRequest,
  type ListedChild,
  type ListedChildren,
  readChildPage,
  writeChildPageRequest,
} from "./child-page.ts";
export {
  DIGEST_MD5_FIRST_USE,
  DIGEST_MD5_SERVER,
  DIGEST_MD5_SERVICE,
  type DigestMd5Fields,
  type DigestMd5Side,
  digestMd5Bytes,
  digestMd5Response,
} from "./digest-md5.ts";
export { answerDigestMd5, type DigestMd5Answer, type DigestMd5Login } from "./digest-md5-answer.ts";
export { type DigestMd5Directive, digestMd5Directives } from "./digest-md5-directives.ts";
export { Framer, type FrameSink, OVERSIZE_HEAD_BYTES, type OversizeSink } from "./framer.ts";
export {
  type ConnectResponse,
  readConnectRequest,
  readConnectResponse,
  writeConnectRequest,
  writeConnectResponse,
} from "./handshake.ts";
export { JuteReader } from "./jute-reader.ts";
export { JuteWriter } from "./jute-writer.ts";
export {
  type ChangesRequest,
  decodePastChanges,
  decodePastChildren,
  decodePastNode,
  encodePastChanges,
  encodePastChildren,
  encodePastNode,
  encodePastRefusal,
  type PageToShow,
  readPastRefusal,
  type ShownChange,
  type ShownChanges,
  writeChangesRequest,
  writePastRequest,
} from "./past-codec.ts";
export { ReplyEncoder, type ReplyTargets } from "./reply-codec.ts";
export {
  type ClientInfo,
  type PartResult,
  readAclEntries,
  readClientInfos,
  readData,
  readNames,
  readPartResults,
  readStat,
  readText,
  readWatcherEvent,
  type WatcherEvent,
} from "./reply-reader.ts";
export { RequestReader } from "./request-codec.ts";
export {
  type WatchedPaths,
  writeAuth,
  writeCreate,
  writeMultiHeader,
  writePathAndInt,
  writePathAndWatch,
  writeRequestHeader,
  writeSetAcl,
  writeSetData,
  writeSetWatches,
} from "./request-writer.ts";
export { SpareBuffers } from "./spare-buffers.ts";
