import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CreateMode, ErrorCode, OpCode, type Zxid } from "@zooid/model";
import { ArchiveFile, listArchive, listBases } from "@zooid/txn-log/sqlite";
import { create, RawClient, setData } from "@zooid/wire/testing/raw-client";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { startTestServer } from "../testing/server.ts";
import { shown } from "../testing/snapshot-endpoint.ts";
import { OfflineError } from "./offline-error.ts";
import { type Restored, restoreHistory } from "./restore-history.ts";
import { planRestore, type RestoreTarget } from "./restore-plan.ts";
import { readSurvivor } from "./survivor.ts";

let place = "";
let dataDir = "";
let archive = "";
beforeEach(async () => {
  place = await mkdtemp(join(tmpdir(), "zooid-restore-"));
  dataDir = join(place, "data");
  archive = join(dataDir, "archive");
});
afterEach(() => rm(place, { recursive: true, force: true }));

interface Moment {
  readonly zxid: Zxid;
  /** What a client saw of each node. */
  readonly nodes: readonly unknown[];
}

const PATHS = ["/", "/a", "/a/b", "/mine"];

/** A server with a history sets nodes in each of several lives. @returns each moment */
async function lived(lives: number): Promise<readonly Moment[]> {
  const moments: Moment[] = [];
  for (let life = 0; life < lives; life++) {
    await using zk = await startTestServer({ dataDir, history: { retainMs: 3_600_000 } });
    await hasBase();
    await using client = await RawClient.withSession(zk.port);
    if (life === 0) {
      await client.ask(OpCode.CREATE, create("/a", "0"));
      await client.ask(OpCode.CREATE, create("/a/b", "0"));
    }
    for (let i = 1; i <= 3; i++) {
      const { zxid } = await client.ask(OpCode.SET_DATA, setData("/a/b", `${life}.${i}`));
      moments.push({ zxid: Number(zxid) as Zxid, nodes: await nodesOf(client) });
    }
  }
  return moments;
}

/** A server that has just started copies its state. */
async function hasBase(): Promise<void> {
  await vi.waitFor(() => expect(listBases(join(archive, "base"))).not.toEqual([]), 5000);
}

async function nodesOf(client: RawClient): Promise<readonly unknown[]> {
  const nodes: unknown[] = [];
  for (const path of PATHS) nodes.push(await shown(client, path));
  return nodes;
}

function restoreTo(name: string, target?: RestoreTarget, keepsSessions = false): Promise<Restored> {
  const directories = { dataDir: join(place, name) };
  return restoreHistory(planRestore(archive, target), {
    directories,
    member: undefined,
    keepsSessions,
    warn: () => {},
  });
}

test("moments since the first base can be restored, through restarts of the server", async () => {
  const moments = await lived(2);
  expect(listArchive(join(archive, "log"))).toHaveLength(2);
  const tried = [moments[1], moments[3], moments.at(-1)].filter((moment) => moment !== undefined);
  for (const [index, { zxid, nodes }] of tried.entries()) {
    const restored = await restoreTo(`at-${index}`, { zxid });
    expect(restored.zxid).toBe(zxid);
    await using zk = await startTestServer({ dataDir: join(place, `at-${index}`) });
    await using client = await RawClient.withSession(zk.port);
    expect(await nodesOf(client)).toEqual(nodes);
    const { zxid: next } = await client.ask(OpCode.SET_DATA, setData("/a", "later"));
    expect(Number(next)).toBeGreaterThan(moments.at(-1)?.zxid ?? 0);
  }
});

test("sessions of the past end with their ephemeral nodes, unless they are kept", async () => {
  const moment = await (async () => {
    await using zk = await startTestServer({ dataDir, history: { retainMs: 3_600_000 } });
    await hasBase();
    const client = await RawClient.withSession(zk.port);
    const { zxid } = await client.ask(OpCode.CREATE, create("/mine", "", CreateMode.EPHEMERAL));
    return Number(zxid) as Zxid;
  })();
  // The base is older than the session.
  expect(planRestore(archive, { zxid: moment }).files.length).toBeGreaterThan(0);
  const ended = await restoreTo("ended", { zxid: moment });
  const kept = await restoreTo("kept", { zxid: moment }, true);
  expect([ended.endedCount, kept.endedCount, kept.nodeCount - ended.nodeCount]).toEqual([1, 0, 1]);
  await using zk = await startTestServer({ dataDir: join(place, "ended") });
  await using client = await RawClient.withSession(zk.port);
  expect(await shown(client, "/mine")).toBe(ErrorCode.NO_NODE);
});

test("a restored member is an ensemble of its own, in a later epoch", async () => {
  const [first] = (await lived(2)).slice(-1);
  const member = {
    sid: 4,
    host: "zk-4",
    quorumPort: 2888,
    electionPort: 3888,
    isObserver: false,
    clientAddress: undefined,
    group: undefined,
    weight: 1,
  } as never;
  const directories = { dataDir: join(place, "member") };
  const plan = planRestore(archive);
  const { ensembleId } = await restoreHistory(plan, { directories, member, keepsSessions: false, warn: () => {} });
  const survivor = readSurvivor(directories);
  expect(survivor).toMatchObject({ sid: 4, ensembleId, damage: undefined });
  expect(survivor.epochMax).toBeGreaterThan(1000);
  expect(survivor.members?.servers.map(({ sid }) => sid)).toEqual([4]);
  expect(survivor.zxid).toBeGreaterThan(first?.zxid ?? 0);
});

test("a time is the last transaction before the first one that is stamped later", async () => {
  const moments = await lived(2);
  const last = moments.at(-1)?.zxid ?? 0;
  const [first, second] = listArchive(join(archive, "log"));
  const footer = footerOf(first?.file ?? "");
  expect(planRestore(archive, { timeMs: Date.now() + 1000 }).zxid).toBeGreaterThanOrEqual(last);
  expect(planRestore(archive, { timeMs: footer.lastMs }).zxid).toBe(first?.end);
  expect(() => planRestore(archive, { timeMs: footer.firstMs - 1000 })).toThrow("are later than");
  expect(second?.after).toBe(first?.end);
});

test("what cannot be restored says what there is, and leaves nothing", async () => {
  const moments = await lived(3);
  const [, second] = listArchive(join(archive, "log"));
  const [base] = listBases(join(archive, "base"));
  const last = moments.at(-1)?.zxid ?? (0 as Zxid);
  expect(() => planRestore(join(place, "none"))).toThrow("has no base");
  expect(() => planRestore(archive, { zxid: (last + 1000) as Zxid })).toThrow("nothing follows it");
  mkdirSync(join(place, "full"));
  writeFileSync(join(place, "full", "file"), "");
  await expect(restoreTo("full")).rejects.toThrow(OfflineError);
  expect(readdirSync(join(place, "full"))).toEqual(["file"]);
  const part = join(base?.folder ?? "", "0000");
  const whole = readFileSync(part);
  writeFileSync(part, whole.subarray(1));
  await expect(restoreTo("damaged")).rejects.toThrow(`${part} is damaged`);
  expect(existsSync(join(place, "damaged"))).toBe(false);
  writeFileSync(part, whole);
  rmSync(second?.file ?? "");
  expect(() => planRestore(archive, { zxid: last })).toThrow("there is a gap behind it");
});

function footerOf(file: string): ArchiveFile["footer"] {
  using opened = new ArchiveFile(file);
  return opened.footer;
}
