export { StoreError } from "@zooid/txn-log";
export type { Change } from "./change-stream.ts";
export { ConfigError, parseServerConfig, type ServerConfig, type ServerOptions, type TestBreak } from "./config.ts";
export type { EnsembleOptions, EnsembleServerOptions, PeerAddress } from "./peers/ensemble-config.ts";
export { PeerPortError } from "./peers/peer-listener.ts";
export { writePeerSecretFile } from "./peers/peer-secret.ts";
export {
  type Role,
  type ServerLog,
  type StartOptions,
  type StorageStatus,
  startServer,
  type ZooidServer,
} from "./server.ts";
export { PROTOCOL_VERSION } from "./server-facts.ts";
