export { CHAIN_NONE, type Chain, ChainCursor, chainFromHalves, chainHigh, chainLow, formatChain } from "./log/chain.ts";
export { BatchCursor, putEntry } from "./log/entry-batch.ts";
export {
  type MemoryEntry,
  type MemoryLogImage,
  type MemoryLogOptions,
  MemoryTxnLog,
  type MemoryWrite,
} from "./log/memory-txn-log.ts";
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
} from "./log/txn-log.ts";
export { DataWrites } from "./state/data-writes.ts";
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
} from "./state/state-store.ts";
export { StoreError, type StoreErrorCode, type StoreErrorDetail } from "./store/store-error.ts";
