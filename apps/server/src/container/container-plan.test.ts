import { ConfigError } from "@zooid/embedded-server";
import { parseJaas } from "@zooid/java-files";
import { describe, expect, test } from "vitest";
import { parseConfigFile } from "../configuration/config-file.ts";
import { KNOWN_KEYS } from "../configuration/keys/known-keys.ts";
import { type ContainerPlan, planContainer } from "./container-plan.ts";
import { findVariable } from "./variable-names.ts";
import { isGuarding, VARIABLES } from "./variables.ts";

type Variables = Readonly<Record<string, string>>;

function plan(variables: Variables, files: Variables = {}, hostname = "zk-0"): ContainerPlan {
  return planContainer({
    variables: new Map(Object.entries(variables)),
    files: new Map(Object.entries(files)),
    hostname,
  });
}

function problemsOf(variables: Variables, hostname?: string): readonly string[] {
  try {
    plan(variables, {}, hostname);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}

/** Lines that variables add to the zoo.cfg of an empty environment, or change there. */
function added(variables: Variables, files: Variables = {}): readonly string[] {
  const before = new Set(plan({}).zooCfg.split("\n"));
  return plan(variables, files)
    .zooCfg.split("\n")
    .filter((line) => !before.has(line));
}

const FOUNDERS = {
  ZOO_MY_ID: "from-hostname",
  ZOO_SERVERS: "server.1=zk-0.zk:2888:3888;2181 server.2=zk-1.zk:2888:3888;2181 server.3=zk-2.zk:2888:3888;2181",
  ZOOID_JOINING_SERVER: "{hostname}.zk:2888:3888;2181",
  ZOOID_PEER_SECRET: "a:b",
};

const serversOf = (variables: Variables, hostname: string): readonly string[] =>
  plan(variables, {}, hostname)
    .zooCfg.split("\n")
    .filter((line) => line.startsWith("server."));

test("a server that the list lacks joins as an observer, and one that it has is listed once", () => {
  const founders = FOUNDERS.ZOO_SERVERS.split(" ");
  for (const host of ["zk-0", "zk-2"]) expect(serversOf(FOUNDERS, host)).toEqual(founders);
  expect(serversOf(FOUNDERS, "zk-3")).toEqual([...founders, "server.4=zk-3.zk:2888:3888:observer;2181"]);
  const asObserver = { ...FOUNDERS, ZOOID_JOINING_SERVER: "10.0.0.9:2888:3888:observer;2181" };
  expect(serversOf(asObserver, "zk-9").at(-1)).toBe("server.10=10.0.0.9:2888:3888:observer;2181");
  const withoutPort = { ...FOUNDERS, ZOOID_JOINING_SERVER: "{hostname}:2888:3888" };
  expect(serversOf(withoutPort, "zk-9").at(-1)).toBe("server.10=zk-9:2888:3888:observer");
});

test.each(["zk", "zk:2888", "zk:2888:3888:participant;2181", "a b:1:2", "server.4=zk:1:2"])(
  "the line of a joining server cannot be %j",
  (pattern) => {
    expect(problemsOf({ ...FOUNDERS, ZOOID_JOINING_SERVER: pattern }, "zk-3")).toEqual([
      `ZOOID_JOINING_SERVER is {hostname}.DOMAIN:2888:3888;2181, found "${pattern}"`,
    ]);
  },
);

test("a joining server needs the others", () => {
  expect(problemsOf({ ZOOID_JOINING_SERVER: "zk:2888:3888" })).toEqual([
    "ZOOID_JOINING_SERVER is for a server that joins others: list those in ZOO_SERVERS",
  ]);
});

test("the superuser's password becomes its hash, and is not in the file", () => {
  const lines = added({ ZOOID_SUPER_PASSWORD: "test\n" });
  expect(lines).toEqual(["DigestAuthenticationProvider.superDigest=super:D/InIHSb7yEEbrWz8b9l71RjZJU="]);
  const other = "DigestAuthenticationProvider.digestAlg=SHA-256";
  expect(problemsOf({ ZOOID_SUPER_PASSWORD: "test", ZOO_CFG_EXTRA: other })).toEqual([
    expect.stringContaining("set DigestAuthenticationProvider.superDigest in ZOO_CFG_EXTRA"),
  ]);
});

test.each([
  ["ZO_TICK_TIME", "ZOO_TICK_TIME"],
  ["Z00_TICK_TIME", "ZOO_TICK_TIME"],
  ["zoo_tick_time", "ZOO_TICK_TIME"],
  ["ZOKEEPER_TICK_TIME", "ZOOKEEPER_TICK_TIME"],
  ["SERVER_JVM_FLAGS", "SERVER_JVMFLAGS"],
])("a variable that is nearly one of the image's is named: %s", (name, nearest) => {
  expect(plan({ [name]: "yes" }).warnings).toEqual([
    `${name} is not a variable of this image and has no effect; the nearest known one is ${nearest}`,
  ]);
});

/**
 * Each variable that decides about votes, access, addresses or durability, and one of another image
 * or of the settings.
 */
const GUARDS = [...VARIABLES].filter(([, variable]) => isGuarding(variable)).map(([name]) => name);

describe("a misspelt name of a variable that decides about votes, access, addresses or durability ends the start", () => {
  test.each(GUARDS)("%s", (name) => {
    const last = name.length - 1;
    const misspelt = [
      `${name.slice(0, last - 1)}${name[last]}${name[last - 1]}`,
      name.slice(0, last),
      `${name}X`,
      name.toLowerCase(),
      name.replace("_", "__"),
      name.replace("_", "."),
    ].filter((each) => each !== name && findVariable(each) === undefined);
    for (const each of misspelt)
      expect(problemsOf({ [each]: "s3cret" })).toEqual([expect.stringMatching(/ is not a variable of this image; /)]);
    expect(problemsOf({ [`${name.slice(0, last)}_FILE`]: "/s3cret" })).toHaveLength(1);
  });

  test.each([
    ["ZOO_ENABLE_ATUH", "ZOO_ENABLE_AUTH"],
    ["ALLOW_ANONYMOUS_LOGN", "ALLOW_ANONYMOUS_LOGIN"],
    ["ZO_SERVERS", "ZOO_SERVERS"],
    ["Z00_MY_ID", "ZOO_MY_ID"],
    ["zoo_my_id", "ZOO_MY_ID"],
    ["ZOOKEEPER_MY_ID", "ZOO_MY_ID"],
    ["ZOOID_PEER_SECRT", "ZOOID_PEER_SECRET"],
    ["ZOO_PEER_SECRET_FILE", "ZOOID_PEER_SECRET_FILE"],
    ["ZOOID_PEER_SECRET_FLIE", "ZOOID_PEER_SECRET_FILE"],
    ["ZOOID_ALLOW_UNAUTHENTICATED_PERS", "ZOOID_ALLOW_UNAUTHENTICATED_PEERS"],
    ["ZOO_CLIENT_PORT", "ZOOKEEPER_CLIENT_PORT"],
    ["ZOO_4LW_COMMANDS_WHITELST", "ZOO_4LW_COMMANDS_WHITELIST"],
    ["ZOOKEEPER_SESSION_REQUIRE_CLIENT_SASL_AUHT", "ZOOKEEPER_SESSION_REQUIRE_CLIENT_SASLAUTH"],
    ["ZOOKEEPER_AUTH_PROVIDER_1", "authProvider."],
    ["ZOOKEEPER_SUPER_DIGEST", "DigestAuthenticationProvider.superDigest"],
    ["ZOOKEEPER_SERVER_1", "ZOO_SERVERS"],
    ["ZOOKEEPER_GROUP_1", "server.N"],
    ["ZOOKEEPER_GROUPS", "server.N"],
    ["ZOOKEEPER_WEIGHTS", "server.N"],
  ])("%s is named with %s, without its value", (name, nearest) => {
    expect(problemsOf({ [name]: "s3cret" })).toEqual([expect.stringContaining(` ${nearest}`)]);
    expect(problemsOf({ [name]: "s3cret" })).not.toEqual([expect.stringContaining("s3cret")]);
  });
});

test.each([
  "ZOO_CONF_FILE",
  "ZOO_VOLUME_DIR",
  "ZOO_BASE_DIR",
  "ZOO_BIN_DIR",
  "ZOO_LOG_FILE",
  "ZOO_DAEMON_USER",
  "ZOO_DAEMON_GROUP",
  "ZOO_LOG4J_PROP",
  "ZOO_VERSION",
  "ZOO_HOME",
  "ZOO_SNAPCOUN",
  "ZOO_TICKTIME",
  "ZOOKEEPER_CONNECT",
  "ZOOKEEPER_HOST",
  "ZOOKEEPER_VERSION",
  "ZOOID_ADMIN_AUTH",
  "KAFKA_HEAP_OPTS",
])("%s, which decides none of these, keeps no server from starting", (name) => {
  expect(problemsOf({ [name]: "some value" })).toEqual([]);
});

test("variables of other programs are not named", () => {
  const others = {
    PATH: "/bin",
    HOSTNAME: "zk-0",
    JVMFLAGS: "-Xmx1g",
    SERVER_JVMFLAGS: "-Xms1g",
    KAFKA_OPTS: "x",
    DOMAIN: "d",
  };
  expect(plan(others).warnings).toEqual([]);
});

test("without variables zoo.cfg is the official image's", () => {
  expect(plan({})).toMatchObject({ confDir: "/conf", dataDir: "/data", logDir: "/logs", myId: "1", warnings: [] });
  expect(plan({}).zooCfg).toBe(
    [
      "dataDir=/data",
      "dataLogDir=/datalog",
      "zooid.audit.file=/logs/zookeeper_audit.log",
      "tickTime=2000",
      "initLimit=5",
      "syncLimit=2",
      "maxClientCnxns=60",
      "standaloneEnabled=true",
      "admin.enableServer=true",
      "admin.serverAddress=0.0.0.0",
      "server.1=localhost:2888:3888;2181",
      "",
    ].join("\n"),
  );
});

test("volumes and files are looked for where Bitnami's image has them, unless a variable names others", () => {
  const environment = { files: new Map(), hostname: "zk-0", hasBitnamiVolume: true, hasBitnamiFile: true };
  const data = "/bitnami/zookeeper/data";
  const found = planContainer({ ...environment, variables: new Map() });
  expect(found).toMatchObject({ confDir: "/opt/bitnami/zookeeper/conf", dataDir: data });
  expect(found.zooCfg).toContain(`dataDir=${data}\ndataLogDir=${data}\n`);
  const named = new Map([
    ["ZOO_DATA_DIR", "/d"],
    ["ZOO_CONF_DIR", "/c"],
  ]);
  expect(planContainer({ ...environment, variables: named })).toMatchObject({ confDir: "/c", dataDir: "/d" });
});

const PROMETHEUS = "metricsProvider.className=org.apache.zookeeper.metrics.prometheus.PrometheusMetricsProvider";
const CLIENT_TLS: Variables = { ZOO_TLS_CLIENT_ENABLE: "yes" };
const CLIENT_TLS_LINES = ["secureClientPort=3181", "ssl.clientAuth=need"];
const QUORUM_TLS: Variables = { ZOO_TLS_QUORUM_ENABLE: "yes" };
const QUORUM_TLS_LINES = ["sslQuorum=true", "ssl.quorum.clientAuth=need"];
const AUTH: Variables = { ZOO_ENABLE_AUTH: "yes", ZOO_SERVER_USERS: "bob,eve", ZOO_SERVER_PASSWORDS: "one,two" };
const AUTH_LINES = [
  "authProvider.1=org.apache.zookeeper.server.auth.SASLAuthenticationProvider",
  "jaasLoginConfig=/conf/jaas.conf",
];

/**
 * Each variable, with the lines that it makes of a value; those of a group together with what
 * switches it on.
 */
type Golden = readonly [name: string, value: string, lines: readonly string[], others?: Variables];
const GOLDEN: readonly Golden[] = [
  [
    "ZOO_SERVERS",
    "server.1=127.0.0.1:2888:3888;2181 server.2=localhost:2889:3889;2182",
    ["server.1=127.0.0.1:2888:3888;2181", "server.2=localhost:2889:3889;2182"],
  ],
  ["ZOO_CFG_EXTRA", "a.b=c  leaderServes=no", ["a.b=c", "leaderServes=no"]],
  ["ZOO_CONF_DIR", "/etc/zk/", []],
  ["ZOO_DATA_DIR", "/d", ["dataDir=/d"]],
  ["ZOO_DATA_LOG_DIR", "/l", ["dataLogDir=/l"]],
  ["ZOO_LOG_DIR", "/var/log/zk", ["zooid.audit.file=/var/log/zk/zookeeper_audit.log"]],
  ["ZOO_MY_ID", "7", []],
  ["ZOO_TICK_TIME", "1000", ["tickTime=1000"]],
  ["ZOO_INIT_LIMIT", "10", ["initLimit=10"]],
  ["ZOO_SYNC_LIMIT", "4", ["syncLimit=4"]],
  ["ZOO_MAX_CLIENT_CNXNS", "0", ["maxClientCnxns=0"]],
  ["ZOO_STANDALONE_ENABLED", "false", ["standaloneEnabled=false"]],
  ["ZOO_ADMINSERVER_ENABLED", "false", ["admin.enableServer=false"]],
  ["ZOO_4LW_COMMANDS_WHITELIST", "srvr, mntr", ["4lw.commands.whitelist=srvr, mntr"]],
  ["ZOO_AUTOPURGE_PURGEINTERVAL", "1", ["autopurge.purgeInterval=1"]],
  ["ZOO_AUTOPURGE_SNAPRETAINCOUNT", "5", ["autopurge.snapRetainCount=5"]],
  ["ZOO_SERVER_ID", "7", []],
  ["ZOO_PORT_NUMBER", "2190", ["clientPort=2190"]],
  ["ZOO_PEER_TYPE", "observer", ["peerType=observer"]],
  ["ZOO_MAX_CNXNS", "500", ["maxCnxns=500"]],
  ["ZOO_MIN_SESSION_TIMEOUT", "3000", ["minSessionTimeout=3000"]],
  ["ZOO_MAX_SESSION_TIMEOUT", "30000", ["maxSessionTimeout=30000"]],
  ["ZOO_ENABLE_ADMIN_SERVER", "no", ["admin.enableServer=false"]],
  ["ZOO_ADMIN_SERVER_ADDRESS", "127.0.0.1", ["admin.serverAddress=127.0.0.1"]],
  ["ZOO_ADMIN_SERVER_PORT_NUMBER", "8081", ["admin.serverPort=8081"]],
  ["ZOO_AUTOPURGE_INTERVAL", "2", ["autopurge.purgeInterval=2"]],
  ["ZOO_AUTOPURGE_RETAIN_COUNT", "4", ["autopurge.snapRetainCount=4"]],
  ["ZOO_SNAPCOUNT", "1000", ["snapCount=1000"]],
  ["ZOO_PRE_ALLOC_SIZE", "65536", ["preAllocSize=65536"]],
  ["ZOO_RECONFIG_ENABLED", "no", ["reconfigEnabled=false"]],
  ["ZOO_LISTEN_ALLIPS_ENABLED", "yes", ["quorumListenOnAllIPs=true"]],
  ["ZOO_LOG_LEVEL", "WARN", []],
  ["ZOO_ENABLE_PROMETHEUS_METRICS", "yes", [PROMETHEUS, "metricsProvider.httpPort=7000"]],
  [
    "ZOO_PROMETHEUS_METRICS_PORT_NUMBER",
    "7070",
    [PROMETHEUS, "metricsProvider.httpPort=7070"],
    { ZOO_ENABLE_PROMETHEUS_METRICS: "true" },
  ],
  ["ZOO_TLS_CLIENT_ENABLE", "yes", CLIENT_TLS_LINES],
  ["ZOO_TLS_CLIENT_PORT_NUMBER", "2281", ["secureClientPort=2281", "ssl.clientAuth=need"], CLIENT_TLS],
  ["ZOO_TLS_CLIENT_AUTH", "none", ["secureClientPort=3181", "ssl.clientAuth=none"], CLIENT_TLS],
  ["ZOO_TLS_CLIENT_KEYSTORE_FILE", "/k.jks", [...CLIENT_TLS_LINES, "ssl.keyStore.location=/k.jks"], CLIENT_TLS],
  ["ZOO_TLS_CLIENT_KEYSTORE_PASSWORD", "pw", [...CLIENT_TLS_LINES, "ssl.keyStore.password=pw"], CLIENT_TLS],
  ["ZOO_TLS_CLIENT_TRUSTSTORE_FILE", "/t.jks", [...CLIENT_TLS_LINES, "ssl.trustStore.location=/t.jks"], CLIENT_TLS],
  ["ZOO_TLS_CLIENT_TRUSTSTORE_PASSWORD", "p\\w", [...CLIENT_TLS_LINES, "ssl.trustStore.password=p\\\\w"], CLIENT_TLS],
  ["ZOO_TLS_QUORUM_ENABLE", "yes", QUORUM_TLS_LINES],
  ["ZOO_TLS_QUORUM_CLIENT_AUTH", "need", QUORUM_TLS_LINES, QUORUM_TLS],
  ["ZOO_TLS_QUORUM_KEYSTORE_FILE", "/k.p12", [...QUORUM_TLS_LINES, "ssl.quorum.keyStore.location=/k.p12"], QUORUM_TLS],
  ["ZOO_TLS_QUORUM_KEYSTORE_PASSWORD", "pw", [...QUORUM_TLS_LINES, "ssl.quorum.keyStore.password=pw"], QUORUM_TLS],
  [
    "ZOO_TLS_QUORUM_TRUSTSTORE_FILE",
    "/t.p12",
    [...QUORUM_TLS_LINES, "ssl.quorum.trustStore.location=/t.p12"],
    QUORUM_TLS,
  ],
  ["ZOO_TLS_QUORUM_TRUSTSTORE_PASSWORD", "pw", [...QUORUM_TLS_LINES, "ssl.quorum.trustStore.password=pw"], QUORUM_TLS],
  ["ZOO_ENABLE_AUTH", "yes", [...AUTH_LINES, "sessionRequireClientSASLAuth=true"], AUTH],
  ["ZOO_SERVER_USERS", "bob,eve", [...AUTH_LINES, "sessionRequireClientSASLAuth=true"], AUTH],
  ["ZOO_SERVER_PASSWORDS", "one,two", [...AUTH_LINES, "sessionRequireClientSASLAuth=true"], AUTH],
  ["ALLOW_ANONYMOUS_LOGIN", "yes", AUTH_LINES, AUTH],
  ["ZOO_CLIENT_USER", "bob", []],
  ["ZOO_CLIENT_PASSWORD", "one", []],
  ["ZOO_ENABLE_QUORUM_AUTH", "no", []],
  ["ZOO_QUORUM_LEARNER_USER", "bob", []],
  ["ZOO_QUORUM_LEARNER_PASSWORD", "one", []],
  ["ZOO_QUORUM_SERVER_USERS", "bob", []],
  ["ZOO_QUORUM_SERVER_PASSWORDS", "one", []],
  ["ZOO_HEAP_SIZE", "1024", []],
  ["ZOOMAIN", "org.apache.zookeeper.server.quorum.QuorumPeerMain", []],
  ["ZOOKEEPER_SERVER_ID", "7", []],
  [
    "ZOOKEEPER_SERVERS",
    "127.0.0.1:2888:3888;localhost:2889:3889",
    ["clientPort=2181", "server.1=127.0.0.1:2888:3888", "server.2=localhost:2889:3889"],
  ],
  ["ZOOKEEPER_DATA_DIR", "/d", ["dataDir=/d"]],
  ["ZOOKEEPER_DATA_LOG_DIR", "/l", ["dataLogDir=/l"]],
  ["ZOOKEEPER_LOG4J_ROOT_LOGLEVEL", "error", []],
  ["ZOOKEEPER_LOG4J_LOGGERS", "a=b", []],
  ["ZOOKEEPER_TOOLS_LOG4J_LOGLEVEL", "ERROR", []],
  ["ZOOID_PEER_SECRET", "a:c2VjcmV0", ["zooid.peerSecretFile=/conf/peer.secret"]],
  [
    "ZOOID_JOINING_SERVER",
    "{hostname}.zk:2888:3888;2181",
    ["server.1=localhost:2888:3888", "clientPort=2181"],
    { ZOO_SERVERS: "server.1=localhost:2888:3888" },
  ],
  ["ZOOID_SUPER_PASSWORD", "test", ["DigestAuthenticationProvider.superDigest=super:D/InIHSb7yEEbrWz8b9l71RjZJU="]],
  ["ZOOID_ALLOW_UNAUTHENTICATED_PEERS", "yes", ["zooid.allowUnauthenticatedPeers=true"]],
  // By Confluent's rule, each key of zoo.cfg.
  ["ZOOKEEPER_CLIENT_PORT", "32181", ["clientPort=32181"]],
  ["ZOOKEEPER_TICK_TIME", "1000", ["tickTime=1000"]],
  ["ZOOKEEPER_AUTOPURGE_SNAP_RETAIN_COUNT", "4", ["autopurge.snapRetainCount=4"]],
  ["ZOOKEEPER_ADMIN_ENABLE_SERVER", "false", ["admin.enableServer=false"]],
  ["ZOOKEEPER_SSL_KEYSTORE_LOCATION", "/k.jks", ["ssl.keyStore.location=/k.jks"]],
];

describe("a variable's lines of zoo.cfg", () => {
  test.each(GOLDEN.map((golden) => ({ golden, title: golden.slice(0, 2).join("=") })))("$title", ({ golden }) => {
    const [name, value, lines, others = {}] = golden;
    expect(added({ ...others, [name]: value }).toSorted()).toEqual([...lines].toSorted());
  });

  test("every variable is in the table", () => {
    const named = new Set(GOLDEN.map(([name]) => name));
    expect([...VARIABLES.keys()].filter((name) => !named.has(name))).toEqual([]);
  });

  test.each(GOLDEN.map((golden) => ({ golden, title: golden.slice(0, 2).join("=") })))(
    "the server reads what $title makes",
    ({ golden }) => {
      const [name, value, , others = {}] = golden;
      const { warnings } = parseConfigFile(plan({ ...others, [name]: value }).zooCfg, () => "");
      expect(warnings.filter((warning) => warning.includes("nearest"))).toEqual([]);
    },
  );

  test("no two settings have one name of Confluent's form", () => {
    const bare = KNOWN_KEYS.map((key) => key.replace(/[._-]/g, "").toUpperCase());
    const twice = KNOWN_KEYS.filter((_, i) => bare.indexOf(bare[i] ?? "") !== i);
    // ZooKeeper itself has two ways of writing these, and neither has an effect here.
    expect(twice).toEqual(["nioNumSelectorThreads", "nioNumWorkerThreads"]);
  });
});

test("the server's number comes from any image's variable, or from the host name", () => {
  for (const name of ["ZOO_MY_ID", "ZOO_SERVER_ID", "ZOOKEEPER_SERVER_ID"])
    expect(plan({ [name]: "7" }).myId).toBe("7");
  expect(plan({ ZOO_MY_ID: "from-hostname" }, {}, "zk-2").myId).toBe("3");
});

test("the official image's list of servers may have groups and weights", () => {
  const members = ["server.1=127.0.0.1:1:2", "server.2=127.0.0.1:3:4", "group.1=1:2", "weight.1=2"];
  expect(added({ ZOO_SERVERS: members.join(" ") })).toEqual(expect.arrayContaining(members));
});

test("Bitnami's list of servers may have numbers, and other separators", () => {
  const servers = (text: string): readonly string[] =>
    added({ ZOO_SERVERS: text }).filter((line) => line.startsWith("server."));
  expect(servers("127.0.0.1:2888:3888::4 localhost:2889:3889::9")).toEqual([
    "server.4=127.0.0.1:2888:3888",
    "server.9=localhost:2889:3889",
  ]);
  expect(servers("127.0.0.1:1:2,127.0.0.1:3:4:observer;127.0.0.1:5:6")).toEqual([
    "server.1=127.0.0.1:1:2",
    "server.2=127.0.0.1:3:4:observer",
    "server.3=127.0.0.1:5:6",
  ]);
});

test("users of SASL are in a JAAS file, whatever signs their passwords have", () => {
  const { secretFiles, zooCfg } = plan({ ...AUTH, ZOO_SERVER_PASSWORDS: 'a"b\\c,{d}' });
  const sections = parseJaas(secretFiles.get("jaas.conf") ?? "");
  if (typeof sections === "string") throw new Error(sections);
  expect([...(sections.get("Server")?.[0]?.options ?? [])]).toEqual([
    ["user_bob", 'a"b\\c'],
    ["user_eve", "{d}"],
  ]);
  expect(zooCfg).not.toContain("{d}");
});

test("a password that came from a file is left there", () => {
  const file = { ZOO_TLS_CLIENT_KEYSTORE_PASSWORD: "/run/secrets/store" };
  expect(added({ ...CLIENT_TLS, ZOO_TLS_CLIENT_KEYSTORE_PASSWORD: "pw" }, file)).toEqual([
    ...CLIENT_TLS_LINES,
    "ssl.keyStore.passwordPath=/run/secrets/store",
  ]);
});

test("ZOO_CFG_EXTRA wins over what other variables set", () => {
  const { options } = parseConfigFile(plan({ ZOO_TICK_TIME: "1000", ZOO_CFG_EXTRA: "tickTime=500" }).zooCfg, () => "");
  expect(options.tickMs).toBe(500);
});

test.each<[string, Variables]>([
  ["in ZOO_SERVERS", { ZOO_SERVERS: "server.1=127.0.0.1:1:2 server.1=127.0.0.1:3:4 server.2=127.0.0.1:5:6" }],
  ["in Bitnami's form", { ZOO_SERVERS: "127.0.0.1:1:2::1,127.0.0.1:3:4::1" }],
  ["in ZOO_CFG_EXTRA", { ZOO_CFG_EXTRA: "tickTime=2000 tickTime=3000" }],
  [
    "in ZOO_SERVERS and ZOO_CFG_EXTRA",
    { ZOO_SERVERS: "server.1=127.0.0.1:1:2 server.2=127.0.0.1:3:4", ZOO_CFG_EXTRA: "server.2=127.0.0.1:5:6" },
  ],
  [
    "in ZOO_CFG_EXTRA and as what another variable asks for",
    { ...AUTH, ZOO_CFG_EXTRA: "sessionRequireClientSASLAuth=false" },
  ],
  ["in ZOO_CFG_EXTRA and another variable", { ZOO_PORT_NUMBER: "2181", ZOO_CFG_EXTRA: "clientPort=2182" }],
  ["as ZOO_DATA_DIR and ZOOKEEPER_DATA_DIR", { ZOO_DATA_DIR: "/a", ZOOKEEPER_DATA_DIR: "/b" }],
])(
  "a setting that decides who votes, who may enter or where data are is refused with two values: %s",
  (_, variables) => {
    expect(problemsOf(variables)).toHaveLength(1);
  },
);

test("the same value twice is no contradiction, and ZOO_CFG_EXTRA may say otherwise than a default", () => {
  const lists = { ZOO_SERVERS: "server.1=127.0.0.1:1:2 server.1=127.0.0.1:1:2 server.2=127.0.0.1:3:4" };
  expect(problemsOf({ ...lists, ZOO_CFG_EXTRA: "server.2=127.0.0.1:3:4" })).toEqual([]);
  expect(added({ ...CLIENT_TLS, ZOO_CFG_EXTRA: "ssl.clientAuth=none" })).toContain("ssl.clientAuth=none");
});

test("myid goes where the server looks for it, whichever variable names the data directory", () => {
  for (const variables of [
    { ZOO_DATA_DIR: "/d " },
    { ZOOKEEPER_DATA_DIR: "/d/" },
    { ZOO_CFG_EXTRA: "dataDir=/d" },
  ] satisfies readonly Variables[]) {
    const { dataDir, zooCfg } = plan(variables);
    expect([dataDir, zooCfg.includes("dataDir=/d\n")]).toEqual(["/d", true]);
  }
});

test("each problem is reported once", () => {
  expect(problemsOf({ ZOO_ENABLE_AUTH: "1", ZOO_CFG_EXTRA: "skipACL = no" })).toHaveLength(2);
});

test.each([
  ["ZOO_TICKTIME", "ZOO_TICK_TIME"],
  ["ZOOKEEPER_TICKTIMES", "ZOOKEEPER_TICK_TIME"],
])("%s is reported with %s, without its value", (name, nearest) => {
  const { warnings } = plan({ [name]: "s3cret" });
  expect(warnings).toHaveLength(1);
  expect(warnings[0]).toContain(nearest);
  expect(warnings[0]).not.toContain("s3cret");
});

test("links of Kubernetes and Docker to services of these names, variables of others, and empty ones, are no settings", () => {
  const { warnings, zooCfg } = plan({
    ZOOKEEPER_PORT: "tcp://10.0.0.1:2181",
    ZOOKEEPER_PORT_2181_TCP_ADDR: "10.0.0.1",
    ZOOKEEPER_SERVICE_HOST: "10.0.0.1",
    ZOO_1_SERVICE_PORT_CLIENT: "2181",
    ZOOTOPIA: "yes",
    PATH: "/bin",
    ZOO_TICK_TIME: "",
  });
  expect([warnings, zooCfg]).toEqual([[], plan({}).zooCfg]);
});

test("variables without their switch are reported", () => {
  expect(plan({ ZOO_TLS_CLIENT_AUTH: "need" }).warnings).toHaveLength(1);
  expect(plan({ ZOO_SERVER_USERS: "bob" }).warnings).toHaveLength(1);
  expect(plan({ ZOO_HEAP_SIZE: "1024" }).warnings).toHaveLength(1);
});

test.each<[string, Variables]>([
  ["a flag that is neither yes nor no", { ZOO_STANDALONE_ENABLED: "maybe" }],
  ["a switch that is neither yes nor no", { ZOO_ENABLE_PROMETHEUS_METRICS: "maybe" }],
  ["two variables with one meaning and different values", { ZOO_MY_ID: "1", ZOO_SERVER_ID: "2" }],
  ["two settings with different values", { ZOO_ENABLE_ADMIN_SERVER: "yes", ZOO_ADMINSERVER_ENABLED: "false" }],
  ["a number that is none", { ZOO_MY_ID: "one" }],
  ["a directory that is not absolute", { ZOO_DATA_DIR: "data" }],
  ["a log level that is none", { ZOO_LOG_LEVEL: "loud" }],
  ["a list of servers of no form", { ZOO_SERVERS: "zk1,zk2" }],
  ["a line of servers among others", { ZOO_SERVERS: "server.1=127.0.0.1:1:2 zk2" }],
  ["an extra setting without a value", { ZOO_CFG_EXTRA: "tickTime" }],
  ["users without passwords", { ZOO_ENABLE_AUTH: "yes", ZOO_SERVER_USERS: "bob" }],
  ["no users where anonymous clients are refused", { ALLOW_ANONYMOUS_LOGIN: "no" }],
  ["SASL between servers", { ZOO_ENABLE_QUORUM_AUTH: "yes" }],
  ["groups in Confluent's form", { ZOOKEEPER_GROUPS: "1:2:3" }],
  ["a line break in a setting", { ZOO_TICK_TIME: "1000\nskipACL=yes" }],
  [
    "peers on other machines that prove nothing",
    { ZOO_SERVERS: "server.1=zk1:2888:3888;2181 server.2=zk2:2888:3888;2181" },
  ],
])("%s is refused", (_, variables) => {
  expect(problemsOf(variables)).toHaveLength(1);
});

test("a host name without a number is refused where the server's number comes from it", () => {
  expect(problemsOf({ ZOO_MY_ID: "from-hostname" }, "zookeeper")).toHaveLength(1);
});

test.each<[string, Variables]>([
  ["a secret", { ZOOID_PEER_SECRET: "a:c2VjcmV0" }],
  ["certificates", { ZOO_TLS_QUORUM_ENABLE: "yes" }],
  ["a setting among the extra ones", { ZOO_CFG_EXTRA: "zooid.peerSecretFile=/conf/own" }],
  ["a network that is trusted", { ZOOID_ALLOW_UNAUTHENTICATED_PEERS: "true" }],
])("peers on other machines may have %s", (_, variables) => {
  const ZOO_SERVERS = "server.1=zk1:2888:3888;2181 server.2=zk2:2888:3888;2181";
  expect(problemsOf({ ...variables, ZOO_SERVERS })).toEqual([]);
});

test("all problems are in one error", () => {
  expect(problemsOf({ ZOO_MY_ID: "x", ZOO_LOG_LEVEL: "loud", ZOO_DATA_DIR: "data" })).toHaveLength(3);
});
