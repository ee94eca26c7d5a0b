import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ReportJson } from "@zooid/doctor";
import { freePort } from "@zooid/wire/testing/free-ports";
import { afterEach, beforeEach, expect, test } from "vitest";
import { parseCommandLine } from "../configuration/command-line.ts";
import { check } from "./check.ts";

let folder = "";
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "zooid-check-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

function configured(...lines: readonly string[]): string {
  const file = join(folder, "zoo.cfg");
  mkdirSync(join(folder, "data"), { recursive: true });
  writeFileSync(join(folder, "data", "myid"), "1\n");
  writeFileSync(file, [`dataDir=${join(folder, "data")}`, "initLimit=10", "syncLimit=5", ...lines, ""].join("\n"));
  return file;
}

async function checked(...words: readonly string[]) {
  const command = parseCommandLine(["check", ...words, "--json"]);
  if (command.kind !== "check") expect.unreachable(`check is read as ${command.kind}`);
  const printed: string[] = [];
  const isSound = await check(command, (line) => printed.push(line));
  const report = JSON.parse(printed.join()) as ReportJson;
  expect(report.sound).toBe(isSound);
  // The machine of the test may have findings of its own.
  const ids = report.findings.map(({ id }) => id);
  return { report, ids, of: (id: string) => report.findings.find((one) => one.id === id) };
}

test("a server that would start has no finding of its configuration, and no file is left", async () => {
  const file = configured("clientPort=2181");
  const { report, ids } = await checked(file);
  expect(ids.filter((id) => /configuration|setting|voters|host|peer|secret|certificate/.test(id))).toEqual([]);
  expect([report.looked, report.missing]).toEqual([`${file} and this machine`, []]);
  expect(readdirSync(join(folder, "data"))).toEqual(["myid"]);
});

test("a configuration that is refused is a finding for each problem", async () => {
  const { ids, report } = await checked(configured("clientPort=x", "tickTime=y"));
  expect(ids).toEqual(["configuration-refused", "configuration-refused"]);
  expect(report.findings[0]?.found).toContain("clientPort");
  expect(report.missing).toHaveLength(1);
});

test("a file that is not there is refused as the server would refuse it", async () => {
  expect((await checked(join(folder, "none.cfg"))).ids).toEqual(["configuration-refused"]);
});

test("servers of the list are looked up and dialled, and each finding names its line", async () => {
  const listening = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => listening.once("listening", resolve));
  const address = listening.address();
  const open = address !== null && typeof address === "object" ? address.port : 0;
  try {
    const file = configured(
      "clientPort=2181",
      "zooid.allowUnauthenticatedPeers=true",
      `server.1=127.0.0.1:${await freePort()}:${await freePort()}`,
      `server.2=127.0.0.1:${await freePort()}:${open}`,
      `server.3=127.0.0.1:${await freePort()}:${await freePort()}`,
      "server.4=no-host.invalid:2888:3888",
    );
    const { ids, of } = await checked(file);
    expect(of("peer-port-closed")).toMatchObject({
      subject: `${file}, line 8`,
      found: expect.stringMatching(/of server 3 at 127\.0\.0\.1:\d+ is not reached: ECONNREFUSED/),
    });
    expect(of("host-unresolved")?.subject).toBe(`${file}, line 9`);
    expect(of("even-voters")?.found).toContain("4 voters");
    expect(of("peers-unauthenticated")?.found).toContain("no-host.invalid");
    expect(ids.filter((id) => id === "peer-port-closed")).toHaveLength(1);
  } finally {
    listening.close();
  }
});

test("files with secrets are for their owner alone, the configuration as well where it has one", async () => {
  const credentials = join(folder, "credentials");
  writeFileSync(credentials, "secret", { mode: 0o644 });
  const own = join(folder, "own");
  writeFileSync(own, "secret", { mode: 0o600 });
  const file = configured(
    "zooid.history.retainMs=1000000000",
    `zooid.backup.target=${folder}`,
    `zooid.backup.credentialsFile=${credentials}`,
    `ssl.keyStore.passwordPath=${own}`,
    "ssl.quorum.keyStore.password=hello",
  );
  const { report } = await checked(file);
  const secrets = report.findings.filter(({ id }) => id === "secret-readable");
  expect(secrets.map(({ subject, found }) => [subject, found])).toEqual([
    [credentials, "the file of zooid.backup.credentialsFile has the mode 644"],
    [file, "the file of ssl.quorum.keyStore.password has the mode 644"],
  ]);
  expect(JSON.stringify(report)).not.toContain("hello");
});

test("--json belongs to check", () => {
  expect(() => parseCommandLine(["--json"])).toThrow("--json belongs to check");
});
