import { ignored, type KeyEntry, NOT_YET, ONE_LOOP } from "./key-rule.ts";

const OF_CLIENTS = "it is a client's setting";
const LOGS = "the log goes to the standard output, from --log-level on";
const NO_JAVA = "there is no Java machine";
const NO_PATH_STATISTICS = "requests are not counted by path";
const DEAD_WATCHERS = "a closed connection's watches go at once";
const NO_TRACKER = "messages between servers are not kept for the log";

/**
 * Names that ZooKeeper 3.4 to 3.9 reads beside its settings of a server: those of clients and of
 * logging, which share Java's command line with them, and those of its inner queues. None decides
 * anything here, and none is a misspelling of another.
 */
export const APACHE_KEYS: readonly KeyEntry[] = [
  ...entries(OF_CLIENTS, "sasl.clientconfig", "sasl.client.username", "sasl.client.canonicalize.hostname"),
  ...entries(OF_CLIENTS, "server.principal", "server.realm", "client.secure", "clientCnxnSocket", "request.timeout"),
  ...entries(OF_CLIENTS, "disableAutoWatchReset"),
  ...entries("a keytab needs no ticket of its own", "kinit", "requireKerberosConfig"),

  ...entries(LOGS, "console.threshold", "log.threshold", "log.maxfilesize", "log.maxbackupindex", "log.level"),
  ...entries(LOGS, "tracelog.dir", "tracelog.file", "auditlog.file", "auditlog.threshold", "audit.logger"),
  ...entries(NO_JAVA, "jmx.log4j.disable", "jmx.log4j.mbean"),

  ...entries(ONE_LOOP, "commitProcessor.maxCommitBatchSize", "commitProcessor.maxReadBatchSize"),
  ...entries(ONE_LOOP, "commitProcessor.shutdownTimeout", "request_throttler.shutdownTimeout"),
  ...entries(ONE_LOOP, "follower.skipLearnerRequestToNextProcessor"),
  ...entries(ONE_LOOP, "forward_learner_requests_to_commit_processor_disabled"),
  ...entries("it sizes a buffer of Java's", "intBufferStartingSizeBytes"),
  ...entries("connections between servers always have it", "follower.nodelay"),
  ...entries(NOT_YET, "fastleader.minNotificationInterval", "fastleader.maxNotificationInterval"),
  ...entries(NOT_YET, "leaderConnectDelayDuringRetryMs", "observerMaster.sizeLimit", "controllerPort"),
  ...entries("an observer always keeps what it learned", "observer.syncEnabled"),
  ...entries("a learner gets the log where it goes back far enough", "forceSnapshotSync", "snapshotSizeFactor"),
  ...entries(NO_TRACKER, "messageTracker.BufferSize", "messageTracker.Enabled"),

  ...entries(DEAD_WATCHERS, "watcherCleanIntervalInSeconds", "watcherCleanThreadsNum", "watcherCleanThreshold"),
  ...entries(DEAD_WATCHERS, "maxInProcessingDeadWatchers", "bitHashCacheSize"),
  ...entries(NO_PATH_STATISTICS, "pathStats.enabled", "pathStats.delay", "pathStats.initialDelay"),
  ...entries(NO_PATH_STATISTICS, "pathStats.maxDepth", "pathStats.sampleRate", "pathStats.slotCapacity"),
  ...entries(NO_PATH_STATISTICS, "pathStats.slotDuration", "pathStats.topPathMax"),
];

function entries(reason: string, ...keys: readonly string[]): readonly KeyEntry[] {
  return keys.map((key) => [key, ignored(reason)]);
}
