import { once } from "node:events";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ReportJson } from "@zooid/doctor";
import { HOST } from "@zooid/embedded-server/testing/certificates";
import { freePort, freePorts } from "@zooid/wire/testing/free-ports";
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

/** A port of this machine that this process listens on. */
async function heldPort(): Promise<{ readonly held: Server; readonly port: number }> {
  const held = createServer().listen(0, "127.0.0.1");
  await once(held, "listening");
  const address = held.address();
  return { held, port: address !== null && typeof address === "object" ? address.port : 0 };
}

function keyStore(): string {
  const file = join(folder, "store.pem");
  writeFileSync(file, HOST.cert + HOST.key, { mode: 0o600 });
  return file;
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
  const { held: listening, port: open } = await heldPort();
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

test("a port that another program holds is named with its process, and is free after that program", async () => {
  const { held, port: taken } = await heldPort();
  const [quorum, election] = [await freePort(), await freePort()];
  const file = configured(
    `clientPort=${taken}`,
    "clientPortAddress=127.0.0.1",
    "admin.enableServer=false",
    `server.1=127.0.0.1:${quorum}:${election}`,
    "standaloneEnabled=false",
  );
  try {
    const { of } = await checked(file);
    expect(of("port-taken")).toMatchObject({
      subject: `${file}, line 4`,
      found: expect.stringMatching(
        process.platform === "linux"
          ? new RegExp(`^clientPort, 127\\.0\\.0\\.1:${taken}, is taken by \\S.* \\(process \\d+\\)$`)
          : /is taken by another program$/,
      ),
      remedy: expect.stringContaining(`ss -ltnp 'sport = :${taken}'`),
    });
  } finally {
    held.close();
    await once(held, "close");
  }
  expect((await checked(file)).of("port-taken")).toBeUndefined();
});

test.each<[setting: string, id: string, lines: (taken: number, free: readonly number[]) => readonly string[]]>([
  [
    "secureClientPort",
    "port-taken",
    (taken) => [
      `secureClientPort=${taken}`,
      "secureClientPortAddress=127.0.0.1",
      `ssl.keyStore.location=${keyStore()}`,
      "ssl.clientAuth=none",
    ],
  ],
  [
    "the quorum port of server.1",
    "port-taken",
    (taken, [free]) => ["standaloneEnabled=false", `server.1=127.0.0.1:${taken}:${free}`],
  ],
  [
    "the election port of server.1",
    "port-taken",
    (taken, [free]) => ["standaloneEnabled=false", `server.1=127.0.0.1:${free}:${taken}`],
  ],
  [
    "observerMasterPort",
    "optional-port-closed",
    (taken, [one, two]) => [
      "standaloneEnabled=false",
      `server.1=127.0.0.1:${one}:${two}`,
      `observerMasterPort=${taken}`,
    ],
  ],
  ["admin.serverPort", "optional-port-closed", (taken) => ["admin.enableServer=true", `admin.serverPort=${taken}`]],
  [
    "metricsProvider.httpPort",
    "optional-port-closed",
    (taken) => [
      "metricsProvider.className=org.apache.zookeeper.metrics.prometheus.PrometheusMetricsProvider",
      "metricsProvider.httpHost=127.0.0.1",
      `metricsProvider.httpPort=${taken}`,
    ],
  ],
])("of the ports, %s is looked at too: %s", async (setting, id, linesOf) => {
  const { held, port } = await heldPort();
  const [client = 0, ...free] = await freePorts(3);
  const lines = linesOf(port, free);
  const admin = setting === "admin.serverPort" ? [] : ["admin.enableServer=false"];
  try {
    const { report } = await checked(
      configured(`clientPort=${client}`, "clientPortAddress=127.0.0.1", ...admin, ...lines),
    );
    const found = report.findings.filter((one) => one.id.includes("port-"));
    expect(found.map((one) => [one.id, one.found.split(",", 1).join()])).toEqual([[id, setting]]);
  } finally {
    held.close();
  }
});

test("settings out of their range keep the server from starting, and are found by their line", async () => {
  const file = configured("clientPort=2181", "tickTime=0", "jute.maxbuffer=1");
  const { report, of } = await checked(file);
  const refused = report.findings.filter(({ id }) => id === "configuration-refused").map(({ found }) => found);
  expect(refused).toEqual([
    `${file}: tickTime (line 5) is a whole number from 1 to 2147483647, found 0`,
    `${file}: jute.maxbuffer (line 6) is a whole number from 45 to 16777216, found 1`,
  ]);
  expect(of("configuration-refused")?.severity).toBe("error");
});

test.each([
  [
    "below a file",
    () => join(folder, "zoo.cfg", "data"),
    /^dataDir cannot be used: it does not exist and cannot be made: \S+ is no directory$/,
  ],
  ["that is a file", () => join(folder, "zoo.cfg"), /^dataDir cannot be used: \S+ is no directory$/],
  [
    "of the kernel",
    () => "/proc/self/data",
    /^dataDir cannot be used: it does not exist and cannot be made: \S+ is on proc/,
  ],
])("a data directory %s is a finding, and nothing is made", async (_, place, text) => {
  const file = configured("clientPort=2181");
  writeFileSync(file, `dataDir=${place()}\nclientPort=2181\n`);
  const { of, report } = await checked(file);
  expect(of("directory-unusable")).toMatchObject({ subject: place(), found: expect.stringMatching(text) });
  expect(report.missing).not.toContainEqual(expect.stringContaining("how fast"));
  expect(readdirSync(folder).sort()).toEqual(["data", "zoo.cfg"]);
});

test("a log directory that does not exist yet and can be made is no finding", async () => {
  const { of } = await checked(configured("clientPort=2181", `dataLogDir=${join(folder, "new", "log")}`));
  expect(of("directory-unusable")).toBeUndefined();
  expect(readdirSync(folder).sort()).toEqual(["data", "zoo.cfg"]);
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
