import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CreateMode, composeZxid, OpCode } from "@zooid/model";
import { create, RawClient, setData } from "@zooid/wire/testing/raw-client";
import { afterEach, beforeEach, expect, test } from "vitest";
import { creating, makeApacheDirectory, opening } from "../../testing/apache-directory.ts";
import { ArchivedHistory } from "../../testing/archived-history.ts";
import { startTestServer } from "../../testing/server.ts";
import { shown } from "../../testing/snapshot-endpoint.ts";
import { planRestore } from "../restore-plan.ts";
import { readSurvivor } from "../survivor.ts";
import { type Exported, type ExportSource, exportToApache } from "./export-apache.ts";
import { importApache } from "./import-apache.ts";
import { type ApacheState, readApache } from "./read-apache.ts";

let place = "";
let dataDir = "";
beforeEach(async () => {
  place = await mkdtemp(join(tmpdir(), "zooid-export-"));
  dataDir = join(place, "data");
});
afterEach(() => rm(place, { recursive: true, force: true }));

const PATHS = ["/", "/a", "/a/b", "/container", "/ttl-0000000000"];

/** A server that has written nodes and has stopped. @returns what a client saw */
async function stopped(): Promise<readonly unknown[]> {
  await using zk = await startTestServer({ dataDir, ttlNodes: true });
  await using client = await RawClient.withSession(zk.port);
  await client.ask(OpCode.CREATE, create("/a", "x".repeat(200_000)));
  await client.ask(OpCode.CREATE, create("/a/b", "one"));
  await client.ask(OpCode.CREATE, create("/e", "gone", CreateMode.EPHEMERAL));
  await client.ask(OpCode.CREATE_CONTAINER, create("/container", "", CreateMode.CONTAINER));
  await client.ask(OpCode.CREATE_TTL, (writer) => {
    create("/ttl-", "", CreateMode.PERSISTENT_SEQUENTIAL_WITH_TTL)(writer);
    writer.int(0);
    writer.int(3_600_000);
  });
  await client.ask(OpCode.SET_DATA, setData("/a/b", "two"));
  return await nodesOf(client);
}

async function nodesOf(client: RawClient): Promise<readonly unknown[]> {
  const nodes: unknown[] = [];
  for (const path of PATHS) nodes.push(await shown(client, path));
  return nodes;
}

function exportTo(
  name: string,
  source: ExportSource = { survivor: readSurvivor({ dataDir }) },
  sessions: "keep" | "drop" = "drop",
): Promise<Exported> {
  return exportToApache(source, { directory: join(place, name), takesDamaged: false, sessions, warn: () => {} });
}

function readBack(name: string): Promise<ApacheState> {
  return readApache({ dataDir: join(place, name) }, () => expect.unreachable("everything in it is whole"));
}

test("Apache's directory has all nodes but ephemeral ones, and the epoch", async () => {
  const [, ...before] = await stopped();
  const held = readdirSync(dataDir).toSorted();
  const { zxid, ...counts } = await exportTo("new/apache");
  expect(counts).toMatchObject({ leftOutCount: 1, nodeCount: 8, ttlCount: 1, dataBytesMax: 200_000 });
  expect(zxid).toBe(readSurvivor({ dataDir }).zxid);
  expect(readdirSync(dataDir).toSorted()).toEqual(held);
  const folder = join(place, "new/apache/version-2");
  const files = readdirSync(folder).toSorted();
  expect(files).toEqual(["acceptedEpoch", "currentEpoch", `snapshot.${zxid.toString(16)}`]);
  expect(files.slice(0, 2).map((name) => readFileSync(join(folder, name), "utf8"))).toEqual(["1", "1"]);
  expect(files.map((name) => statSync(join(folder, name)).mode & 0o777)).toEqual([0o600, 0o600, 0o600]);
  expect(statSync(join(folder, files[2] ?? "")).size).toBe(counts.sizeBytes);
  expect(readdirSync(join(place, "new"))).toEqual(["apache"]);
  const state = await readBack("new/apache");
  await importApache(state, {
    directories: { dataDir: join(place, "back") },
    command: "import",
    member: undefined,
    from: folder,
    plan: { epoch: 1025, sessions: "keep" },
    warn: () => {},
  });
  await using zk = await startTestServer({ dataDir: join(place, "back"), ttlNodes: true });
  await using client = await RawClient.withSession(zk.port);
  expect((await nodesOf(client)).slice(1)).toEqual(before);
});

test("sessions of Apache's are kept with their nodes, and parents of others' nodes show the change", async () => {
  const session = 0x100_001e_99a5_0000n;
  const apache = makeApacheDirectory(join(place, "of-apache"), {
    snapshot: 2n,
    transactions: [opening(1n, session, 30_000), creating(2n, "/of-apache", { session, isEphemeral: true })],
  });
  await importApache(await readApache({ dataDir: apache }, () => {}), {
    directories: { dataDir },
    command: "import",
    member: undefined,
    from: "a snapshot",
    plan: { epoch: 1025, sessions: "keep" },
    warn: () => {},
  });
  {
    await using zk = await startTestServer({ dataDir });
    await using client = await RawClient.withSession(zk.port);
    await client.ask(OpCode.CREATE, create("/locks", ""));
    await client.ask(OpCode.CREATE, create("/other", ""));
    await client.ask(OpCode.CREATE, create("/locks/own", "", CreateMode.EPHEMERAL));
  }
  const { epochMax } = readSurvivor({ dataDir });
  const exported = await exportTo("apache", undefined, "keep");
  expect(exported).toMatchObject({
    zxid: composeZxid(epochMax + 1024, 1),
    sessionCount: 1,
    leftOutSessionCount: 1,
    leftOutCount: 1,
    shortestTimeoutMs: 30_000,
  });
  const { tree, zxid } = await readBack("apache");
  expect([zxid, [...tree.sessions]]).toEqual([BigInt(exported.zxid), [[session, 30_000]]]);
  const shownNodes = ["/of-apache", "/locks/own", "/zookeeper/config"].map(
    (path) => tree.nodes.get(path)?.data ?? null,
  );
  expect(shownNodes.map((data) => data && String(data))).toEqual(["2", null, ""]);
  const pzxidOf = (path: string): bigint | undefined => tree.nodes.get(path)?.stat.readBigInt64BE(52);
  expect(pzxidOf("/locks")).toBe(zxid);
  expect(pzxidOf("/other")).toBeLessThan(zxid);
  const folder = join(place, "apache/version-2");
  expect(["acceptedEpoch", "currentEpoch"].map((name) => readFileSync(join(folder, name), "utf8"))).toEqual(
    Array(2).fill(String(epochMax + 1024)),
  );
});

test("a state of a history is exported at its own zxid", async () => {
  await using history = await ArchivedHistory.make();
  const moment = (await history.write(1))[1];
  if (moment === undefined) expect.unreachable("there are three moments");
  const { zxid } = await exportTo("apache", { plan: planRestore(history.archive, { zxid: moment.zxid }) });
  const state = await readBack("apache");
  expect([zxid, Number(state.zxid), String(state.tree.nodes.get("/a/b")?.data)]).toEqual([
    moment.zxid,
    moment.zxid,
    "0.2",
  ]);
  expect(readdirSync(place)).toEqual(["apache"]);
});

test.each<[string, () => void]>([
  ["a directory with files", () => mkdirSync(join(place, "apache/mine"), { recursive: true })],
  ["a file", () => writeFileSync(join(place, "apache"), "mine")],
])("%s is no place for an export, and stays as it is", async (_, make) => {
  await stopped();
  make();
  await expect(exportTo("apache")).rejects.toThrow(/^.*apache is not an empty directory: .*$/);
  expect(readdirSync(place).toSorted()).toEqual(["apache", "data"]);
});

test("of damaged data nothing is exported, and nothing is left behind", async () => {
  await stopped();
  const survivor = { ...readSurvivor({ dataDir }), damage: "its log is short" };
  await expect(exportTo("new/apache", { survivor })).rejects.toThrow("its log is short; --force");
  expect(readdirSync(place)).toEqual(["data"]);
});
