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
