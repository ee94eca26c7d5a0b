import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Client, connect } from "@zooid/client";
import { startServer, type ZooidServer } from "@zooid/embedded-server";
import { freePorts } from "@zooid/wire/testing/free-ports";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { CliProcesses, CliRuns, type Ended } from "../../testing/cli-process.ts";

const AUTH = "digest super:test";
const SUPER_DIGEST = "super:D/InIHSb7yEEbrWz8b9l71RjZJU=";
const COUNT = 3;
const WAIT = { timeout: 60_000 };
/** A busy machine has longer pauses than an ensemble has patience. */
const PATIENT = { initLimit: 300, syncLimit: 300 };

const cli = new CliRuns(() => "127.0.0.1:1");
const processes = new CliProcesses(() => "127.0.0.1:1");
let folder = "";
const servers: ZooidServer[] = [];
let members = "";
/** A port of Apache's, at which nothing listens. */
let apachePort = 0;
let outCount = 0;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "zooid-cli-return-"));
  const ports = await freePorts(2 * COUNT + 1);
  const list = Array.from({ length: COUNT }, (_, i) => {
    const [quorumPort = 0, electionPort = 0] = ports.slice(2 * i);
    return { sid: i + 1, host: "127.0.0.1", quorumPort, electionPort };
  });
  apachePort = ports[2 * COUNT] ?? 0;
  const starting = list.map(({ sid }) =>
    startServer({
      port: 0,
      dataDir: join(folder, `data-${sid}`),
      admin: { port: 0 },
      superDigest: SUPER_DIGEST,
      ensemble: { sid, servers: list, ...PATIENT },
    }),
  );
  servers.push(...(await Promise.all(starting)));
  members = servers.map(({ adminPort }) => `http://127.0.0.1:${adminPort}`).join(",");
  await using client = await connect(hosts());
  await client.create("/kept", "one");
}, 120_000);
afterAll(async () => {
  await Promise.all(servers.map((server) => server.stop()));
  rmSync(folder, { recursive: true, force: true });
});
afterEach(() => processes.kill());

function hosts(): string {
  return servers.map(({ connectString }) => connectString).join(",");
}

function places(those = members): readonly string[] {
  return ["--members", those, "--apache-servers", `127.0.0.1:${apachePort}`, "--admin-auth", AUTH];
}

function newOut(): string {
  return join(folder, `out-${++outCount}`);
}

function migrate(out: string, ...more: readonly string[]): Promise<Ended> {
  return cli.run("migrate", "return", "--apache", out, ...places(), ...more);
}

function abort(...more: readonly string[]): Promise<Ended> {
  return cli.run("migrate", "return", "--abort", ...places(), ...more);
}

async function isServed(): Promise<boolean> {
  let client: Client | undefined;
  try {
    client = await connect(hosts(), { connectTimeoutMs: 1000 });
    return (await client.exists("/kept")) !== null;
  } catch {
    return false;
  } finally {
    await client?.close();
  }
}

async function apacheRuns(): Promise<Server> {
  const server = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve) => server.listen(apachePort, "127.0.0.1", () => resolve()));
  return server;
}

test("a plan prints each step, and changes nothing", async () => {
  const out = newOut();
  const { status, stdout } = await migrate(out, "--plan");
  for (const text of ["1. everything is ready", "3 servers of one ensemble", "5. the export is in its place"])
    expect(stdout).toContain(text);
  expect(stdout).toMatch(/nothing is changed: --plan\nthe return could begin now\n$/);
  expect([status, readdirSync(folder).includes("out-1"), await isServed()]).toEqual([0, false, true]);
}, 60_000);

test("the ensemble is closed and exported, a repeat says the same, and an abort opens it", async () => {
  const out = newOut();
  {
    await using client = await connect(hosts());
    await client.create("/ephemeral", "", { mode: "ephemeral" });
    const { status, stdout } = await migrate(out, "--yes");
    expect([status, stdout]).toEqual([0, expect.stringContaining("next:\n  1. at each Apache voter")]);
    expect(stdout).toContain("1 session with passwords that Apache does not know ended, with 1 ephemeral znode");
    expect(await isServed()).toBe(false);
  }
  const files = readdirSync(join(out, "version-2")).toSorted();
  expect(files).toEqual(["acceptedEpoch", "currentEpoch", expect.stringMatching(/^snapshot\.[0-9a-f]+00000001$/)]);
  const epoch = readFileSync(join(out, "version-2/currentEpoch"), "utf8");
  expect(files[2]).toBe(`snapshot.${Number(epoch).toString(16)}00000001`);
  const again = await cli.run("--json", "migrate", "return", "--apache", out, ...places(), "--yes");
  expect(JSON.parse(again.stdout)).toMatchObject({ result: "exported", repeat: true, epoch: Number(epoch) });
  const apache = await apacheRuns();
  const kept = await abort("--yes");
  expect([kept.status, kept.stdout]).toEqual([1, expect.stringContaining("so the ensemble stays closed")]);
  apache.close();
  const { status, stdout } = await abort("--yes");
  expect([status, stdout]).toEqual([0, expect.stringContaining("the ensemble serves its clients again")]);
  await expect.poll(isServed, WAIT).toBe(true);
  expect((await abort("--yes")).stdout).toContain("nothing is left to do");
  const old = await migrate(out, "--yes");
  expect([old.status, old.stdout]).toEqual([1, expect.stringContaining("the export of an earlier return")]);
  expect(await isServed()).toBe(true);
}, 240_000);

test("a process that is killed leaves the ensemble closed, and a repeat completes the export", async () => {
  const out = newOut();
  const running = processes.start("migrate", "return", "--apache", out, ...places(), "--yes");
  await running.shows("3. no server has a client");
  running.child.kill("SIGKILL");
  await running.ended;
  const { status, stdout } = await migrate(out, "--yes");
  expect(stdout).toMatch(/an earlier return has closed the ensemble/);
  expect([status, readdirSync(out).toSorted()]).toEqual([0, ["version-2", "zooid-return.json"]]);
  expect((await abort("--yes")).status).toBe(0);
  await expect.poll(isServed, WAIT).toBe(true);
}, 240_000);

test("an interruption opens the ensemble again, and without a terminal or --yes nothing begins", async () => {
  const out = newOut();
  const running = processes.start("migrate", "return", "--apache", out, ...places(), "--yes");
  await running.shows("2. the ensemble is closed");
  running.child.kill("SIGINT");
  const { status, stdout } = await running.ended;
  expect([status, stdout]).toEqual([1, expect.stringContaining("not returned: the ensemble serves its clients again")]);
  await expect.poll(isServed, WAIT).toBe(true);
  expect(readdirSync(folder).filter((name) => name.includes(`out-${outCount}`))).toEqual([]);
  const unasked = await migrate(out);
  expect([unasked.status, unasked.stdout]).toEqual([1, expect.stringContaining("--yes asks no question")]);
}, 240_000);

test("what keeps a return from beginning is said in one sentence, and nothing is changed", async () => {
  const apache = await apacheRuns();
  const beside = await migrate(newOut(), "--yes");
  apache.close();
  const [one = "", two = ""] = members.split(",");
  const cases: readonly (readonly [Ended, string])[] = [
    [beside, `127.0.0.1:${apachePort} takes connections: Apache's servers are stopped`],
    [await migrate(folder, "--yes"), "is not empty, and has no export of a return"],
    [await migrate("/proc/out", "--yes"), "--apache /proc/out cannot be written"],
    [
      await cli.run("migrate", "return", "--apache", newOut(), ...places(`${one},${two}`), "--yes"),
      "--members lacks server",
    ],
  ];
  for (const [{ status, stdout }, text] of cases) expect([status, stdout]).toEqual([1, expect.stringContaining(text)]);
  expect(await isServed()).toBe(true);
}, 240_000);

test.each([
  [["return"], "--apache is missing: the directory"],
  [["return", "--apache", "out"], "--members and --apache-servers missing"],
  [["return", "--abort"], "--members and --apache-servers missing"],
  [["return", "--abort", "--apache", "out"], "--apache does not go with --abort"],
  [["return", "more"], "migrate return names servers by --members and --apache-servers"],
  [["return", "--fence", "x"], "--fence is for migrate take-over"],
  [["return", "--apache", "o", "--within", "0"], "--within takes 1 to"],
  [["return", "--apache", "o", "--members", "x", "--apache-servers", "a:1"], "--members: "],
  [
    ["return", "--apache", "o", "--members", "http://a:1", "--apache-servers", "a:1", "--without", "x"],
    "--without takes numbers of servers",
  ],
])("what is missing or not understood is named: %o", async (argv, text) => {
  const { status, stderr } = await cli.run("migrate", ...argv);
  expect([status, stderr]).toEqual([1, expect.stringContaining(text)]);
});
