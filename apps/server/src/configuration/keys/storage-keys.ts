import { countValue, pathValue, type Read, textValue, trueOrFalseValue, wholeValue } from "../key-values.ts";
import { ignored, type KeyEntry, option, part } from "./key-rule.ts";

const DURABLE_LOG = "the log and its state file are SQLite files that need no such setting";

const PURGED =
  "purging is always on and keeps what a restart needs; zooid.log.retainBytes and zooid.log.retainMs say what it keeps beyond";

/** Where data is kept and how: the log, its state, and the tree in memory. */
export const STORAGE_KEYS: readonly KeyEntry[] = [
  ["dataDir", option("dataDir", directoryValue)],
  ["dataLogDir", option("logDir", directoryValue)],
  ["datadir.autocreate", ignored("the data directory is made when it is missing")],
  ["fsync.warningthresholdms", option("fsyncWarnMs", wholeValue)],
  ["zooid.slowRequestMs", option("slowRequestMs", wholeValue)],
  ["zooid.log.retainBytes", part("retention", "bytes", countValue)],
  ["zooid.log.retainMs", part("retention", "ms", countValue)],
  ["zooid.history.retainMs", part("history", "retainMs", countValue)],
  ["zooid.history.retainBytes", part("history", "retainBytes", countValue)],
  ["zooid.history.fileMs", part("history", "fileMs", countValue)],
  ["zooid.history.lagBytesMax", part("history", "lagBytesMax", countValue)],
  ["zooid.backup.target", part("backup", "target", backupTargetValue)],
  ["zooid.backup.endpoint", part("backup", "endpoint", textValue)],
  ["zooid.backup.region", part("backup", "region", textValue)],
  ["zooid.backup.credentialsFile", part("backup", "credentialsFile", pathValue)],
  ["zooid.backup.baseEveryMs", part("backup", "baseEveryMs", countValue)],
  ["zooid.backup.retainMs", part("backup", "retainMs", countValue)],
  ["zooid.backup.bytesPerSecond", part("backup", "bytesPerSecond", countValue)],
  ["zooid.standby.from", part("standby", "from", backupTargetValue)],
  ["zooid.standby.endpoint", part("standby", "endpoint", textValue)],
  ["zooid.standby.region", part("standby", "region", textValue)],
  ["zooid.standby.credentialsFile", part("standby", "credentialsFile", pathValue)],
  ["zooid.disk.lowBytes", part("disk", "lowBytes", countValue)],
  ["zooid.disk.reserveBytes", part("disk", "reserveBytes", countValue)],
  ["zooid.scrub.bytesPerSecond", part("scrub", "bytesPerSecond", countValue)],
  ["zooid.scrub.everyMs", part("scrub", "everyMs", countValue)],
  ["zooid.healDamage", option("healDamage", trueOrFalseValue)],
  ["preAllocSize", ignored(DURABLE_LOG)],
  [
    "snapCount",
    ignored("the state file follows the log by its bytes; zooid.log.retainBytes says how much log is kept"),
  ],
  ["snapSizeLimitInKb", ignored(DURABLE_LOG)],
  ["txnLogSizeLimitInKb", ignored(DURABLE_LOG)],
  ["commitLogCount", ignored(DURABLE_LOG)],
  ["flushDelay", ignored("a batch is what gathers while the one before it is synced")],
  ["maxWriteQueuePollTime", ignored("a batch is what gathers while the one before it is synced")],
  ["maxBatchSize", ignored("a batch is what gathers while the one before it is synced")],
  ["forceSync", ignored("every acknowledged write is synced", "yes")],
  ["snapshot.trust.empty", ignored(DURABLE_LOG)],
  ["snapshot.compression.method", ignored(DURABLE_LOG)],
  ["serializeLastProcessedZxid.enabled", ignored(DURABLE_LOG)],
  ["autopurge.snapRetainCount", ignored(PURGED)],
  ["autopurge.purgeInterval", ignored(PURGED)],

  ["digest.enabled", ignored("the tree's digest is always kept")],
  ["enforceQuota", option("enforceQuota", trueOrFalseValue)],
  ["znode.container.checkIntervalMs", part("reaping", "checkIntervalMs", countValue)],
  ["znode.container.maxPerMinute", part("reaping", "perMinuteMax", countValue)],
  ["znode.container.maxNeverUsedIntervalMs", part("reaping", "neverUsedMsMax", countValue)],
  ["extendedTypesEnabled", option("ttlNodes", trueOrFalseValue)],
  ["emulate353TTLNodes", ignored("it is about data of ZooKeeper 3.5.3, which cannot be here")],
  ["closeSessionTxn.enabled", ignored("the end of a session always lists the nodes that go with it")],
  ["watchManagerName", ignored("there is one table of watches")],
  ["maxResponseCacheSize", ignored("replies are copied from the tree, which needs no cache")],
  ["maxGetChildrenResponseCacheSize", ignored("replies are copied from the tree, which needs no cache")],
];

/** As {@link STORAGE_KEYS}, of keys that begin so. */
export const STORAGE_FAMILIES: readonly KeyEntry[] = [["snapshot.compression.", ignored(DURABLE_LOG)]];

function directoryValue(value: string): Read<string> {
  return pathValue(value, "directory");
}

/** A bucket is named as it is, and a directory by its path. */
function backupTargetValue(value: string): Read<string> {
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(value) ? textValue(value) : pathValue(value, "directory");
}
