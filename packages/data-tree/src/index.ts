export { DataTree, type DataTreeOptions, WatchList } from "./data-tree.ts";
export { checkCreateMode, type PrepareContext, TTL_MS_MAX } from "./prepare-txn.ts";
export type { NodeRecord, SessionRecord, SnapshotRecord, TreeRecord } from "./snapshot.ts";
export { type WatchEntry, type WatchSink, WatchTable } from "./watch-table.ts";
