import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { OpCode, type Zxid } from "@zooid/model";
import { listArchive, listBases } from "@zooid/txn-log/sqlite";
import { create, RawClient, setData } from "@zooid/wire/testing/raw-client";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { startTestServer } from "../testing/server.ts";
import { shown } from "../testing/snapshot-endpoint.ts";
import { type Restored, restoreHistory } from "./restore-history.ts";
import { planRestore, type RestoreTarget } from "./restore-plan.ts";

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

// The others are in restore-history.slow.test.ts.

test("a moment since the first base can be restored, through a restart of the server", async () => {
  const moments = await lived(2);
  expect(listArchive(join(archive, "log"))).toHaveLength(2);
  const tried = [moments[4]].filter((moment) => moment !== undefined);
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
