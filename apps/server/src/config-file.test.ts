import { ConfigError } from "@zooid/server";
import { describe, expect, test } from "vitest";
import { parseConfigFile } from "./config-file.ts";

/** Apache's sample file, as it comes with a release. */
const SAMPLE = `# The number of milliseconds of each tick
tickTime=2000
# The number of ticks that the initial
# synchronization phase can take
initLimit=10
# The number of ticks that can pass between
# sending a request and getting an acknowledgement
syncLimit=5
# the directory where the snapshot is stored.
# do not use /tmp for storage, /tmp here is just
# example sakes.
dataDir=/tmp/zookeeper
# the port at which the clients will connect
clientPort=2181
# the maximum number of client connections.
# increase this if you need to handle more clients
#maxClientCnxns=60
#
# Set to "0" to disable auto purge feature
#autopurge.purgeInterval=1

## Metrics Providers
#metricsProvider.className=org.apache.zookeeper.metrics.prometheus.PrometheusMetricsProvider
`;

function problems(text: string): readonly string[] {
  try {
    parseConfigFile(text);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

const withData = (text: string): string => `dataDir=/data\n${text}`;
const optionsOf = (text: string) => parseConfigFile(withData(text)).options;
const warningsOf = (text: string) => parseConfigFile(withData(text)).warnings;

test("ZooKeeper's sample file is taken", () => {
  const { options, ensemble, warnings } = parseConfigFile(SAMPLE);
  expect(options).toEqual({ tickMs: 2000, dataDir: "/tmp/zookeeper", port: 2181 });
  expect(ensemble.keys).toEqual(["initLimit (line 5)", "syncLimit (line 8)"]);
  expect(warnings).toEqual([]);
});

test.each<[string, object]>([
  ["clientPort=2182", { port: 2182 }],
  ["clientPortAddress=10.0.0.1", { address: "10.0.0.1" }],
  ["clientPortListenBacklog=100", { listenBacklog: 100 }],
  ["clientPortListenBacklog=-1", {}],
  ["dataLogDir=/log", { logDir: "/log" }],
  ["minSessionTimeout=1000", { sessionTimeoutMsMin: 1000 }],
  ["maxSessionTimeout=-1", { sessionTimeoutMsMax: -1 }],
  ["maxClientCnxns=0", { connectionsPerAddressMax: 0 }],
  ["maxCnxns=5", { connectionsMax: 5 }],
  ["4lw.commands.whitelist=stat, ruok", { fourLetterWords: "stat, ruok" }],
  ["jute.maxbuffer=0x2000", { frameBytesMax: 8192 }],
  ["globalOutstandingLimit=10", { outstandingCountMax: 10 }],
  ["DigestAuthenticationProvider.superDigest=super:abc=", { superDigest: "super:abc=" }],
  ["zookeeper.DigestAuthenticationProvider.digestAlg=SHA-256", { digestAlgorithm: "SHA-256" }],
  ["DigestAuthenticationProvider.enabled=FALSE", { digestEnabled: false }],
  ["skipACL=yes", { skipAcl: true }],
  ["skipACL=true", { skipAcl: false }],
  ["clientPort=1\nclientPort=2", { port: 2 }],
  ["readonlymode.enabled=true", { readOnlyMode: true }],
  ["localSessionsEnabled=TRUE", { localSessions: true }],
  ["localSessionsUpgradingEnabled=true", { localSessionsUpgrading: true }],
  ["leaderServes=no", { leaderServes: false }],
])("%s is honoured", (line, expected) => {
  expect(optionsOf(line)).toEqual({ dataDir: "/data", ...expected });
  expect(warningsOf(line)).toEqual([]);
});

describe("what would change safety or access is refused until it is honoured", () => {
  test.each([
    "secureClientPort=2281",
    "ssl.keyStore.location=/k",
    "ssl.quorum.trustStore.location=/t",
    "client.portUnification=true",
    "sslQuorum=true",
    "authProvider.1=org.apache.zookeeper.server.auth.SASLAuthenticationProvider",
    "zookeeper.authProvider.sasl=x",
    "sessionRequireClientSASLAuth=true",
    "enforce.auth.enabled=true",
    "enforce.auth.schemes=sasl",
    "jaasLoginConfig=Server",
    "ensembleAuthName=a",
    "quorum.auth.enableSasl=true",
    "superUser=admin",
    "enforceQuota=true",
    "reconfigEnabled=true",
    "dynamicConfigFile=/x",
    "observerMasterPort=2191",
    "oraclePath=/x",
  ])("%s", (line) => {
    expect(problems(withData(line))).toEqual([expect.stringMatching(/^[\w.]+ \(line 2\) .*not supported/)]);
  });

  test.each([
    "sslQuorum=false",
    "peerType=participant",
    "standaloneEnabled=true",
    "enforceQuota=False",
    "server.1=a:1:2",
    "electionAlg=3",
  ])("%s asks for nothing of the kind", (line) => {
    expect(problems(withData(line))).toEqual([]);
  });
});

describe("what is said of other servers", () => {
  const limitsOf = (line: string) => parseConfigFile(withData(line)).ensemble.limits;

  test.each<[string, object]>([
    ["initLimit=7", { initLimit: 7 }],
    ["syncLimit=3", { syncLimit: 3 }],
    ["electionAlg=0", { electionAlg: 0 }],
    ["peerType=observer", { isObserver: true }],
    ["peerType=Participant", { isObserver: false }],
    ["cnxTimeout=10", { connectTimeoutMs: 10_000 }],
    ["zookeeper.cnxTimeout=2500", { connectTimeoutMs: 2500 }],
    ["quorumListenOnAllIPs=true", { listenOnAllAddresses: true }],
    ["electionPortBindRetry=0", { bindRetryCount: 0 }],
    ["zooid.peerSecretFile=/secret", { peerSecretFile: "/secret" }],
    ["zooid.peerTls.key=/k\nzooid.peerTls.ca=/a", { peerTls: { key: "/k", ca: "/a" } }],
    ["zooid.allowUnauthenticatedPeers=true", { allowUnauthenticatedPeers: true }],
  ])("%s is kept for an ensemble", (line, expected) => {
    expect(limitsOf(line)).toEqual(expected);
    expect(warningsOf(line)).toEqual([]);
  });

  test("servers, groups and weights", () => {
    const { ensemble } = parseConfigFile(
      withData("server.1=a:1:2;3\nserver.02=b:1:2:observer\ngroup.4=1:2\nweight.1=5"),
    );
    expect([...ensemble.servers.keys()]).toEqual(["server.1", "server.02"]);
    expect(ensemble.servers.get("server.1")).toMatchObject({ host: "a", clientAddress: { port: 3 } });
    expect([...ensemble.groups]).toEqual([[4, [1, 2]]]);
    expect([...ensemble.weights]).toEqual([[1, 5]]);
  });

  test.each([
    ["server.1=a", "server.1 (line 2) is of the form host:quorumPort:electionPort"],
    ["group.1=1,2", 'group.1 (line 2) names servers by their numbers, like 1:2:3, found "1,2"'],
    ["weight.1=x", 'weight.1 (line 2) is a whole number, found "x"'],
    ["standaloneEnabled=no", 'standaloneEnabled (line 2) is true or false, found "no"'],
    ["initLimit=x", 'initLimit (line 2) is a whole number, found "x"'],
    ["electionAlg=1", "electionAlg (line 2) 1 is the fast election over UDP, which ZooKeeper itself no longer has"],
    ["electionAlg=x", 'electionAlg (line 2) is 3 (the default) or 0, found "x"'],
    ["peerType=voter", 'peerType (line 2) is participant or observer, found "voter"'],
    ["cnxTimeout=0", "cnxTimeout (line 2) is a number of seconds below 100"],
    ["quorumListenOnAllIPs=yes", 'quorumListenOnAllIPs (line 2) is true or false, found "yes"'],
    ["zooid.peerSecretFile=", "zooid.peerSecretFile (line 2) is empty"],
    ["leaderServes=true", 'leaderServes (line 2) is yes or no, found "true"'],
  ])("%s is refused", (line, text) => {
    expect(problems(withData(line))).toEqual([expect.stringContaining(text)]);
  });
});

describe("what has no effect is one line of warning", () => {
  test.each([
    "snapCount=1000",
    "autopurge.snapRetainCount=3",
    "admin.serverPort=8081",
    "forceSync=no",
    "zookeeper.snapCount=7",
    "metricsProvider.className=x",
  ])("%s", (line) => {
    expect(warningsOf(line)).toEqual([expect.stringMatching(/ \(line 2\) has no effect: /)]);
  });

  test.each([
    ["tickTimes=1", "tickTime"],
    ["maxClientConns=1", "maxClientCnxns"],
    ["datadir=/x", "dataDir"],
  ])("%s is not known; the nearest known key is named", (line, nearest) => {
    const [warning] = warningsOf(line);
    expect(warning).toContain("is not a known setting and has no effect; the nearest known one is");
    expect(warning).toContain(`the nearest known one is ${nearest}`);
  });
});

test("everything that is wrong is told at once, each with its line", () => {
  expect(problems("dataDir=\nclientPort=x\ntickTime=2s\nsslQuorum=true\njute.maxbuffer=big")).toEqual([
    "dataDir (line 1) is empty; it names a directory",
    'clientPort (line 2) is a whole number, found "x"',
    'tickTime (line 3) is a whole number, found "2s"',
    expect.stringContaining("sslQuorum (line 4) asks for TLS"),
    'jute.maxbuffer (line 5) is a number of bytes, found "big"',
  ]);
});

test("a file without a data directory is refused", () => {
  expect(problems("clientPort=2181")).toEqual(["dataDir is missing: it names the directory for the server's data"]);
});
