/**
 * The files of an archive, for programs that copy and check them: without SQLite, whose binding
 * each thread would load.
 */
export { type ListedBase, listBases, readBase, readBasePart, readManifest } from "./archive/archive-base.ts";
export { type ArchiveBlock, ArchiveFile } from "./archive/archive-file.ts";
export {
  ArchiveListing,
  basesFolderOf,
  gapsIn,
  type ListedFile,
  listArchive,
  logFolderOf,
} from "./archive/archive-folder.ts";
export {
  type ArchiveFileName,
  type ArchiveFooter,
  archiveFileName,
  type Extent,
  parseArchiveFileName,
  parseArchiveTail,
  parseZxidName,
  TAIL_BYTES,
  zxidName,
} from "./archive/archive-format.ts";
export {
  type BaseManifest,
  type BasePart,
  encodeManifest,
  MANIFEST_BYTES_MAX,
  MANIFEST_FILE,
  PART_BYTES_MAX,
  parseManifest,
  parsePartName,
  partName,
} from "./archive/base-manifest.ts";
export { BaseStateReader } from "./archive/base-state.ts";
export { hasZstd } from "./archive/zstd.ts";
export { lowerPriority } from "./threads/lower-priority.ts";
