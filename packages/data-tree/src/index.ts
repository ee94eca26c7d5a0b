export { DataTree, type DataTreeOptions, WatchList } from "./data-tree.ts";
export type { EphemeralPathsLimits } from "./ephemeral-paths.ts";
export type { Excess, QuotaExcess } from "./excess.ts";
export { type CloseLimits, checkCreateMode, type PrepareContext } from "./prepare-txn.ts";
export { parseQuotaText, type QuotaText } from "./quota-text.ts";
export type { ReapLimits } from "./reapable-nodes.ts";
export type { NodeRecord, SessionRecord, SnapshotRecord, TreeRecord } from "./snapshot.ts";
export { type WatchEntry, type WatchSink, WatchTable } from "./watch-table.ts";
