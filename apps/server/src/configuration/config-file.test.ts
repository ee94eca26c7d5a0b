import { ConfigError } from "@zooid/embedded-server";
import { describe, expect, test } from "vitest";
import { applySettings, parseConfigFile, unknownKeysOf } from "./config-file.ts";
import { KNOWN_KEYS } from "./keys/known-keys.ts";

const NO_FILE = (file: string): string => {
  throw new Error(`${file} is not here`);
};
const parse = (text: string, readFile = NO_FILE) => parseConfigFile(text, readFile);

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
    parse(text);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

const withData = (text: string): string => `dataDir=/data\n${text}`;
const optionsOf = (text: string) => parse(withData(text)).options;
const warningsOf = (text: string) => parse(withData(text)).warnings;

test("ZooKeeper's sample file is taken", () => {
  const { options, ensemble, warnings } = parse(SAMPLE);
  expect(options).toEqual({ tickMs: 2000, dataDir: "/tmp/zookeeper", port: 2181 });
  expect(ensemble.limits).toEqual({ initLimit: 10, syncLimit: 5 });
  expect(ensemble.keys).toEqual([]);
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
  ["DigestAuthenticationProvider.digestAlg=SHA-256", { digestAlgorithm: "SHA-256" }],
  ["DigestAuthenticationProvider.enabled=FALSE", { digestEnabled: false }],
  ["skipACL=yes", { skipAcl: true }],
  ["clientPort=2\nclientPort=2", { port: 2 }],
  ["readonlymode.enabled=true", { readOnlyMode: true }],
  ["localSessionsEnabled=TRUE", { localSessions: true }],
  ["localSessionsUpgradingEnabled=true", { localSessionsUpgrading: true }],
  ["leaderServes=no", { leaderServes: false }],
  ["jaasLoginConfig=/etc/jaas.conf\nsasl.serverconfig=S", { auth: { jaasFile: "/etc/jaas.conf", jaasSection: "S" } }],
  ["SASLAuthenticationProvider.superPassword=x", { auth: { saslSuperPassword: "x" } }],
  ["sessionRequireClientSASLAuth=TRUE", { auth: { requireSasl: true } }],
  [
    "enforce.auth.enabled=true\nenforce.auth.schemes=sasl, x509",
    { auth: { enforceAuth: true, enforcedSchemes: ["sasl", "x509"] } },
  ],
  ["allowSaslFailedClients=true\nletAnySaslUserDoX=x", { auth: { allowSaslFailedClients: true, anySaslUser: "x" } }],
  ["superUser=ops\nsuperUser.2=dev", { auth: { saslSuperUsers: { "": "ops", ".2": "dev" } } }],
  ["authProvider.1=a.B\nauthProvider.sasl=c.D", { auth: { providers: { 1: "a.B", sasl: "c.D" } } }],
  ["secureClientPort=2281\nsecureClientPortAddress=::1", { securePort: 2281, secureAddress: "::1" }],
  ["client.portUnification=true\nclient.certReload=true", { portUnification: true, tls: { certReload: true } }],
  [
    "ssl.keyStore.location=/k.p12\nssl.keyStore.passwordPath=/p\nssl.keyStore.type=PKCS12\nssl.trustStore.location=/t.pem",
    {
      tls: {
        keyStore: { location: "/k.p12", passwordPath: "/p", type: "PKCS12" },
        trustStore: { location: "/t.pem" },
      },
    },
  ],
  [
    "ssl.clientAuth=want\nssl.protocol=TLSv1.2\nssl.enabledProtocols=TLSv1.2, TLSv1.3\nssl.ciphersuites=A,B",
    {
      tls: {
        clientAuth: "want",
        protocol: "TLSv1.2",
        enabledProtocols: ["TLSv1.2", "TLSv1.3"],
        cipherSuites: ["A", "B"],
      },
    },
  ],
  [
    "ssl.handshakeDetectionTimeoutMillis=7\nnetty.server.outstandingHandshake.limit=8",
    { tls: { handshakeTimeoutMs: 7, handshakeCountMax: 8 } },
  ],
  ["clientTcpKeepAlive=true", { tcpKeepAlive: true }],
  ["request_throttle_max_requests=9", { requestThrottleMax: 9 }],
  [
    "connection_throttle_tokens=9\nconnection_throttle_drop_increase=0.5\nconnection_throttle_weight_enabled=true",
    { connectionThrottle: { tokens: 9, dropIncrease: 0.5, isWeighted: true } },
  ],
  ["ensembleAuthName=blue,green", { auth: { ensembleNames: ["blue", "green"] } }],
  ["X509AuthenticationProvider.superUser=CN=ops", { auth: { x509SuperUser: "CN=ops" } }],
  ["ssl.crl=true\nzooid.ssl.crlFile=/lists.pem", { tls: { crl: true, crlFile: "/lists.pem" } }],
  ["ssl.clientHostnameVerification=true", { tls: { clientHostnameVerification: true } }],
  ["zooid.authFailureDelayMaxMs=0", { auth: { failureDelayMsMax: 0 } }],
  ["extendedTypesEnabled=true", { ttlNodes: true }],
  ["zooid.heldBytesMax=9", { heldBytesMax: 9 }],
  ["zooid.multiPartsMax=9", { multiPartsMax: 9 }],
  ["zooid.slowRequestMs=250", { slowRequestMs: 250 }],
  ["zooid.childrenBytesMax=9", { childrenBytesMax: 9 }],
  ["zooid.watchBytesMax=9", { watchBytesMax: 9 }],
  [
    "zooid.trustedProxies=10.0.0.1, 2001:db8::/64\nzooid.trustedProxiesPercent=50",
    { trustedProxies: ["10.0.0.1", "2001:db8::/64"], trustedProxiesPercent: 50 },
  ],
  ["zooid.healDamage=false", { healDamage: false }],
  ["zooid.scrub.bytesPerSecond=0\nzooid.scrub.everyMs=7", { scrub: { bytesPerSecond: 0, everyMs: 7 } }],
  ["zooid.log.retainBytes=9\nzooid.log.retainMs=8", { retention: { bytes: 9, ms: 8 } }],
  ["zooid.disk.lowBytes=9\nzooid.disk.reserveBytes=0", { disk: { lowBytes: 9, reserveBytes: 0 } }],
  ["enforceQuota=True", { enforceQuota: true }],
  [
    "znode.container.checkIntervalMs=5\nznode.container.maxPerMinute=6\nznode.container.maxNeverUsedIntervalMs=7",
    { reaping: { checkIntervalMs: 5, perMinuteMax: 6, neverUsedMsMax: 7 } },
  ],
])("%s is honoured", (line, expected) => {
  expect(optionsOf(line)).toEqual({ dataDir: "/data", ...expected });
  expect(warningsOf(line)).toEqual([]);
});

describe("what would change safety or access is refused until it is honoured", () => {
  test.each([
    "ssl.quorum.ocsp=true",
    "ssl.ocsp=true",
    "ssl.quorum.somethingNew=x",
    "ssl.context.supplier.class=a.B",
    "ssl.somethingNew=x",
    "quorum.auth.enableSasl=true",
    "oraclePath=/x",
  ])("%s", (line) => {
    expect(problems(withData(line))).toEqual([expect.stringMatching(/^[\w.]+ \(line 2\) .*not supported/)]);
  });

  test.each(["sslQuorum=false", "peerType=participant", "standaloneEnabled=true", "server.1=a:1:2", "electionAlg=3"])(
    "%s asks for nothing of the kind",
    (line) => {
      expect(problems(withData(line))).toEqual([]);
    },
  );
});

test("an ensemble may be changed while it runs where that is enabled", () => {
  expect(warningsOf("reconfigEnabled=true")).toEqual([]);
  expect(parse(withData("reconfigEnabled=true")).options.reconfigEnabled).toBe(true);
  expect(parse(withData("reconfigEnabled=false")).options.reconfigEnabled).toBe(false);
});

describe("a file that lists the servers", () => {
  const CONFIG = withData("dynamicConfigFile=/zoo.cfg.dynamic.100000000\nserver.3=static:1:2");
  const parsed = (text: string) =>
    parse(CONFIG, (file) => (file === "/zoo.cfg.dynamic.100000000" ? text : NO_FILE(file)));

  test("stands where it is named", () => {
    const { ensemble, warnings } = parsed(
      "server.1=a:2888:3888:participant;2181\nserver.2=b:2888:3888:observer;2181\nweight.1=2\nversion=100000000\n",
    );
    expect([...ensemble.servers].map(([key, { host }]) => `${key}=${host}`)).toEqual([
      "server.1=a",
      "server.2=b",
      "server.3=static",
    ]);
    expect([...ensemble.weights]).toEqual([[1, 2]]);
    expect(warnings).toEqual([]);
  });

  test.each([
    [
      "server.1=a:1:2\ntickTime=5",
      "tickTime (line 2 of /zoo.cfg.dynamic.100000000) is none of server.N, group.N, weight.N and version",
    ],
    [
      "version=1",
      "dynamicConfigFile (line 2): /zoo.cfg.dynamic.100000000 lists no server: write into it what zooid-cli -server HOST:PORT config prints of another server of the ensemble, or write the lines server.N into zoo.cfg in place of dynamicConfigFile",
    ],
  ])("that holds %j is refused", (text, problem) => {
    expect(() => parsed(text)).toThrow(new ConfigError([problem]));
  });
});

describe("what is said of other servers", () => {
  const limitsOf = (line: string) => parse(withData(line)).ensemble.limits;

  test.each<[string, object]>([
    ["initLimit=7", { initLimit: 7 }],
    ["syncLimit=3", { syncLimit: 3 }],
    ["electionAlg=0", { electionAlg: 0 }],
    ["peerType=observer", { isObserver: true }],
    ["observerMasterPort=2191", { observerMasterPort: 2191 }],
    ["observerMasterPort=0", {}],
    ["peerType=Participant", { isObserver: false }],
    ["cnxTimeout=10", { connectTimeoutMs: 10_000 }],
    ["cnxTimeout=2500", { connectTimeoutMs: 2500 }],
    ["zooid.foundingWaitMs=60000", { foundingWaitMs: 60_000 }],
    ["zooid.unlisted=refuse", { unlisted: "refuse" }],
    ["quorumListenOnAllIPs=true", { listenOnAllAddresses: true }],
    ["electionPortBindRetry=0", { bindRetryCount: 0 }],
    ["zooid.peerSecretFile=/secret", { peerSecretFile: "/secret" }],
    ["zooid.peerSecretMode=offer", { peerSecretMode: "offer" }],
    ["portUnification=true", { portUnification: true }],
    ["zooid.peerTls.key=/k\nzooid.peerTls.ca=/a", { peerTls: { key: "/k", ca: "/a" } }],
    ["zooid.allowUnauthenticatedPeers=true", { allowUnauthenticatedPeers: true }],
  ])("%s is kept for an ensemble", (line, expected) => {
    expect(limitsOf(line)).toEqual(expected);
    expect(warningsOf(line)).toEqual([]);
  });

  test("servers, groups and weights", () => {
    const { ensemble } = parse(withData("server.1=a:1:2;3\nserver.02=b:1:2:observer\ngroup.4=1:2\nweight.1=5"));
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
    ["initLimit=x", 'initLimit (line 2) is a whole number, 0 or more, found "x"'],
    ["electionAlg=1", "electionAlg (line 2) 1 is the fast election over UDP, which ZooKeeper itself no longer has"],
    ["electionAlg=x", 'electionAlg (line 2) is 3 (the default) or 0, found "x"'],
    ["observerMasterPort=x", 'observerMasterPort (line 2) is a port, 0 to 65535, where 0 is none, found "x"'],
    ["peerType=voter", 'peerType (line 2) is participant or observer, found "voter"'],
    ["cnxTimeout=0", "cnxTimeout (line 2) is a whole number from 1 to 2147483647, of seconds below 100"],
    ["quorumListenOnAllIPs=yes", 'quorumListenOnAllIPs (line 2) is true or false, found "yes"'],
    ["zooid.peerSecretMode=maybe", 'zooid.peerSecretMode (line 2) is require (the default) or offer, found "maybe"'],
    ["zooid.peerSecretFile=", "zooid.peerSecretFile (line 2) is empty"],
    ["sslQuorum=yes", 'sslQuorum (line 2) is true or false, found "yes"'],
    ["ssl.quorum.clientAuth=want", "ssl.quorum.clientAuth (line 2) servers always ask each other"],
    ["leaderServes=true", 'leaderServes (line 2) is yes or no, found "true"'],
  ])("%s is refused", (line, text) => {
    expect(problems(withData(line))).toEqual([expect.stringContaining(text)]);
  });
});

test("the ports for operators are as the file says", () => {
  const { admin, metrics } = optionsOf(`admin.enableServer=false
admin.serverPort=8081
admin.serverAddress=0.0.0.0
admin.commandURL=/zk
admin.idleTimeout=1000
admin.snapshot.enabled=true
admin.restore.enabled=false
admin.rateLimiterIntervalInMS=7
metricsProvider.className=org.apache.zookeeper.metrics.prometheus.PrometheusMetricsProvider
metricsProvider.httpHost=10.0.0.1
metricsProvider.httpPort=7001
metricsProvider.exportJvmInfo=false`);
  expect(admin).toEqual({
    enabled: false,
    port: 8081,
    address: "*",
    commandUrl: "/zk",
    idleTimeoutMs: 1000,
    snapshotEnabled: true,
    restoreEnabled: false,
    rateLimiterIntervalMs: 7,
  });
  expect(metrics).toEqual({ enabled: true, address: "10.0.0.1", port: 7001, exportJvmInfo: false });
});

test("the admin port has the keys that ZooKeeper's has: those between servers", () => {
  const { admin, tls } = optionsOf(`admin.forceHttps=true
admin.needClientAuth=true
ssl.quorum.keyStore.location=/k.pem
ssl.quorum.keyStore.password=x
ssl.quorum.trustStore.location=/t.p12
ssl.quorum.enabledProtocols=TLSv1.3`);
  expect(admin).toEqual({
    forceHttps: true,
    needClientAuth: true,
    tls: {
      keyStore: { location: "/k.pem", password: "x" },
      trustStore: { location: "/t.p12" },
      enabledProtocols: ["TLSv1.3"],
    },
  });
  expect(tls).toBeUndefined();
});

test.each([
  ["admin.enableServer=yes", 'admin.enableServer (line 2) is true or false, found "yes"'],
  ["admin.serverPort=http", 'admin.serverPort (line 2) is a port, 0 to 65535, found "http"'],
  ["admin.serverAddress=", "admin.serverAddress (line 2) is empty"],
  ["audit.enable=1", 'audit.enable (line 2) is true or false, found "1"'],
  ["zooid.audit.file=", "zooid.audit.file (line 2) is empty"],
  ["admin.forceHttps=1", 'admin.forceHttps (line 2) is true or false, found "1"'],
  ["ssl.quorum.keyStore.location=", "ssl.quorum.keyStore.location (line 2) is empty"],
  ["metricsProvider.className=x", "metricsProvider.className (line 2) names one of org.apache.zookeeper"],
  ["metricsProvider.httpsPort=7443", "metricsProvider.httpsPort (line 2) asks for metrics over TLS"],
])("%s stops the start", (line, text) => {
  expect(problems(withData(line))).toEqual([expect.stringContaining(text)]);
});

describe("what has no effect is one line of warning", () => {
  test.each([
    "snapCount=1000",
    "audit.impl.class=org.example.Audit",
    "nioNumWorkerThreads=4",
    "snapshot.compression.method=gz",
    "snapshot.compression.level=9",
    "IPAuthenticationProvider.usexforwardedfor=true",
    "autopurge.snapRetainCount=3",
    "forceSync=no",
    "zookeeper.snapCount=7",
    "metricsProvider.numWorkerThreads=2",
  ])("%s", (line) => {
    expect(warningsOf(line)).toEqual([expect.stringMatching(/ \(line 2\) has no effect: /)]);
  });

  test.each([
    ["tickTimes=1", "tickTime"],
    ["maxClientConns=1", "maxClientCnxns"],
  ])("%s is not known; the nearest known key is named", (line, nearest) => {
    const [warning] = warningsOf(line);
    expect(warning).toContain("is not a known setting and has no effect; the nearest known one is");
    expect(warning).toContain(`the nearest known one is ${nearest}`);
  });

  test("one that is like none stands alone", () => {
    expect(warningsOf("somethingOfMyOwn=1")).toEqual([
      "somethingOfMyOwn (line 2) is not a known setting and has no effect",
    ]);
  });
});

test.each(["true", "YES", "1"])("skipACL=%s is a no, and says so", (value) => {
  expect(optionsOf(`skipACL=${value}`)).toMatchObject({ skipAcl: false });
  expect(warningsOf(`skipACL=${value}`)).toEqual([
    `skipACL (line 2) is "${value}", which is a no, as for Apache ZooKeeper: access lists are checked; yes alone switches them off`,
  ]);
});

test.each([
  ["clientPortAddress", '"127.0.0.1"', 'is an address or a name without quotes, found "127.0.0.1"'],
  ["admin.serverAddress", "'zk1'", "is an address or a name without quotes, found 'zk1'"],
  ["metricsProvider.httpHost", "zk1,zk2", 'is an address or a name, found "zk1,zk2"'],
  ["secureClientPortAddress", "http:\\u002f\\u002fzk1", "is no IPv6 address"],
  ["server.1", '"10.0.0.1":2888:3888', 'is an address or a name without quotes, found "10.0.0.1"'],
])("an address that can never be looked up is refused: %s=%s", (key, value, problem) => {
  expect(problems(withData(`${key}=${value.replaceAll("\\\\", "\\")}`)).join()).toContain(problem);
});

test("an entry of users of the console that is none is not shown: it may be a password", () => {
  const [problem] = problems(withData("zooid.console.viewers=digest:bob:pass!word"));
  expect(problem).toContain("found another entry at place 1");
  expect(problem).not.toContain("pass");
});

test.each(["--set", "SERVER_JVMFLAGS"])(
  "zooid.unknownKeys counts with ZooKeeper's prefix and from %s, too",
  (where) => {
    const settings = [
      { key: "zookeeper.zooid.unknownKeys", value: "refuse", where },
      { key: "zookeeper.somethingOfMyOwn", value: "1", where },
    ];
    expect(unknownKeysOf(settings)).toBe("refuse");
    expect(() => applySettings(settings, unknownKeysOf(settings))).toThrow("is not a known setting");
  },
);

describe("a misspelt key that decides about votes, access or durability stops the start", () => {
  test.each([
    "server.3O",
    "server.3a",
    "server.",
    "server.-3",
    "Server.3",
    "server3",
    "servers.3",
    "sever.3",
    "SERVER_3",
    "zookeeper.server.x",
    "weight.x",
    "group.x",
    "Weight.1",
  ])("%s lists no member", (key) => {
    expect(problems(withData(`${key}=1`))).toEqual([
      `${key} (line 2) is none of server.N, group.N and weight.N, with N from 0 to 254, and these decide which servers vote`,
    ]);
  });

  test("a key of any name lists no member, though its value does", () => {
    expect(problems(withData("member.3=zk3:2888:3888"))).toEqual([expect.stringContaining("is none of server.N")]);
  });

  test.each([
    ["sessionRequireClientSASLauth=true", "sessionRequireClientSASLAuth"],
    ["enforce.auth.enable=true", "enforce.auth.enabled"],
    ["enforceAuthEnabled=true", "enforce.auth.enabled"],
    ["admin.forceHttp=true", "admin.forceHttps"],
    ["superdigest=super:x", "DigestAuthenticationProvider.superDigest"],
    ["authProvder.1=org.example.X", "authProvider."],
    ["zookeeper.authProvder.1=org.example.X", "authProvider."],
    ["skipAcl=yes", "skipACL"],
    ["datadir=/x", "dataDir"],
    ["reconfigEnable=true", "reconfigEnabled"],
    ["ssQuorum=true", "sslQuorum"],
    ["standalone.enabled=false", "standaloneEnabled"],
    ["audit.enabled=true", "audit.enable"],
  ])("%s", (line, meant) => {
    const [key] = line.split("=");
    expect(problems(withData(line))).toEqual([
      `${key} (line 2) is not a known setting; ${meant} is, and decides about votes, access, addresses or durability: correct this line or remove it`,
    ]);
  });

  test("every key of Zooid's own is known", () => {
    expect(problems(withData("zooid.console.operator=x509:CN=a\nzooid.slowRequestsMs=5\nzooid.x=1"))).toEqual([
      "zooid.console.operator (line 2) is not a known setting of Zooid; the nearest known one is zooid.console.operators",
      "zooid.slowRequestsMs (line 3) is not a known setting of Zooid; the nearest known one is zooid.slowRequestMs",
      "zooid.x (line 4) is not a known setting of Zooid",
    ]);
  });

  test.each(KNOWN_KEYS.filter((key) => key.length > 5))("%s with a letter too many is refused or reported", (key) => {
    const line = `${key}q=1`;
    const said = problems(withData(line));
    expect(said.length > 0 ? said : warningsOf(line)).not.toEqual([]);
  });
});

test("unknown keys are refused where zooid.unknownKeys says so, and that setting has two values", () => {
  expect(problems(withData("zooid.unknownKeys=refuse\nsomethingOfMyOwn=1"))).toEqual([
    "somethingOfMyOwn (line 3) is not a known setting",
  ]);
  expect(warningsOf("zooid.unknownKeys=warn\nsomethingOfMyOwn=1")).toHaveLength(1);
  expect(problems(withData("zooid.unknownKeys=no"))).toEqual([
    'zooid.unknownKeys (line 2) is warn (the default) or refuse, found "no"',
  ]);
});

test.each([
  ["tickTime=2000\ntickTime=3000", 'tickTime (line 3) is "3000", and "2000" on line 2: keep one of them'],
  [
    "server.1=a:1:2\nserver.01=b:1:2",
    'server.01 (line 3) is "b:1:2", and server.1 is "a:1:2" on line 2: keep one of them',
  ],
  ["skipACL=no\nskipACL=yes\nskipACL=no", 'skipACL (line 3) is "yes", and "no" on line 2: keep one of them'],
  ["weight.1=1\nweight.01=5", 'weight.01 (line 3) is "5", and weight.1 is "1" on line 2: keep one of them'],
  [
    "sessionRequireClientSASLAuth=true\nzookeeper.sessionRequireClientSASLAuth=false",
    'zookeeper.sessionRequireClientSASLAuth (line 3) is "false", and sessionRequireClientSASLAuth is "true" on line 2: keep one of them',
  ],
  [
    "ssl.keyStore.password=hunter2\nssl.keyStore.password=hunter3",
    "ssl.keyStore.password (line 3) and ssl.keyStore.password (line 2) have different values: keep one of them",
  ],
])("%j: a key with two values is refused", (lines, problem) => {
  expect(problems(withData(lines))).toEqual([problem]);
});

describe("a key with ZooKeeper's prefix in the file", () => {
  test.each(["tickTime=5", "cnxTimeout=2500", "sessionRequireClientSASLAuth=true", "skipACL=no"])(
    "zookeeper.%s is used and named, since Apache's server ignores it",
    (line) => {
      const [key] = line.split("=");
      expect(optionsOf(`zookeeper.${line}`)).toEqual(optionsOf(line));
      expect(warningsOf(`zookeeper.${line}`)).toEqual([
        `zookeeper.${key} (line 2): Apache ZooKeeper ignores the prefix "zookeeper." in this file, where ${key} is the setting; it is used here`,
      ]);
    },
  );

  test.each([
    "skipACL=yes",
    "DigestAuthenticationProvider.superDigest=super:x",
    "superUser.ops=a",
    "reconfigEnabled=true",
    "ssl.clientAuth=none",
    "ssl.quorum.hostnameVerification=false",
    "admin.serverAddress=0.0.0.0",
    "admin.needClientAuth=false",
    "client.portUnification=true",
    "zooid.peerSecretMode=offer",
    "zooid.trustedProxies=10.0.0.0/8",
    "enforce.auth.enabled=false",
    "ensembleAuthName=x",
    "authProvider.1=org.apache.zookeeper.server.auth.SASLAuthenticationProvider",
  ])("zookeeper.%s opens access, and stops the start", (line) => {
    const [key] = line.split("=");
    expect(problems(withData(`zookeeper.${line}`))).toEqual([
      `zookeeper.${key} (line 2): Apache ZooKeeper ignores the prefix "zookeeper." in this file, where ${key} is the setting; it opens access, so write ${key}, or remove the line`,
    ]);
  });
});

describe("an address to listen on", () => {
  const KEYS = ["clientPortAddress", "secureClientPortAddress", "admin.serverAddress", "metricsProvider.httpHost"];
  const read = (line: string): unknown => {
    const { address, secureAddress, admin, metrics } = optionsOf(line);
    return address ?? secureAddress ?? admin?.address ?? metrics?.address;
  };

  test.each(KEYS)("%s may have brackets around an IPv6 address, and be every address", (key) => {
    expect(
      ["[::1]", "::1", "10.0.0.1", "zk-1.example", "[::]", "::", "0.0.0.0"].map((at) => read(`${key}=${at}`)),
    ).toEqual(["::1", "::1", "10.0.0.1", "zk-1.example", "*", "*", "*"]);
  });

  test.each(KEYS)("%s that can never be an address stops the start", (key) => {
    const found = ["", "[::g]", "1:2", "300.1.1.1", "1.2.3", "[zk]:2181", "a b", "[1.2.3.4]"];
    expect(found.map((at) => problems(withData(`${key}=${at}`)).length)).toEqual(found.map(() => 1));
  });

  test("nor do members with impossible addresses or ports", () => {
    expect(
      problems(withData("server.1=300.1.1.1:1:2\nserver.2=[::g]:1:2\nserver.3=a:1:2;[1::2::3]:5\nserver.4=a:1:99999")),
    ).toEqual([
      'server.1 (line 2) is no IPv4 address, found "300.1.1.1"',
      'server.2 (line 3) is no IPv6 address, found "::g"',
      'server.3 (line 4) is no IPv6 address, found "1::2::3"',
      expect.stringContaining("server.4 (line 5) is of the form"),
    ]);
  });
});

test("all problems are reported in one error, each with its line", () => {
  expect(problems("dataDir=\nclientPort=x\ntickTime=2s\nssl.ocsp=true\njute.maxbuffer=big")).toEqual([
    "dataDir (line 1) is empty; it names a directory",
    'clientPort (line 2) is a port, 0 to 65535, found "x"',
    'tickTime (line 3) is a whole number, found "2s"',
    expect.stringContaining("ssl.ocsp (line 4) asks for certificates to be checked by OCSP"),
    'jute.maxbuffer (line 5) is a number of bytes, found "big"',
  ]);
});

test("a file without a data directory is refused", () => {
  expect(problems("clientPort=2181")).toEqual(["dataDir is missing: it names the directory for the server's data"]);
});
