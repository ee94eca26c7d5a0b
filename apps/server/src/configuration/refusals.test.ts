import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ConfigError, parseServerConfig } from "@zooid/embedded-server";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parseCommandLine } from "./command-line.ts";
import { errorWithOrigins } from "./setting-origins.ts";

let directory = "";
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "zooid-refusals-"));
  writeFileSync(join(directory, "myid"), "3\n");
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** The problems of a start with these lines, from the third one on. */
function refusalOf(lines: string): readonly string[] {
  const file = join(directory, "zoo.cfg");
  writeFileSync(file, `dataDir=${directory}\n\n${lines}\n`);
  try {
    const command = parseCommandLine([file]);
    if (command.kind !== "serve") throw new Error("a file starts a server");
    try {
      parseServerConfig({ ...command.options, admin: { ...command.options.admin } });
    } catch (error) {
      throw errorWithOrigins(error, command);
    }
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.problems.map((problem) => problem.replaceAll(`${file}: `, "FILE: "));
  }
  return [];
}

const MEMBERS = "server.1=127.0.0.1:1:2\nserver.2=127.0.0.1:3:4\nserver.3=127.0.0.1:5:6";

test.each([
  "tickTime=-5",
  "maxSessionTimeout=1",
  "jute.maxbuffer=1",
  "nio.sessionlessCnxnTimeout=0",
  "secureClientPort=2281\nssl.clientAuth=none",
  "secureClientPort=1\nssl.clientAuth=none\nssl.keyStore.location=/nope",
  "secureClientPort=1\nssl.clientAuth=none\nssl.ciphersuites=A\nssl.keyStore.location=/nope.pem",
  "secureClientPortAddress=::1",
  "admin.needClientAuth=true",
  "admin.commandURL=x y",
  "clientPort=21\nadmin.serverPort=21",
  "zooid.trustedProxies=x",
  "zooid.console.adminPorts=x",
  "connection_throttle_decrease_ratio=7",
  "DigestAuthenticationProvider.digestAlg=x",
  "jaasLoginConfig=/nope",
  "enforce.auth.enabled=true",
  "enforce.auth.enabled=true\nenforce.auth.schemes=foo",
  "sessionRequireClientSASLAuth=true",
  "dynamicConfigFile=/nope",
  "server.1=a:1:2\nserver.2=b:1:2\nserver.3=c:1:2",
  `${MEMBERS}\nclientPort=5`,
  `${MEMBERS}\ninitLimit=0`,
  `${MEMBERS}\nweight.1=2`,
  `${MEMBERS}\nobserverMasterPort=5`,
  `${MEMBERS}\nsslQuorum=true\nssl.quorum.trustStore.location=/nope.pem`,
  `${MEMBERS}\nzooid.peerSecretMode=offer`,
  `${MEMBERS}\nzooid.peerSecretFile=/nope`,
  "server.1=127.0.0.1:1:2\nserver.2=127.0.0.1:3:4",
])("a refusal names the file, and the line of a setting or the file of the number: %j", (lines) => {
  const problems = refusalOf(lines);
  expect(problems.length).toBeGreaterThan(0);
  for (const problem of problems) expect(problem).toMatch(/^FILE: .*(?:\(line [3-9]\)|myid \(\S+myid\))/);
});
