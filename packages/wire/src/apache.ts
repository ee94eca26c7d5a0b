/**
 * The formats of Apache ZooKeeper's servers on disk and between each other. Threads of a store load
 * this entry, so it imports the part of the model for storage alone.
 */
export {
  Adler32,
  APACHE_DIGEST_VERSION,
  APACHE_HEADER_BYTES,
  APACHE_MAGIC,
  APACHE_SESSION_BYTES,
  APACHE_STAT_BYTES,
  APACHE_VERSION,
  DIGEST_BYTES,
  END_PATH,
  field,
  int,
  LAST_ZXID_BYTES,
  long,
  SEAL_BYTES,
  STAT_LENGTHS_BYTES,
  STAT_LENGTHS_START,
} from "./apache/apache-format.ts";
export {
  type ApacheChange,
  type ApacheTransaction,
  ApacheType,
  apacheTransaction,
  apacheZxid,
} from "./apache/apache-transaction.ts";
export { ByteCursor } from "./apache/byte-cursor.ts";
export { type ApacheSnapshotParts, SnapshotBody, type SnapshotBodyOptions } from "./apache/snapshot-body.ts";
export { SnapshotFile } from "./apache/snapshot-file.ts";
