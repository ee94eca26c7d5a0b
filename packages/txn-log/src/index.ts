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
export type {
  ReceivedSnapshot,
  SnapshotExport,
  SnapshotReceiver,
  SnapshotSource,
  StateMark,
  StateMeta,
  StateNode,
  StateSession,
  StateSink,
  StateStats,
  StateStore,
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
  LogState,
  LogStats,
  ReadResult,
  StoreLog,
  TxnLog,
} from "./txn-log.ts";
