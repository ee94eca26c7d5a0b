import { ConfigError } from "@zooid/embedded-server";
import { expect, test } from "vitest";
import { parseConfigFile } from "./config-file.ts";

function problemsOf(text: string, dynamic = ""): readonly string[] {
  try {
    parseConfigFile(`dataDir=/d\n${text}`, () => dynamic);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}

test.each([
  [
    "dataLogDir=/log\\\nserver.1=zk1:2888:3888",
    "server.1 (line 3) is part of the value of dataLogDir (line 2), whose line ends in a backslash: remove that, or write it twice",
  ],
  ["dataLogDir=/log\\\r\n  tickTime = 7\r\n", "tickTime (line 3) is part of the value of dataLogDir (line 2)"],
  [
    "dataLogDir=/log # fast",
    'dataLogDir (line 2) has a comment behind its value, and a comment is a line of its own: found "/log # fast"',
  ],
  ["clientPort=2181 # for clients", "clientPort (line 2) has a comment behind its value"],
  ["4lw.commands.whitelist=stat # and no other", "4lw.commands.whitelist (line 2) has a comment behind its value"],
  ["authProvider.1=a.B # sasl", "authProvider.1 (line 2) has a comment behind its value"],
  [
    "sessionRequire ClientSASLAuth=true",
    "sessionRequire ClientSASLAuth (line 2) is no key, since a blank ends one; sessionRequireClientSASLAuth is",
  ],
  ["enforce .auth.enabled=true", "enforce .auth.enabled (line 2) is no key"],
  ["export skipACL=no", "export skipACL (line 2) is no key, since a blank ends one; skipACL is"],
])("%j, which Java reads as something else, ends the start", (text, problem) => {
  expect(problemsOf(text)).toEqual([expect.stringContaining(problem)]);
});

test("lines of a dynamic file do, too, and are named with it", () => {
  const listed = "server.1=127.0.0.1:1:2\\\nserver.2=127.0.0.1:3:4\n";
  expect(problemsOf("dynamicConfigFile=/dyn", listed)).toEqual([
    expect.stringContaining("server.2 (line 2 of /dyn) is part of the value of server.1 (line 1 of /dyn)"),
  ]);
});

test.each([
  "4lw.commands.whitelist=stat,\\\n  ruok",
  "X509AuthenticationProvider.superUser=CN=ops,\\\n OU=a # 1",
  "# a comment \\\nskipACL=no",
  "dataLogDir=/log\\\\\nskipACL=no",
  "ssl.keyStore.password=a # b",
  "dataLogDir=/log#1",
  "; skipACL=yes",
  "// skipACL=yes",
  "skipACL no",
  "server.1 127.0.0.1:2888:3888",
])("%j is read as it looks", (text) => {
  expect(problemsOf(text)).toEqual([]);
});
