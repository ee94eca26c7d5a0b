import { readdirSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { composeZxid, OpCode, serverId, ZXID_NONE, type Zxid } from "@zooid/model";
import { putEntry } from "@zooid/txn-log";
import { create, RawClient, read, request } from "@zooid/wire/testing/raw-client";
import { afterEach, beforeEach, expect, test } from "vitest";
import { parseServerConfig } from "../config.ts";
import { startTestServer } from "../testing/server.ts";
import { openStorage } from "./storage.ts";

let place: string;
beforeEach(async () => {
  place = await mkdtemp(join(tmpdir(), "zooid-storage-"));
});
afterEach(() => rm(place, { recursive: true, force: true }));

async function say(port: number, word: string): Promise<string> {
  await using client = await RawClient.open(port);
  client.send(Buffer.from(word));
  return (await client.rest()).toString();
}

async function metric(port: number, name: string): Promise<number> {
  return Number(new RegExp(`^zk_${name}\\t(.*)$`, "m").exec(await say(port, "mntr"))?.[1]);
}

test("writes wait for a state file that is too far behind, all are answered, and one line says so", async () => {
  await using zk = await startTestServer({ dataDir: place, stateLagBytesMax: 1, fourLetterWords: "*" });
  await using client = await RawClient.withSession(zk.port);
  let count = 0;
  while ((await metric(zk.port, "zooid_state_lag_waits_total")) < 2) {
    const xids = Array.from({ length: 200 }, () => ++count);
    client.send(...xids.map((xid) => request(xid, OpCode.CREATE, create(`/n${xid}`))));
    for (const xid of xids) expect(await client.reply()).toMatchObject({ xid, code: 0 });
  }
  expect(zk.lines.filter((line) => line.includes("writes wait for the state file"))).toHaveLength(1);
});

test("a log in a directory of its own is found again, and conf shows both places", async () => {
  const [dataDir, logDir] = [join(place, "state"), join(place, "log")];
  const options = { dataDir, logDir, fourLetterWords: "*" };
  {
    await using zk = await startTestServer(options);
    await using client = await RawClient.withSession(zk.port);
    await client.ask(OpCode.CREATE, create("/kept", "value"));
  }
  await using zk = await startTestServer(options);
  await using client = await RawClient.withSession(zk.port);
  expect((await client.ask(OpCode.GET_DATA, read("/kept"))).body.text()).toBe("value");
  expect(readdirSync(logDir)).toContain("log.db");
  expect(readdirSync(dataDir)).not.toContain("log.db");
  const conf = new Map((await say(zk.port, "conf")).split("\n").map((line) => line.split("=") as [string, string]));
  expect([conf.get("dataDir"), conf.get("dataLogDir")]).toEqual([dataDir, logDir]);
  expect(Number(conf.get("dataDirSize"))).toBeGreaterThan(0);
  expect(Number(conf.get("dataLogSize"))).toBeGreaterThan(0);
});

test("after a start the state file follows what was replayed, without waiting for another write", async () => {
  {
    await using zk = await startTestServer({ dataDir: place });
    await using client = await RawClient.withSession(zk.port);
    for (let i = 1; i <= 10; i++) await client.ask(OpCode.CREATE, create(`/n${i}`));
  }
  await using zk = await startTestServer({ dataDir: place, stateLagBytesMax: 8, fourLetterWords: "*" });
  while ((await metric(zk.port, "zooid_state_checkpoints_total")) === 0);
  expect(await metric(zk.port, "zooid_state_lag_bytes")).toBe(0);
});

test("a log in memory keeps nothing that a checkpoint is beyond", async () => {
  const { promise: appended, resolve, reject } = Promise.withResolvers<void>();
  const note = ({ zxid }: { readonly zxid: Zxid }): void => (zxid === last ? resolve() : undefined);
  const handler = { appended: note, roomChanged: () => {}, failed: reject, warned: () => {} };
  const silent = { error: () => {}, warn: () => {}, info: () => {} };
  await using storage = await openStorage(parseServerConfig({}), serverId(1), handler, silent);
  const { currentEpoch } = storage.log.durable;
  const [first, last] = [composeZxid(currentEpoch, 1), composeZxid(currentEpoch, 2)];
  for (const [generation, zxid, committed] of [
    [1, first, ZXID_NONE],
    [2, last, first],
  ] as const) {
    const bytes = new Uint8Array(64);
    const end = putEntry(bytes, 0, zxid, new Uint8Array(9));
    storage.log.append({ bytes, start: 0, end }, generation, committed);
  }
  await appended;
  expect(storage.log.durable.floor.zxid).toBe(ZXID_NONE);
  storage.checkpoint({ zxid: first, digestHigh: 0, digestLow: 0, bytes: 1 });
  expect(storage.log.durable.floor.zxid).toBe(first);
});
