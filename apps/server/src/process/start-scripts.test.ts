import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ConfigError } from "@zooid/embedded-server";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parseCommandLine } from "../configuration/command-line.ts";
import { type JvmFlags, jvmFlagsOf } from "../configuration/jvm-flags.ts";

let directory = "";
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "zooid-scripts-"));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** The warnings of a start with a zoo.cfg beside such a file. */
function saidBeside(script: string, cfg = "", flags: JvmFlags = {}): readonly string[] {
  writeFileSync(join(directory, "java.env"), script);
  writeFileSync(join(directory, "zoo.cfg"), `dataDir=/d\n${cfg}`);
  try {
    const command = parseCommandLine([join(directory, "zoo.cfg")], flags);
    return command.kind === "serve" ? command.warnings : [];
  } catch (error) {
    if (error instanceof ConfigError) return ["refused", ...error.problems];
    throw error;
  }
}

const GUARDED = 'export SERVER_JVMFLAGS="-Xmx1g -Dzookeeper.sessionRequireClientSASLAuth=true"\n';

test("a setting of java.env that decides about access ends the start, with its line, since nothing runs that file", () => {
  expect(saidBeside(`# heap and access\n${GUARDED}`)).toEqual([
    "refused",
    expect.stringContaining(
      `sessionRequireClientSASLAuth (line 2 of ${directory}/java.env) is for ZooKeeper's start script`,
    ),
  ]);
});

test("another setting is reported, and Java's own flags and comments are not", () => {
  expect(saidBeside("JVMFLAGS='-Xmx1g -Dzookeeper.snapCount=7'\n# -Dzookeeper.skipACL=yes\n")).toEqual([
    expect.stringContaining("snapCount (line 1 of "),
  ]);
});

test("what zoo.cfg or the environment says as well is no loss: the service may run the file itself", () => {
  const providers = "authProvider.1=org.apache.zookeeper.server.auth.SASLAuthenticationProvider";
  expect(saidBeside(GUARDED, `sessionRequireClientSASLAuth=true\n${providers}`)).toEqual([]);
  const flags = jvmFlagsOf({ SERVER_JVMFLAGS: "-Dzookeeper.sessionRequireClientSASLAuth=true" });
  expect(saidBeside(GUARDED, providers, flags)).not.toContain("refused");
});
