import { ConfigError } from "@zooid/embedded-server";
import { describe, expect, test } from "vitest";
import { applySettings } from "./config-file.ts";
import { GUARDING_FAMILIES, GUARDING_KEYS, isKnownKey, KNOWN_KEYS } from "./keys/known-keys.ts";

/** The outcome of a line of a file. */
function outcomeOf(key: string, value = "1"): "refused" | "taken" {
  try {
    applySettings([{ key, value, where: "line 1", isOfFile: true }]);
    return "taken";
  } catch (error) {
    if (error instanceof ConfigError) return "refused";
    throw error;
  }
}

/** Slips of the pen. */
const SLIPS: Readonly<Record<string, (key: string) => string>> = {
  "without its last letter": (key) => key.slice(0, -1),
  "with a letter too many": (key) => `${key}s`,
  "with a letter doubled": (key) => key.replace(/.$/, "$&$&"),
  "with two letters swapped": (key) => key.replace(/(.)(.)$/, "$2$1"),
  "with another letter in the middle": (key) => `${key.slice(0, key.length >> 1)}#${key.slice((key.length >> 1) + 1)}`,
  "in small letters": (key) => key.toLowerCase(),
  "in capitals": (key) => key.toUpperCase(),
  "without dots": (key) => key.replaceAll(".", ""),
  "with hyphens for dots": (key) => key.replaceAll(".", "-"),
  "with the prefix in capitals": (key) => `Zookeeper.${key}`,
  "with another prefix": (key) => `org.apache.zookeeper.${key}`,
};

describe("each slip in a key that decides about votes, access, addresses or durability ends the start:", () => {
  test.each(GUARDING_KEYS)("%s", (key) => {
    const passed = Object.entries(SLIPS)
      .map(([slip, make]) => [slip, make(key)] as const)
      .filter(([, misspelt]) => !isKnownKey(misspelt) && outcomeOf(misspelt) === "taken")
      // Parts of words are not told from other words: `x.key` of a short key.
      .filter(([slip]) => key.length >= 7 || slip !== "with another prefix");
    expect(passed).toEqual([]);
  });

  test.each(GUARDING_FAMILIES.map((family) => family.slice(0, -1)))("%s.N", (family) => {
    const names = [
      `${family}1`,
      `${family}_1`,
      `${family.toLowerCase()}.1`,
      `${family.toUpperCase()}.1`,
      `Zookeeper.${family}.1`,
    ];
    expect(names.filter((name) => !isKnownKey(name) && outcomeOf(name, "org.example.X") === "taken")).toEqual(
      // A family whose name the key begins with takes it.
      family === "superUser" ? ["superUser1", "superUser_1"] : [],
    );
  });

  test.each([
    "clientPortAdress",
    "clientport",
    "readonlymode.enable",
    "authProvider1",
    "auth.provider.1",
    "Zookeeper.skipACL",
    "servers",
    "groups",
    "weights",
  ])("%s", (key) => expect(outcomeOf(key)).toBe("refused"));
});

test.each([
  "cnxTimeout",
  "electionPortBindRetry",
  "ssl.handshakeDetectionTimeoutMillis",
  "netty.server.outstandingHandshake.limit",
  "sslQuorumReloadCertFiles",
  "client.certReload",
  "admin.commandURL",
  "admin.idleTimeout",
  "admin.rateLimiterIntervalInMS",
  "metricsProvider.exportJvmInfo",
  "tickTime",
  "snapCount",
])("%s is a time, a limit or a name, and lets no one in", (key) => {
  expect([isKnownKey(key), GUARDING_KEYS.includes(key)]).toEqual([true, false]);
});

test.each([
  ["4lw.co", "", "refused"],
  ["sslQ", "", "refused"],
  ["admin", "", "refused"],
  ["4lw.co", "x", "taken"],
  ["ss", "", "taken"],
  ["autopurge.sn", "", "taken"],
  ["[server]", "", "taken"],
])("the end of a file that is cut off there, %s=%s, is %s", (key, value, outcome) => {
  expect(outcomeOf(key, value)).toBe(outcome);
});

test.each([
  ["org.apache.zookeeper.server.auth.SASLAuthentcationProvider", "refused"],
  ["org.apache.zookeeper.server.auth.SaslAuthenticationProvider", "refused"],
  ["org.apache.zookeeper.server.auth.x509AuthenticationProvider", "refused"],
  ["org.apache.zookeeper.server.auth.X509AuthenticationProvider", "taken"],
  ["com.example.MyAuthenticationProvider", "taken"],
])("authProvider.1=%s is %s", (value, outcome) => {
  expect(outcomeOf("authProvider.1", value)).toBe(outcome);
});

/**
 * Names that ZooKeeper 3.9 reads: those in its classes that begin so, and the keys of its
 * configuration file.
 */
const APACHE_NAMES = [
  "fsync.warningthresholdms",
  "jute.maxbuffer",
  "quorum.cnxn.threads.size",
  "readonlymode.enabled",
  "4lw.commands.whitelist",
  "DigestAuthenticationProvider.digestAlg",
  "DigestAuthenticationProvider.enabled",
  "bitHashCacheSize",
  "clientCnxnSocket",
  "clientPortAddress",
  "clientTcpKeepAlive",
  "client.secure",
  "closeSessionTxn.enabled",
  "cnxTimeout",
  "commitLogCount",
  "commitProcessor.maxCommitBatchSize",
  "commitProcessor.maxReadBatchSize",
  "commitProcessor.numWorkerThreads",
  "commitProcessor.shutdownTimeout",
  "controllerPort",
  "digest.enabled",
  "disableAutoWatchReset",
  "electionPortBindRetry",
  "emulate353TTLNodes",
  "fastleader.maxNotificationInterval",
  "fastleader.minNotificationInterval",
  "flushDelay",
  "forceSnapshotSync",
  "follower.skipLearnerRequestToNextProcessor",
  "forceSync",
  "intBufferStartingSizeBytes",
  "forward_learner_requests_to_commit_processor_disabled",
  "kerberos.canonicalizeHostNames",
  "kerberos.minReLoginTimeMs",
  "kinit",
  "leader.ackLoggingFrequency",
  "leader.closeSocketAsync",
  "leader.maxConcurrentDiffSyncs",
  "leader.maxConcurrentSnapSyncs",
  "leader.maxTimeToWaitForEpoch",
  "leaderConnectDelayDuringRetryMs",
  "leader.nodelay",
  "follower.nodelay",
  "learner.asyncSending",
  "learner.closeSocketAsync",
  "maxBatchSize",
  "maxCnxns",
  "maxInProcessingDeadWatchers",
  "maxWriteQueuePollTime",
  "messageTracker.BufferSize",
  "messageTracker.Enabled",
  "netty.advancedFlowControl.enabled",
  "netty.server.earlyDropSecureConnectionHandshakes",
  "nio.sessionlessCnxnTimeout",
  "observer.syncEnabled",
  "observerMaster.sizeLimit",
  "pathStats.delay",
  "pathStats.enabled",
  "pathStats.topPathMax",
  "preAllocSize",
  "quorumCnxnTimeoutMs",
  "request.timeout",
  "request_throttler.shutdownTimeout",
  "requireKerberosConfig",
  "sasl.client",
  "sasl.client.canonicalize.hostname",
  "sasl.client.username",
  "sasl.clientconfig",
  "server.principal",
  "server.realm",
  "snapshotSizeFactor",
  "watcherCleanIntervalInSeconds",
  "watcherCleanThreadsNum",
  "watcherCleanThreshold",
  "console.threshold",
  "log.threshold",
  "jmx.log4j.disable",
  ...[
    "metricsProvider.numWorkerThreads",
    "metricsProvider.ssl.keyStore.password",
    "metricsProvider.ssl.keyStore.location",
  ],
  "jvm.pause.warn-threshold.ms",
  "jvm.pause.sleep.time.ms",
  "syncEnabled",
  "localSessionsEnabled",
];

test("server.principal and server.realm are properties of clients, and in a file no members", () => {
  expect(["server.principal", "server.realm"].map((key) => outcomeOf(key, "zookeeper/host"))).toEqual([
    "refused",
    "refused",
  ]);
  expect(outcomeOf("zookeeper.server.principal", "zookeeper/host")).toBe("taken");
});

describe("a name that ZooKeeper reads is misspelt nowhere:", () => {
  test.each(APACHE_NAMES)("%s", (name) => {
    for (const key of [name, `zookeeper.${name}`]) {
      const value = name.startsWith("4lw") ? "*" : "true";
      const problems: string[] = [];
      try {
        applySettings([{ key, value, where: "SERVER_JVMFLAGS" }]);
      } catch (error) {
        if (!(error instanceof ConfigError)) throw error;
        problems.push(...error.problems);
      }
      expect(
        problems.filter((problem) => problem.includes("not a known setting") || problem.includes("none of server.N")),
      ).toEqual([]);
    }
  });
});

test.each(["fsync.warningthresholdMs", "ticktime", "maxclientcnxns", "snapcount"])(
  "%s is no danger: it is reported, and the start continues",
  (key) => expect(outcomeOf(key)).toBe("taken"),
);

test("a known key is no slip of another", () => {
  const refused = KNOWN_KEYS.filter((key) => {
    try {
      applySettings([{ key, value: "?", where: "--set" }]);
      return false;
    } catch (error) {
      return error instanceof ConfigError && error.message.includes("not a known setting");
    }
  });
  expect(refused).toEqual([]);
});
