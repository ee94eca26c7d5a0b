import { expect, test } from "vitest";
import { jvmFlagsOf, jvmSettings, misspeltVariables } from "./jvm-flags.ts";

test.each<[string, readonly (readonly [string, string])[]]>([
  ["", []],
  ["-Xmx1g -Dcom.sun.management.jmxremote -Djava.net.preferIPv4Stack=true", []],
  ["-Dzookeeper.skipACL=yes", [["zookeeper.skipACL", "yes"]]],
  [
    "  -Xms1g\n-Djute.maxbuffer=0x200000 -Dreadonlymode.enabled=true",
    [
      ["jute.maxbuffer", "0x200000"],
      ["readonlymode.enabled", "true"],
    ],
  ],
  ['-Djava.security.auth.login.config="/etc/zoo keeper/jaas.conf"', [["jaasLoginConfig", "/etc/zoo keeper/jaas.conf"]]],
  ["'-Dzookeeper.superUser=CN=a b'", [["zookeeper.superUser", "CN=a b"]]],
  [
    "-Dzookeeper.flag -D=x -Dzookeeper.=y",
    [
      ["zookeeper.flag", ""],
      ["zookeeper.", "y"],
    ],
  ],
])("%j", (flags, settings) => {
  expect(jvmSettings({ SERVER_JVMFLAGS: flags }).map(({ key, value }) => [key, value])).toEqual(settings);
});

test("variables are read as Java and ZooKeeper's start script read them, the later one last, and in a container as Confluent's image does too", () => {
  const environment = {
    JVMFLAGS: "e",
    SERVER_JVMFLAGS: "d",
    KAFKA_OPTS: "c",
    JDK_JAVA_OPTIONS: "b",
    JAVA_TOOL_OPTIONS: "a",
    CLIENT_JVMFLAGS: "x",
  };
  expect(Object.values(jvmFlagsOf(environment))).toEqual(["a", "b", "d", "e"]);
  expect(Object.values(jvmFlagsOf(environment, "container"))).toEqual(["a", "b", "c", "d", "e"]);
  expect(jvmFlagsOf({ JVMFLAGS: "", SERVER_JVMFLAGS: undefined })).toEqual({});
});

test.each(["SERVER_JVM_FLAGS", "SERVER_JVMFLAG", "SERVERJVMFLAGS", "server_jvmflags", "JVM_FLAGS", "JVMFLAG"])(
  "settings in %s, a misspelt name of a variable, end the start",
  (name) => {
    expect(misspeltVariables({ [name]: "-Dzookeeper.sessionRequireClientSASLAuth=true" })).toHaveLength(1);
    expect(misspeltVariables({ [name]: "-Xmx1g" })).toEqual([]);
  },
);

test("variables of other programs do not", () => {
  const flags = "-Dzookeeper.sasl.client=false";
  expect(misspeltVariables({ CLIENT_JVMFLAGS: flags, KAFKA_OPTS: flags, SOLR_OPTS: flags, JVMFLAGS: flags })).toEqual(
    [],
  );
});
