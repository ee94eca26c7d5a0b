export {
  type ApacheChange,
  type ApacheSnapshotParts,
  type ApacheTransaction,
  apacheTransaction,
} from "@zooid/wire/apache";
export { apacheLogEntries } from "./apache/apache-log.ts";
export { derivedPasswordHash } from "./apache/apache-password.ts";
export { ApacheSnapshotDecoder } from "./apache/apache-snapshot-decoder.ts";
export { type ApacheNode, ApacheTree, type OwnedCount } from "./apache/apache-tree.ts";
export {
  type ApacheSnapshotContent,
  apacheSnapshot,
  apacheTreeSnapshot,
  type SnapshotNode,
} from "./apache/apache-tree-snapshot.ts";
export type { ExportedSessions, ExportOptions } from "./apache/export-options.ts";
export { APACHE_EPOCH_GAP, type ImportedSessions, type ImportOptions } from "./apache/import-options.ts";
export {
  Archive,
  type ArchiveEvent,
  type ArchiveOptions,
  type ArchivePart,
  type ArchiveParts,
  type ArchiveSettings,
  type ArchiveStatus,
} from "./archive/archive.ts";
export { type BaseSource, type ListedBase, listBases, readBase, readManifest } from "./archive/archive-base.ts";
export { type ArchiveBlock, ArchiveFile } from "./archive/archive-file.ts";
export { basesFolderOf, gapsIn, type ListedFile, listArchive, logFolderOf } from "./archive/archive-folder.ts";
export type { ArchiveFooter, Extent } from "./archive/archive-format.ts";
export type { ArchiveFiles } from "./archive/archive-messages.ts";
export type { BaseManifest, BasePart } from "./archive/base-manifest.ts";
export type { WrittenPart } from "./archive/base-part.ts";
export type { HistoryPurge, HistoryPurgeOptions } from "./archive/history-purge-options.ts";
export { type PurgePlan, planPurge } from "./archive/purge-plan.ts";
export {
  BaseBuilder,
  type BuiltState,
  readBuiltState,
  removeBuiltState,
  StateBuilder,
} from "./archive/state-builder.ts";
export { hasZstd } from "./archive/zstd.ts";
export { type Access, type AccessFault, accessFault } from "./directory/access-fault.ts";
export { directoryFault } from "./directory/directory-fault.ts";
export { CHECKPOINT_RESERVE, LOG_RESERVE, makeReserve, type Reserve } from "./directory/disk-reserve.ts";
export type { StoreDirectories } from "./directory/inspect-directory.ts";
export { makeDirectory } from "./directory/make-directory.ts";
export { NewDirectories } from "./directory/new-directories.ts";
export { readStore, type StoreFacts, walkClosedLog } from "./directory/read-store.ts";
export { UNFINISHED_FILE } from "./directory/unfinished.ts";
export { CHECKPOINTS_FULL_FILE, FULL_FILE, type TestBreak } from "./disk/test-break.ts";
export { HistoryQueries } from "./history/history-queries.ts";
export {
  type ChangeSink,
  type ChangesPage,
  type ChangesQuery,
  type ChildrenLimits,
  type HistoryBranch,
  HistoryReader,
  type PastAnswer,
  type PastChildrenAnswer,
  type UnknownPast,
} from "./history/history-reader.ts";
export type { HistoryThreadData } from "./history/history-thread.ts";
export {
  type FileTimes,
  isReadFor,
  placeOfTime,
  type TimedFile,
  type TimePlace,
  timedFiles,
} from "./history/time-places.ts";
export type { AppendObserver } from "./log/append-observer.ts";
export { Scrub, type ScrubDamage, type ScrubOptions, type ScrubParts, type ScrubStatus } from "./scrub/scrub.ts";
export type { FoundDamage } from "./scrub/scrub-messages.ts";
export type { EntrySink } from "./segments/entry-sink.ts";
export { readSegment, type SegmentSummary } from "./segments/read-segment.ts";
export { type SealedSegmentFile, SealedSegments } from "./segments/sealed-segments.ts";
export { isLogFile } from "./segments/segment-name.ts";
export { isLastChunk } from "./snapshots/snapshot-format.ts";
export type { LiveCapture, LiveNode, LivePosition, LiveSession, LiveSink, LiveTree } from "./state/live-tree.ts";
export { letStateStandAt } from "./state/restored-state.ts";
export { createStateFile } from "./state/state-file.ts";
export { openStore } from "./store/open-store.ts";
export type { ReplaySink, Store, StoreOptions } from "./store/store.ts";
