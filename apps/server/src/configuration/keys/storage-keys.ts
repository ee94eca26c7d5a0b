import { pathValue } from "../key-values.ts";
import { flag, ignored, type KeyEntry, type KeyRule, type Options, set, wholeNumber } from "./key-rule.ts";

const DURABLE_LOG = "the log and its state file are SQLite files that need no such setting";

const PURGED =
  "purging is always on and keeps what a restart needs; zooid.log.retainBytes and zooid.log.retainMs say what it keeps beyond";

/** Where data is kept and how: the log, its state, and the tree in memory. */
export const STORAGE_KEYS: readonly KeyEntry[] = [
  ["dataDir", path("dataDir")],
  ["dataLogDir", path("logDir")],
  ["datadir.autocreate", ignored("the data directory is made when it is missing")],
  ["fsync.warningthresholdms", wholeNumber("fsyncWarnMs")],
  ["zooid.slowRequestMs", wholeNumber("slowRequestMs")],
  ["zooid.log.retainBytes", retention("bytes")],
  ["zooid.log.retainMs", retention("ms")],
  ["zooid.disk.lowBytes", disk("lowBytes")],
  ["zooid.disk.reserveBytes", disk("reserveBytes")],
  ["zooid.scrub.bytesPerSecond", scrub("bytesPerSecond")],
  ["zooid.scrub.everyMs", scrub("everyMs")],
  ["zooid.healDamage", flag("healDamage")],
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
  ["enforceQuota", flag("enforceQuota")],
  ["znode.container.checkIntervalMs", reaping("checkIntervalMs")],
  ["znode.container.maxPerMinute", reaping("perMinuteMax")],
  ["znode.container.maxNeverUsedIntervalMs", reaping("neverUsedMsMax")],
  ["extendedTypesEnabled", flag("ttlNodes")],
  ["emulate353TTLNodes", ignored("it is about data of ZooKeeper 3.5.3, which cannot be here")],
  ["closeSessionTxn.enabled", ignored("the end of a session always lists the nodes that go with it")],
  ["watchManagerName", ignored("there is one table of watches")],
  ["maxResponseCacheSize", ignored("replies are copied from the tree, which needs no cache")],
  ["maxGetChildrenResponseCacheSize", ignored("replies are copied from the tree, which needs no cache")],
];

/** As {@link STORAGE_KEYS}, of keys that begin so. */
export const STORAGE_FAMILIES: readonly KeyEntry[] = [["snapshot.compression.", ignored(DURABLE_LOG)]];

function path(name: "dataDir" | "logDir"): KeyRule {
  return {
    kind: "honoured",
    set: (options, value) => {
      const found = pathValue(value, "directory");
      return "problem" in found ? found.problem : set(options, name, found.value);
    },
  };
}

function disk(name: keyof NonNullable<Options["disk"]>): KeyRule {
  return part((options, number) => set(options, "disk", { ...options.disk, [name]: number }));
}

function scrub(name: keyof NonNullable<Options["scrub"]>): KeyRule {
  return part((options, number) => set(options, "scrub", { ...options.scrub, [name]: number }));
}

function retention(name: keyof NonNullable<Options["retention"]>): KeyRule {
  return part((options, number) => set(options, "retention", { ...options.retention, [name]: number }));
}

function reaping(name: keyof NonNullable<Options["reaping"]>): KeyRule {
  return part((options, number) => set(options, "reaping", { ...options.reaping, [name]: number }));
}

/** A whole number that is one of several in an option. */
function part(put: (options: Options, number: number) => string | undefined): KeyRule {
  return {
    kind: "honoured",
    set: (options, value) => {
      if (!/^\+?\d+$/.test(value)) return `is a whole number, found "${value}"`;
      return put(options, Number(value));
    },
  };
}
