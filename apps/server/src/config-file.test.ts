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

test("ZooKeeper's sample file is taken, with a line for what a single server has no use for", () => {
  const { options, warnings } = parseConfigFile(SAMPLE);
  expect(options).toEqual({ address: "*", tickMs: 2000, dataDir: "/tmp/zookeeper", port: 2181 });
  expect(warnings).toEqual([
    "initLimit (line 5) has no effect: a single server has no peers",
    "syncLimit (line 8) has no effect: a single server has no peers",
  ]);
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
])("%s is honoured", (line, expected) => {
  expect(optionsOf(line)).toEqual({ address: "*", dataDir: "/data", ...expected });
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
    "readonlymode.enabled=true",
    "peerType=observer",
    "reconfigEnabled=true",
    "standaloneEnabled=false",
    "localSessionsEnabled=true",
    "dynamicConfigFile=/x",
    "group.1=1:2",
    "weight.1=2",
    "electionAlg=1",
  ])("%s", (line) => {
    expect(problems(withData(line))).toEqual([
      expect.stringMatching(/^[\w.]+ \(line 2\) .*(not supported yet|no longer has)/),
    ]);
  });

  test("several servers are an ensemble", () => {
    expect(problems(withData("server.1=a:1:2\nserver.2=b:1:2\nserver.3=c:1:2"))).toEqual([
      "3 servers are listed (server.N): an ensemble is not supported yet, a single server is",
    ]);
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
