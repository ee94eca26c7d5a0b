import { execFile } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { connect } from "@zooid/client";
import { startServer, type ZooidServer } from "@zooid/embedded-server";
import { afterAll, beforeAll, expect, test } from "vitest";
import { CliProcesses } from "../../testing/cli-process.ts";
import { Session } from "../../testing/session.ts";

const BIN = fileURLToPath(new URL("../../../bin", import.meta.url));

let server: ZooidServer;
let directory = "";
let script = "";
const processes = new CliProcesses(() => server.connectString);
beforeAll(async () => {
  server = await startServer({ port: 0 });
  await using client = await connect(server.connectString);
  for (const path of ["/app", "/apple", "/app/x:1", "/app/x:2", "/app/y"]) await client.create(path);
  directory = mkdtempSync(join(tmpdir(), "zooid-completion-"));
  // For bash the program is called as users call it.
  writeFileSync(join(directory, "zooid-cli"), `#!/bin/sh\nexec "${BIN}/zooid-cli.cjs" "$@"\n`);
  chmodSync(join(directory, "zooid-cli"), 0o755);
  const { stdout, status } = await processes.run("completion", "bash");
  expect(status).toBe(0);
  script = stdout;
});
afterAll(async () => {
  processes.kill();
  await server.stop();
  rmSync(directory, { recursive: true, force: true });
});

/** The words that bash offers for a line, by its own tables and word breaks. */
async function offers(line: string): Promise<readonly string[]> {
  const program = [
    'eval "$SCRIPT"',
    `COMP_LINE="$LINE" COMP_POINT=\${#LINE}`,
    // As bash does: the function that is registered for the command.
    "read -r _ _ function _ < <(complete -p zooid-cli)",
    '"$function" zooid-cli',
    `printf "%s\\n" "\${COMPREPLY[@]}"`,
  ].join("\n");
  // Not in this thread: the server runs in it, and the completion asks it.
  const { stdout, stderr } = await promisify(execFile)("bash", ["--norc", "-c", program], {
    env: { ...process.env, PATH: `${directory}:${process.env["PATH"]}`, SCRIPT: script, LINE: line },
  });
  expect(stderr).toBe("");
  return stdout.split("\n").filter((word) => word !== "");
}

test.each([
  ["the command", "zooid-cli gr", ["grep"]],
  [
    "a command behind options with values",
    "zooid-cli -server zk1:2181,zk2:2181 -r getA",
    ["getAcl", "getAllChildrenNumber"],
  ],
  ["nothing for the value of an option", "zooid-cli -server ", []],
  ["start options", "zooid-cli -wait", ["-waitforconnection"]],
  ["the flags of a command", "zooid-cli deleteall --", ["--dry-run"]],
  ["no flags of another one", "zooid-cli ls --dry", []],
])("bash completes %s", async (_, line, expected) => {
  expect(await offers(line)).toEqual(expected);
});

test("bash completes paths by asking the server that the line names", async () => {
  const line = `zooid-cli -server ${server.connectString} ls /app`;
  expect(await offers(line)).toEqual(["/app", "/apple"]);
});

test("what stands before a colon is not repeated, as bash splits words there", async () => {
  expect(await offers(`zooid-cli -server ${server.connectString} get /app/x:`)).toEqual(["1", "2"]);
});

test("without a server no path is offered, and nothing is printed", async () => {
  expect(await offers("zooid-cli -server 127.0.0.1:1 ls /")).toEqual([]);
});

test.each(["bash", "zsh", "fish"])("the script for %s has each command and each flag", async (shell) => {
  await using session = await Session.open(server.connectString);
  const { stdout } = await session.run("completion", shell);
  for (const word of ["getAllChildrenNumber", "dry-run", "waitforconnection", "client-configuration"]) {
    expect(stdout).toContain(word);
  }
});

test("another shell is refused, and no session is needed", async () => {
  const refused = await processes.run("-server", "127.0.0.1:1", "completion", "tcsh");
  expect([refused.stdout, refused.status]).toEqual(["", 1]);
  expect(refused.stderr).toContain("bash, zsh, fish");
});
