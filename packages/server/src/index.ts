export { StoreError } from "@zooid/txn-log";
export type { Change } from "./change-stream.ts";
export { ConfigError, parseServerConfig, type ServerConfig, type ServerOptions, type TestBreak } from "./config.ts";
export type {
  EnsembleConfig,
  EnsembleOptions,
  EnsembleServer,
  EnsembleServerOptions,
  PeerAddress,
} from "./peers/ensemble-config.ts";
export { PeerPortError } from "./peers/peer-listener.ts";
export { type PeerSecret, writePeerSecretFile } from "./peers/peer-secret.ts";
export type { PeerTlsFiles } from "./peers/peer-tls.ts";
export type { PeerTransport } from "./peers/peer-transport.ts";
export {
  type Role,
  type ServerLog,
  type StartOptions,
  type StorageStatus,
  startServer,
  type ZooidServer,
} from "./server.ts";
export { PROTOCOL_VERSION } from "./server-facts.ts";
