import { ConfigError } from "@zooid/embedded-server";
import { describe, expect, test } from "vitest";
import { parseConfigFile } from "./config-file.ts";

function problemsOf(text: string): readonly string[] {
  try {
    parseConfigFile(text, () => "");
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}

describe("a path that a shell, a template or another system would have changed ends the start", () => {
  test.each([
    '"/var/lib/zk"',
    "'/var/lib/zk'",
    "~/zk",
    "~zookeeper/data",
    `\${DATA}/zk`,
    `/var/\${NAME}`,
    "$HOME/zk",
    "$(pwd)/zk",
    "{{ data_dir }}",
    "%PROGRAMDATA%/zk",
    "C:\\zookeeper\\data",
    "C:/zookeeper/data",
    "/var\\nlib",
    "/var\\u0000lib",
  ])("%s", (path) => {
    expect(problemsOf(`dataDir=${path}`)).toEqual([
      expect.stringMatching(/^dataDir \(line 1\) (?:names a|has a control character)/),
    ]);
  });

  test.each([
    "dataLogDir",
    "jaasLoginConfig",
    "ssl.keyStore.location",
    "ssl.trustStore.passwordPath",
    "ssl.quorum.keyStore.location",
    "zooid.ssl.crlFile",
    "zooid.peerSecretFile",
    "zooid.peerTls.ca",
    "zooid.audit.file",
  ])("in %s too", (key) => {
    expect(problemsOf(`dataDir=/d\n${key}=~/file`)).toEqual([expect.stringContaining(`${key} (line 2) names a `)]);
  });

  test.each(["/d", "data", "./data", "/var/$vol", "/data/a b", "/données", "/a:b", "/~x", "/50%"])(
    "%s is a path",
    (path) => {
      expect(problemsOf(`dataDir=${path}`)).toEqual([]);
    },
  );
});

describe("a number is one in decimal, and within its bounds:", () => {
  const NO_NUMBERS = ["", "1x", "0x1", "1e3", "--1", "1 000", "one", "1,5", "\u0661"];

  test.each<readonly [key: string, taken: readonly string[], refused: readonly string[]]>([
    ["clientPort", ["1", "+2181", "65535"], ["65536", "70000", "-1", "2181.5"]],
    ["admin.serverPort", ["0", "+8080", "65535"], ["65536", "99999", "-1", "8080.5"]],
    ["secureClientPort", ["1", "65535"], ["65536", "-1", "1.5"]],
    ["tickTime", ["1", "+2000"], ["2000.5"]],
    ["globalOutstandingLimit", ["1", "+1000"], ["0.5"]],
  ])("%s", (key, taken, refused) => {
    const isRefused = (value: string): boolean =>
      problemsOf(`dataDir=/d\n${key}=${value}`).some((problem) => problem.startsWith(key));
    expect(taken.filter(isRefused)).toEqual([]);
    expect([...NO_NUMBERS, ...refused].filter((value) => !isRefused(value))).toEqual([]);
  });
});
