export { CHAIN_NONE, type Chain, ChainCursor, chainFromHalves, chainHigh, chainLow, formatChain } from "./chain.ts";
export { DataWrites } from "./data-writes.ts";
export { BatchCursor, putEntry } from "./entry-batch.ts";
export {
  type MemoryEntry,
  type MemoryLogImage,
  type MemoryLogOptions,
  MemoryTxnLog,
  type MemoryWrite,
} from "./memory-txn-log.ts";
export {
  type CheckpointMark,
  type PlacedState,
  type ReceivedSnapshot,
  SNAPSHOT_CHUNK_BYTES,
  type SnapshotContent,
  type SnapshotExport,
  type SnapshotReceiver,
  type SnapshotSource,
  type StateMeta,
  type StateNode,
  type StateSession,
  type StateSink,
  type StateStats,
  type StateStore,
} from "./state-store.ts";
export { StoreError, type StoreErrorCode, type StoreErrorDetail } from "./store-error.ts";
export type {
  Appended,
  DurableLog,
  EntryRun,
  EpochPromise,
  EpochRange,
  HistoryInstall,
  LogBranch,
  LogBranching,
  LogConfigs,
  LoggedRun,
  LogHandler,
  LogPosition,
  LogSettings,
  LogState,
  LogStats,
  ReadResult,
  StoreLog,
  StoreWarning,
  TxnLog,
} from "./txn-log.ts";
