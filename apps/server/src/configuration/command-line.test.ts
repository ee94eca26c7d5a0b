import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { ConfigError } from "@zooid/embedded-server";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Command, parseCommandLine } from "./command-line.ts";

let directory = "";
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "zooid-command-line-"));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function configFile(text: string, name = "zoo.cfg"): string {
  const file = join(directory, name);
  writeFileSync(file, text);
  return file;
}

function serve(...argv: string[]): Extract<Command, { kind: "serve" }> {
  const command = parseCommandLine(argv);
  if (command.kind !== "serve") throw new Error(`expected to serve, found ${command.kind}`);
  return command;
}

function serveWith(jvmFlags: string, ...argv: string[]): ReturnType<typeof serve> {
  const command = parseCommandLine(argv, { SERVER_JVMFLAGS: jvmFlags });
  if (command.kind !== "serve") throw new Error(`expected to serve, found ${command.kind}`);
  return command;
}

function problemsOf(...argv: string[]): string {
  try {
    parseCommandLine(argv);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  return "";
}

test("without options it serves with data under ./data", () => {
  expect(serve()).toEqual({
    kind: "serve",
    options: { dataDir: resolve("data") },
    console: {},
    values: new Map(),
    origins: new Map([["myid", resolve("data", "myid")]]),
    warnings: [],
    logLevel: "info",
  });
});

test("a file is read, and flags win over it", () => {
  const file = configFile("dataDir=/from-file\ndataLogDir=/log\nclientPort=1111\ntickTime=500");
  expect(serve(file).options).toEqual({ address: "*", dataDir: "/from-file", logDir: "/log", port: 1111, tickMs: 500 });
  expect(serve(file, "--port", "0", "--address", "127.0.0.1", "--set", "tickTime=700").options).toMatchObject({
    port: 0,
    address: "127.0.0.1",
    tickMs: 700,
    dataDir: "/from-file",
  });
});

test("another data directory on the command line leaves the file's log directory behind", () => {
  const file = configFile("dataDir=/from-file\ndataLogDir=/log");
  expect(serve(file, "--data", "/elsewhere").options).not.toHaveProperty("logDir");
  expect(serve(file, "--data", "/elsewhere", "--set", "dataLogDir=/l").options).toMatchObject({ logDir: "/l" });
});

test("a configuration without a tick has the one of ZooKeeper's own server", () => {
  expect(serve(configFile("dataDir=/d")).options).toMatchObject({ tickMs: 3000 });
  expect(serve("2182", "/data").options).toMatchObject({ tickMs: 3000 });
  expect(serve().options).not.toHaveProperty("tickMs");
});

test("settings of one group may come from the flags, the file and the command line", () => {
  const keys = [
    ["reaping", "znode.container.checkIntervalMs", "znode.container.maxPerMinute"],
    ["retention", "zookeeper.zooid.log.retainBytes", "zooid.log.retainMs"],
    ["disk", "zookeeper.zooid.disk.lowBytes", "zooid.disk.reserveBytes"],
    ["backup", "zookeeper.zooid.backup.retainMs", "zooid.backup.bytesPerSecond"],
    ["scrub", "zookeeper.zooid.scrub.bytesPerSecond", "zooid.scrub.everyMs"],
    ["connectionThrottle", "zookeeper.connection_throttle_tokens", "connection_throttle_fill_time"],
  ] as const;
  for (const [group, flag, key] of keys) {
    const command = parseCommandLine([configFile(`dataDir=/d\n${key}=7`)], { SERVER_JVMFLAGS: `-D${flag}=9` });
    expect(command).toMatchObject({ options: { [group]: expect.anything() } });
    if (command.kind === "serve") expect(Object.values(command.options[group] ?? {})).toHaveLength(2);
  }
});

describe("an ensemble", () => {
  /** A directory for data with this file myid, or with none. */
  function dataOf(myid: string | null): string {
    const data = mkdtempSync(join(directory, "data-"));
    if (myid !== null) writeFileSync(join(data, "myid"), myid);
    return data;
  }
  const THREE = "server.1=a:1:2;2181\nserver.2=b:1:2;10.0.0.2:2182\nserver.3=c:1:2:observer\nserver.4=d:1:2\n";
  const file = (text: string, myid: string | null = "2\n") => configFile(`dataDir=${dataOf(myid)}\n${text}`);

  test("is its servers, and which of them this one is", () => {
    const { options, warnings } = serve(file(`${THREE}initLimit=7\nsyncLimit=2`));
    expect(options.ensemble).toEqual({
      sid: 2,
      initLimit: 7,
      syncLimit: 2,
      servers: [
        { sid: 1, host: "a", quorumPort: 1, electionPort: 2, isObserver: false, clientAddress: { port: 2181 } },
        {
          sid: 2,
          host: "b",
          quorumPort: 1,
          electionPort: 2,
          isObserver: false,
          clientAddress: { host: "10.0.0.2", port: 2182 },
        },
        { sid: 3, host: "c", quorumPort: 1, electionPort: 2, isObserver: true },
        { sid: 4, host: "d", quorumPort: 1, electionPort: 2, isObserver: false },
      ],
    });
    expect(warnings).toEqual([]);
  });

  test("takes its client port from its own line, unless it is given apart", () => {
    expect(serve(file(THREE)).options).toMatchObject({ port: 2182, address: "10.0.0.2" });
    expect(serve(file(THREE, "1")).options).toMatchObject({ port: 2181, address: "*" });
    const { options, warnings } = serve(file(`${THREE}clientPortAddress=::1`), "--port", "5");
    expect(options).toMatchObject({ port: 5, address: "::1" });
    expect(warnings).toEqual([
      "clientPort (--port) says 5 and is used: server.2 (line 3) says that clients come to port 2182",
    ]);
  });

  test("listens at the address of its own line beside the same clientPort", () => {
    expect(serve(file(`${THREE}clientPort=2182`)).options).toMatchObject({ port: 2182, address: "10.0.0.2" });
    const lone = "server.7=a:1:2;127.0.0.1:2189\nclientPort=2189";
    expect(serve(file(lone, "7")).options).toMatchObject({ port: 2189, address: "127.0.0.1" });
    expect(serve(file(lone, null)).options).toMatchObject({ port: 2189, address: "*" });
  });

  test("lets its own line decide its role, beside any peerType", () => {
    const { options, warnings } = serve(file(`${THREE}peerType=observer`));
    expect(options.ensemble).toMatchObject({ isObserver: false });
    expect(warnings).toEqual(["peerType is not used: the line server.2 says participant"]);
    expect(serve(file(`${THREE}peerType=participant`, "3")).options.ensemble).toMatchObject({ isObserver: true });
  });

  test("with reconfigEnabled takes port and role from its own line alone, and an address from zoo.cfg where the line has none", () => {
    const text = `${THREE}reconfigEnabled=true\nclientPortAddress=::1\npeerType=observer`;
    const { options, warnings } = serve(file(text, "2"), "--port", "5", "--address", "::1");
    expect(options).toMatchObject({ port: 2182, address: "10.0.0.2", ensemble: { isObserver: false } });
    expect(warnings).toEqual([
      "peerType is not used: the line server.2 says participant",
      "clientPort (--port) says 5 and is not used: server.2 (line 3) says that clients come to port 2182",
    ]);
    expect(serve(file(text, "1")).options).toMatchObject({ port: 2181, address: "::1" });
    expect(serve(file(`${text}\nclientPort=5`, "4")).options).toMatchObject({ port: 5, address: "::1" });
  });

  test("reads myid where the command line says that the data lie, and its settings win", () => {
    const data = dataOf("4");
    const { options } = serve(file(THREE), "--data", data, "--set", "initLimit=9", "--set", "server.4=e:5:6");
    expect(options.ensemble).toMatchObject({ sid: 4, initLimit: 9 });
    expect(options.ensemble?.servers.at(-1)).toMatchObject({ sid: 4, host: "e", quorumPort: 5 });
  });

  test("has TLS files from the file and the command line together", () => {
    const { options } = serve(
      file(`${THREE}zooid.peerTls.key=/k\nzooid.peerTls.cert=/c`),
      "--set",
      "zooid.peerTls.ca=/a",
    );
    expect(options.ensemble?.peerTls).toEqual({ key: "/k", cert: "/c", ca: "/a" });
  });

  test("has the stores of ssl.quorum.* where sslQuorum says so, from the file and the command line together", () => {
    const stores = "ssl.quorum.keyStore.location=/k.p12\nssl.quorum.trustStore.location=/t.pem\nssl.quorum.crl=true";
    const text = `${THREE}${stores}\nssl.quorum.clientHostnameVerification=false\nsslQuorumReloadCertFiles=true\n`;
    const { options } = serve(file(`${text}sslQuorum=true`), "--set", "zooid.ssl.quorum.crlFile=/lists.pem");
    expect(options.ensemble?.peerStores).toEqual({
      keyStore: { location: "/k.p12" },
      trustStore: { location: "/t.pem" },
      crl: true,
      crlFile: "/lists.pem",
      certReload: true,
      clientHostnameVerification: false,
    });
    expect(serve(file(text)).options.ensemble).not.toHaveProperty("peerStores");
    const unified = { portUnification: true, peerStores: { keyStore: { location: "/k.p12" } } };
    const both = `${text}portUnification=true\n`;
    expect(serve(file(both)).options.ensemble).toMatchObject({ ...unified, dialsTls: false });
    expect(serve(file(`${both}sslQuorum=true`)).options.ensemble).toMatchObject({ ...unified, dialsTls: true });
    const pem = `${THREE}zooid.peerTls.key=/k\nportUnification=true\n`;
    expect(serve(file(pem)).options.ensemble).toMatchObject({ dialsTls: true });
    expect(serve(file(`${pem}sslQuorum=false`)).options.ensemble).toMatchObject({ dialsTls: false });
    expect(serve(file(pem)).options.ensemble).not.toHaveProperty("peerStores");
  });

  test("has groups and weights", () => {
    const { options } = serve(file(`${THREE}group.1=1:2\ngroup.2=4\nweight.2=3`));
    expect(options.ensemble?.servers.map(({ sid, group, weight }) => [sid, group, weight])).toEqual([
      [1, 1, undefined],
      [2, 1, 3],
      [3, undefined, undefined],
      [4, 2, undefined],
    ]);
  });

  test.each<[string, string, string]>([
    ["of two", "server.1=a:1:2\nserver.2=b:1:2", "two servers with a vote cannot do without either"],
    ["of four", `${THREE}server.5=e:1:2`, "4 servers with a vote can do without 1, and so can 3"],
    [
      "with several addresses",
      "server.1=a:1:2|a2:1:2\nserver.2=b:1:2\nserver.3=c:1:2",
      "server.1 has 2 addresses; only the first (a) is used",
    ],
  ])("%s is worth a line", (_, text, warning) => {
    expect(serve(file(text)).warnings).toEqual([expect.stringContaining(warning)]);
  });

  test("of one listed server is none, unless it is asked for", () => {
    const { options, warnings } = serve(file("server.7=a:1:2;2189\ninitLimit=5\ncnxTimeout=5", null));
    expect(options).toMatchObject({ port: 2189 });
    expect(options.ensemble).toBeUndefined();
    expect(warnings).toEqual([
      "cnxTimeout (line 4) has no effect: a single server has no peers",
      expect.stringContaining("only one server is listed (server.7), so this one serves alone"),
    ]);
    expect(serve(file("server.7=a:1:2\nstandaloneEnabled=true", null)).warnings).toEqual([]);
    expect(serve(file("server.7=a:1:2\nstandaloneEnabled=false", "7")).options.ensemble).toMatchObject({ sid: 7 });
  });

  test.each<[string, string, string | null, string]>([
    ["myid missing", THREE, null, "myid is missing; it holds this server's number, the N of its line server.N"],
    ["no number in myid", THREE, "two", 'holds this server\'s number, 0 to 254, found "two"'],
    ["a number out of range", THREE, "255", 'found "255"; session ids of a server 255 would begin'],
    [
      "two client ports in one file",
      `${THREE}clientPort=5`,
      "2",
      "clientPort is 5, and the line server.2 says that clients come to port 2182: write one of them, or both alike",
    ],
    [
      "two addresses for clients in one file",
      `${THREE}clientPortAddress=10.0.0.3`,
      "2",
      "clientPortAddress is 10.0.0.3, and the line server.2 says that clients come to 10.0.0.2: write one of them, or both alike",
    ],
    ["clients where its peers come", `${THREE}clientPort=2`, "4", "clientPort is 2, which server.4 has for elections"],
    ["one port for its peers", "server.1=a:1:1\nserver.2=b:1:2", "1", "server.1 has port 1 twice"],
    ["one port for the peers of a single server", "server.1=a:1:1", null, "server.1 has port 1 twice"],
    ["an empty myid", THREE, "", 'found ""'],
    ["groups that overlap", `${THREE}group.1=1:2\ngroup.2=2:4`, "2", "server 2 is in group.1 and in group.2"],
    [
      "a group with a stranger",
      `${THREE}group.1=1:2:4:9`,
      "2",
      "group.1 names server 9, and there is no line server.9",
    ],
    ["a weight for a stranger", `${THREE}weight.9=1`, "2", "weight.9 is for a server that is not listed"],
    ["an empty ensemble", "standaloneEnabled=false", "2", "there is no line server.N"],
    ["one vote and observers", "server.1=a:1:2\nserver.2=b:1:2:observer", "2", "only with standaloneEnabled=false"],
    [
      "votes only after a file says so",
      `${THREE}db.autocreate=false`,
      "2",
      "db.autocreate (line 6) asks that a server without data does not vote",
    ],
    ["an observer without voters", "peerType=observer", null, "there are none (server.N)"],
    ["a lone observer", "server.1=a:1:2:observer", null, "there is no voter to observe"],
    [
      "a server alone without clients",
      "zooid.clients=closed",
      null,
      "zooid.clients=closed is kept in the configuration",
    ],
    ["a group without servers", "group.1=1", null, "group.1 belongs to an ensemble"],
    ["a weight without servers", "weight.1=1", null, "weight.1 belongs to an ensemble"],
  ])("is refused for %s", (_, text, myid, problem) => {
    expect(problemsOf(file(text, myid)).replace(/ \(line \d+\)/g, "")).toContain(problem.replace(/ \(line \d+\)/g, ""));
  });

  describe("whose own line and clientPort say different things", () => {
    const OTHER = "clientPort=5\nclientPortAddress=::1";

    test.each<[string, string, number, number]>([
      ["static lines", THREE, 3, 6],
      ["static lines with reconfigEnabled", `${THREE}reconfigEnabled=true\n`, 3, 7],
      ["a single server", "server.2=b:1:2;2182\n", 2, 3],
    ])("is refused with both lines: %s", (_, text, server, port) => {
      const path = file(`${text}clientPort=5\n`, "2");
      expect(problemsOf(path)).toBe(
        `${path}: clientPort (line ${port}) is 5, and the line server.2 (line ${server}) says that clients come to port 2182: write one of them, or both alike`,
      );
    });

    test.each(["", "reconfigEnabled=true\n"])("uses the line of a dynamic file (%j), with a warning", (more) => {
      const dynamic = configFile(THREE, "members.dynamic");
      const { options, warnings } = serve(file(`dynamicConfigFile=${dynamic}\n${more}${OTHER}`, "2"));
      expect(options).toMatchObject({ port: 2182, address: "10.0.0.2" });
      const line = more === "" ? 3 : 4;
      expect(warnings).toEqual([
        `clientPort (line ${line}) says 5 and is not used: server.2 (line 2 of ${dynamic}) says that clients come to port 2182`,
      ]);
    });

    test("uses the line, with a warning, where the data may have a configuration", () => {
      const data = dataOf("2");
      // A log that cannot be read may have one; the server reports it.
      writeFileSync(join(data, "log.db"), "unreadable");
      const { options, warnings } = serve(configFile(`dataDir=${data}\n${THREE}clientPort=5`));
      expect(options).toMatchObject({ port: 2182, address: "10.0.0.2" });
      expect(warnings).toEqual([
        "clientPort (line 6) says 5 and is not used: server.2 (line 3) says that clients come to port 2182",
      ]);
    });

    test("is refused for two addresses of a single server", () => {
      const path = file("server.7=a:1:2;127.0.0.1:2189\nclientPort=2189\nclientPortAddress=::1", "7");
      expect(problemsOf(path)).toContain(
        "clientPortAddress (line 4) is ::1, and the line server.7 (line 2) says that clients come to 127.0.0.1",
      );
    });
  });
});

test("init-secret takes a file", () => {
  expect(parseCommandLine(["init-secret", "s"])).toEqual({ kind: "init-secret", file: resolve("s") });
  expect(problemsOf("init-secret")).toContain("init-secret takes the name of a file");
});

test("port and directory without a file, as ZooKeeper's own server takes them", () => {
  expect(serve("2182", "/data", "3000", "10").options).toEqual({
    address: "*",
    port: 2182,
    dataDir: "/data",
    tickMs: 3000,
    connectionsPerAddressMax: 10,
  });
});

test("--help and --version win over everything else", () => {
  expect(parseCommandLine(["--help"])).toEqual({ kind: "help" });
  expect(parseCommandLine(["no-such-file", "--version"])).toEqual({ kind: "version" });
});

test("a file of servers that is gone is refused with what to do", () => {
  const gone = join(directory, "zoo.cfg.dynamic.100000000");
  const file = configFile(`dataDir=d\ndynamicConfigFile=${gone}\n`);
  expect(problemsOf(file)).toBe(
    `${file}: dynamicConfigFile (line 2): there is no file ${gone}: write into it what zooid-cli -server HOST:PORT config prints of another server of the ensemble, or write the lines server.N into zoo.cfg in place of dynamicConfigFile`,
  );
});

describe("refused with a sentence", () => {
  test.each([
    [["--nope"], "--nope"],
    [["no-such-file.cfg"], "cannot read the configuration file no-such-file.cfg"],
    [["2199"], "npm start -- --port N"],
    [["1", "2", "3", "4", "5"], "at most 4 arguments"],
    [["--set", "novalue"], '--set takes KEY=VALUE, found no "="'],
    [["--set", "tickTmie=3"], "tickTmie (--set) is not a known setting; the nearest known one is tickTime"],
    [["--set", "zookeeper.tickTmie=3"], "zookeeper.tickTmie (--set) is not a known setting; the nearest known one"],
    [["--set", "something.of.my.own=3"], "something.of.my.own (--set) is not a known setting"],
    [["--set", "ssl.ocsp=true"], "ssl.ocsp (--set) asks for certificates to be checked by OCSP"],
    [["--port", "x"], 'clientPort (--port) is a port, 0 to 65535, found "x"'],
    [["--log-level", "loud"], '--log-level is one of debug, info, warn, error, found "loud"'],
    [["x", "/data"], 'clientPort (argument 1) is a port, 0 to 65535, found "x"'],
  ])("%j", (argv, text) => {
    expect(problemsOf(...argv)).toContain(text);
  });

  test("problems of a file name the file", () => {
    const file = configFile("dataDir=/d\nclientPort=x");
    expect(problemsOf(file)).toBe(`${file}: clientPort (line 2) is a port, 0 to 65535, found "x"`);
  });
});

test("settings of the command line join those of the file, for the ports of operators too", () => {
  const className = "metricsProvider.className=org.apache.zookeeper.metrics.prometheus.PrometheusMetricsProvider";
  const file = configFile(`dataDir=/d\nadmin.serverPort=1\n${className}\n`);
  const { options, configuration } = serve(
    file,
    "--set",
    "admin.commandURL=/zk",
    "--set",
    "metricsProvider.httpPort=2",
  );
  expect(options).toMatchObject({ admin: { port: 1, commandUrl: "/zk" }, metrics: { enabled: true, port: 2 } });
  expect(configuration).toContain("admin.serverPort=1");
});

describe("unknown keys are refused or reported wherever zooid.unknownKeys stands:", () => {
  const path = (more = ""): string => configFile(`dataDir=/d\nmyKey=1\n${more}`);
  test("on the command line, for the file", () => {
    expect(problemsOf(path(), "--set", "zooid.unknownKeys=refuse")).toContain("myKey (line 2) is not a known setting");
    expect(problemsOf(path("zooid.unknownKeys=refuse"), "--set", "zooid.unknownKeys=warn")).toBe("");
    expect(problemsOf(path("zookeeper.zooid.unknownKeys=refuse"))).toContain("myKey (line 2) is not a known setting");
  });
  test("in the file, for Java's flags, and in those for themselves", () => {
    const inFlags = (flags: string, file = configFile("dataDir=/d")): string => {
      try {
        return parseCommandLine([file], { SERVER_JVMFLAGS: flags }).kind;
      } catch (error) {
        return error instanceof Error ? error.message : "";
      }
    };
    expect(inFlags("-Dzookeeper.myKey=1")).toBe("serve");
    expect(inFlags("-Dzookeeper.myKey=1 -Dzookeeper.zooid.unknownKeys=refuse")).toContain("not a known setting");
    expect(inFlags("-Dzookeeper.myKey=1", configFile("dataDir=/d\nzooid.unknownKeys=refuse"))).toContain(
      "zookeeper.myKey (SERVER_JVMFLAGS) is not a known setting",
    );
  });
});

describe("settings in the flags for Java's command line", () => {
  test("count, and are reported without their values", () => {
    const { options, warnings } = serveWith("-Xmx1g -Dzookeeper.DigestAuthenticationProvider.superDigest=super:abc=");
    expect(options.superDigest).toBe("super:abc=");
    expect(warnings.join()).toContain("SERVER_JVMFLAGS sets zookeeper.DigestAuthenticationProvider.superDigest");
    expect(warnings.join()).not.toContain("abc");
  });

  test("are beside other words that have no effect, which are named without their values", () => {
    const { warnings } = serveWith(
      "-Xmx1g -Dzookeper.snapCount=7 -Djavax.net.ssl.keyStorePassword=s3cret -javaagent:/a=b",
    );
    expect(warnings).toEqual([
      "SERVER_JVMFLAGS has no effect beyond ZooKeeper's settings, and holds -Xmx1g, -Dzookeper.snapCount, -Djavax.net.ssl.keyStorePassword, -javaagent",
    ]);
    // Flags of every Java program on the machine are none of a server's.
    const flags = { JAVA_TOOL_OPTIONS: "-Xmx1g", JDK_JAVA_OPTIONS: "-Xms1g" };
    expect(parseCommandLine([], flags)).toMatchObject({ warnings: [] });
  });

  test.each([
    ["-Dzookeper.sessionRequireClientSASLAuth=true", "sessionRequireClientSASLAuth"],
    ["-DZookeeper.skipACL=no", "skipACL"],
    ["-DsessionRequireClientSASLAuth=true", "sessionRequireClientSASLAuth"],
    ["-DsessionRequireClientSASLauth=true", "sessionRequireClientSASLAuth"],
    ["-DauthProvider.1=org.example.A", "authProvider.1"],
    ["-Dzookeeper_ssl.clientAuth=need", "ssl.clientAuth"],
  ])("%s, which sets nothing, ends the start", (flag, key) => {
    expect(() => serveWith(flag)).toThrow(
      `SERVER_JVMFLAGS has ${flag.split("=")[0]}, which is not read; zookeeper.${key} is`,
    );
  });

  test("without a value are there, and empty", () => {
    expect(() => serveWith("-Dzookeeper.sessionRequireClientSASLAuth")).toThrow(
      'zookeeper.sessionRequireClientSASLAuth (SERVER_JVMFLAGS) is true or false, found ""',
    );
  });

  test.each([
    "-Djavax.net.ssl.keyStoreType=JKS -Djavax.net.ssl.trustStorePassword=x -Djava.net.preferIPv4Stack=true",
    "-Dcom.sun.management.jmxremote.ssl=false -Dcom.sun.management.jmxremote.authenticate=false",
    "-Djava.security.krb5.conf=/etc/krb5.conf -Djavax.security.auth.useSubjectCredsOnly=false -Dsun.net.inetaddr.ttl=60",
    "-Dlog4j.configuration=file:/a -Dlogback.configurationFile=/b -Dkafka.logs.dir=/c -Duser.timezone=UTC",
  ])("are distinguished from Java's own: %s", (flags) => {
    expect(serveWith(flags).warnings).toHaveLength(1);
  });

  test("of a later variable win", () => {
    const command = parseCommandLine([], {
      SERVER_JVMFLAGS: "-Dzookeeper.maxCnxns=1",
      JVMFLAGS: "-Dzookeeper.maxCnxns=2",
    });
    expect(command).toMatchObject({ options: { connectionsMax: 2 } });
  });

  test("give way to the command line's own", () => {
    expect(serveWith("-Dzookeeper.maxCnxns=1", "--set", "maxCnxns=2").options.connectionsMax).toBe(2);
    const flags = "-Dzookeeper.ssl.keyStore.location=/k.p12 -Dzookeeper.ssl.keyStore.password=x";
    expect(serveWith(flags, "--set", "ssl.keyStore.password=y").options.tls).toMatchObject({
      keyStore: { location: "/k.p12", password: "y" },
    });
  });
});

test("a TLS port alone opens no plain one", () => {
  expect(serve("--set", "secureClientPort=2281").options).toMatchObject({ securePort: 2281, plainPort: false });
  expect(serve("--set", "secureClientPort=2281", "--port", "2181").options.plainPort).toBeUndefined();
  expect(serve().options.plainPort).toBeUndefined();
});

describe("a file of strangers", () => {
  test("that is longer than any configuration is not read", () => {
    expect(problemsOf(configFile(`dataDir=/data\n${"# more\n".repeat(200_000)}`))).toContain(
      "no configuration has more",
    );
  });

  test("may name what means something to the language: it is a name like others, and nothing is expanded", () => {
    const file = configFile(
      [
        "dataDir=/data/$HOME",
        "__proto__=x",
        "constructor.prototype.port=1",
        "authProvider.__proto__=a.B",
        "superUser.constructor=ops",
      ].join("\n"),
    );
    const { options } = serve(file);
    expect(options).toMatchObject({ dataDir: "/data/$HOME" });
    expect(options.port).toBeUndefined();
    expect(Object.entries(options.auth?.providers ?? {})).toEqual([["__proto__", "a.B"]]);
    expect(Object.entries(options.auth?.saslSuperUsers ?? {})).toEqual([[".constructor", "ops"]]);
    expect(Object.getPrototypeOf(options)).toBe(Object.prototype);
  });
});

test.each([
  ["", undefined],
  ["audit.enable=false\nzooid.audit.file=/x", undefined],
  ["audit.enable=true", "/d/zookeeper_audit.log"],
  ["zookeeper.audit.enable=TRUE\nzooid.audit.file=/logs/audit.log", "/logs/audit.log"],
])("with %j clients' writes are written down in %s", (lines, file) => {
  expect(serve(configFile(`dataDir=/d\n${lines}\n`)).auditFile).toBe(file);
});

test("whether there is an audit log may be said on the command line and in Java's flags too", () => {
  const file = configFile("dataDir=/d\nzooid.audit.file=/a\n");
  expect(serve(file, "--set", "audit.enable=true").auditFile).toBe("/a");
  expect(serveWith("-Dzookeeper.audit.enable=true", file).auditFile).toBe("/a");
});

test.each([
  [["--prot", "2181"], "unknown option --prot; the nearest is --port"],
  [["--log=debug"], "unknown option --log; the nearest is --log-level"],
  [["--xyzzy"], "unknown option --xyzzy"],
  [["--port"], "--port takes a value"],
  [["--data", "--port", "1"], "--data takes a value"],
  [["--version=1"], "--version takes no value"],
])("%j is one line and names --help", (argv, line) => {
  expect(problemsOf(...argv).split("\n")).toEqual([line, "zooid-server --help lists all options"]);
});

test("every wrong option is reported in one error", () => {
  expect(problemsOf("--prot", "1", "--daat", "d", "--set").split("\n")).toHaveLength(4);
});

test("follow needs the servers of an Apache ensemble, and nothing else takes them", () => {
  const follows = configFile("dataDir=/data\nzooid.follow=a:2888:3888,b:2888\nzooid.follow.sid=200", "follow.cfg");
  expect(serve("follow", follows).options.follow).toEqual({ hosts: "a:2888:3888,b:2888", sid: 200 });
  expect(problemsOf(follows)).toContain("start zooid-server follow, or remove the keys zooid.follow");
  expect(problemsOf("follow", configFile("dataDir=/data", "plain.cfg"))).toContain("zooid.follow is missing");
});
