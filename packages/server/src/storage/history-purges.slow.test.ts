import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { OpCode } from "@zooid/model";
import { ARCHIVE_START, fileBehind } from "@zooid/txn-log/testing/archive-pieces";
import { create, RawClient, read, setData, versioned } from "@zooid/wire/testing/raw-client";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { StartOptions, ZooidServer } from "../server-api.ts";
import { filesWith } from "../testing/files-with.ts";
import { ask } from "../testing/http.ts";
import { startTestServer } from "../testing/server.ts";

const AUTH = { authorization: "digest super:test" };
const SUPER_DIGEST = "super:D/InIHSb7yEEbrWz8b9l71RjZJU=";
const CANARY = "canary-of-a-value-that-was-deleted";
const OVERWRITTEN = "canary-of-a-value-that-was-overwritten";
const KEPT = "value-that-the-tree-still-has";
const AFTER = "value-of-after-the-purged-transactions";

let folder: string;
let dataDir: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "zooid-purge-"));
  dataDir = join(folder, "data");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function start(options: StartOptions = {}): Promise<ZooidServer & { readonly lines: string[] }> {
  return startTestServer({
    dataDir,
    admin: { port: 0 },
    superDigest: SUPER_DIGEST,
    history: { retainMs: 3_600_000, fileMs: 200 },
    retention: { bytes: 512 * 1024 },
    ...options,
  });
}

async function command(zk: ZooidServer, path: string, method = "POST"): Promise<Record<string, unknown>> {
  return JSON.parse((await ask(zk.adminPort, `/commands/${path}`, { method, headers: AUTH })).body);
}

async function purged(zk: ZooidServer, query: string): Promise<Record<string, unknown>> {
  expect(await command(zk, `purge_history?${query}`)).toMatchObject({ error: null });
  return await vi.waitFor(async () => {
    const status = await command(zk, "purge_status", "GET");
    expect(status["state"]).not.toBe("running");
    return status;
  }, 60_000);
}

/** Enough for segments of the log that are used again, and for free pages of the state. */
async function fill(client: RawClient): Promise<void> {
  for (let i = 0; i < 100; i++) {
    const text = i % 3 === 0 ? `${CANARY} ${i} `.repeat(500) : "x".repeat(24_000);
    await client.ask(OpCode.CREATE, create(`/filled-${i}`, text));
  }
  for (let i = 0; i < 100; i++) await client.ask(OpCode.DELETE, versioned(`/filled-${i}`));
}

async function history(client: RawClient): Promise<number> {
  await client.ask(OpCode.CREATE, create("/kept", KEPT));
  await client.ask(OpCode.CREATE, create("/changed", `${OVERWRITTEN} one`));
  await fill(client);
  const { zxid } = await client.ask(OpCode.CREATE, create("/last", ""));
  await client.ask(OpCode.SET_DATA, setData("/changed", AFTER));
  return zxid;
}

test("after a purge no file has a byte of a value of before that the tree has not, and the server starts again and serves", async () => {
  {
    await using zk = await start();
    await using client = await RawClient.withSession(zk.port);
    const zxid = await history(client);
    // In segments of the log, in a base or the state file, and in the history's files.
    await vi.waitFor(() => expect(readdirSync(join(dataDir, "archive", "log")).length).toBeGreaterThan(0), 20_000);
    for (const value of [CANARY, OVERWRITTEN]) expect(filesWith(dataDir, value).length).toBeGreaterThan(0);
    const through = `0x${zxid.toString(16)}`;
    expect(await command(zk, `purge_history?dryRun=true&through=${through}`)).toMatchObject({ through, error: null });
    const none = { files: 0, bases: 0, bytes: 0, backup_objects: null };
    expect(await command(zk, "purge_history?dryRun=true&through=0x0")).toMatchObject(none);
    expect(filesWith(dataDir, CANARY).length).toBeGreaterThan(0);
    const status = await purged(zk, `through=${through}`);
    expect(status).toMatchObject({ state: "done", through, fault: null });
    for (const value of [CANARY, OVERWRITTEN]) expect(filesWith(dataDir, value)).toEqual([]);
    for (const value of [KEPT, AFTER]) expect(filesWith(dataDir, value)).not.toEqual([]);
    expect(readdirSync(join(dataDir, "archive", "base"))).toHaveLength(1);
    // What follows is written as ever, and once more removed.
    await client.ask(OpCode.SET_DATA, setData("/changed", `${OVERWRITTEN} two`));
    const { zxid: last } = await client.ask(OpCode.SET_DATA, setData("/changed", AFTER));
    expect(await purged(zk, `through=0x${last.toString(16)}`)).toMatchObject({ state: "done" });
    expect(filesWith(dataDir, OVERWRITTEN)).toEqual([]);
    // With nothing to remove it is as well.
    expect(await purged(zk, `through=0x${last.toString(16)}`)).toMatchObject({ state: "done", files: 0 });
  }
  await using zk = await start();
  await using client = await RawClient.withSession(zk.port);
  expect((await client.ask(OpCode.GET_DATA, read("/kept"))).body.text()).toContain(KEPT);
  expect((await client.ask(OpCode.GET_DATA, read("/changed"))).body.text()).toContain(AFTER);
  expect((await client.ask(OpCode.CREATE, create("/new", "1"))).code).toBe(0);
  for (const value of [CANARY, OVERWRITTEN]) expect(filesWith(folder, value)).toEqual([]);
});

test("a time stands for the last transaction that was not stamped later, and a purge may reach the backup", async () => {
  const target = join(folder, "backup");
  mkdirSync(target);
  await using zk = await start({ backup: { target } });
  await using client = await RawClient.withSession(zk.port);
  const zxid = await history(client);
  await vi.waitFor(
    async () => expect(await command(zk, "backup_status", "GET")).toMatchObject({ is_uploading: true, fault: null }),
    20_000,
  );
  await vi.waitFor(() => expect(filesWith(target, CANARY).length).toBeGreaterThan(0), 20_000);
  const time = new Date(Date.now() + 1).toISOString();
  const plan = await command(zk, `purge_history?dryRun=true&through=${time}&backups=true`);
  expect([Number(plan["bases"]) > 0, Number(plan["backup_objects"]) > 0]).toEqual([true, true]);
  const status = await purged(zk, `through=${time}&backups=true`);
  expect(status).toMatchObject({ state: "done", fault: null });
  expect(Number(status["through"])).toBeGreaterThan(zxid);
  for (const value of [CANARY, OVERWRITTEN]) expect(filesWith(folder, value)).toEqual([]);
  expect(readdirSync(join(target, "base"))).toHaveLength(1);
  expect(zk.lines.filter((line) => /removed for good/.test(line))).toHaveLength(2);
});

test("writes that are made during a purge are kept, and the next start has them", async () => {
  const values = new Map<string, string>();
  {
    await using zk = await start();
    await using client = await RawClient.withSession(zk.port);
    const zxid = await history(client);
    for (let i = 0; i < 10; i++) await client.ask(OpCode.CREATE, create(`/w-${i}`, ""));
    const purging = purged(zk, `through=0x${zxid.toString(16)}`);
    let isOver = false;
    const ended = purging.finally(() => {
      isOver = true;
    });
    for (let i = 0; !isOver || i < 100; i++) {
      const [path, value] = [`/w-${i % 10}`, `value ${i}`];
      expect((await client.ask(OpCode.SET_DATA, setData(path, value))).code).toBe(0);
      values.set(path, value);
    }
    expect(await ended).toMatchObject({ state: "done", fault: null });
    for (const value of [CANARY, OVERWRITTEN]) expect(filesWith(dataDir, value)).toEqual([]);
  }
  await using zk = await start();
  await using client = await RawClient.withSession(zk.port);
  expect(values.size).toBe(10);
  for (const [path, value] of values) expect((await client.ask(OpCode.GET_DATA, read(path))).body.text()).toBe(value);
});

test("a time across which a clock went back is refused with the first and the last such moment", async () => {
  const firstMs = Date.now() - 60_000;
  fileBehind(
    join(dataDir, "archive"),
    ARCHIVE_START,
    [0, 1000, 2000, 500, 1500, 3000].map((ms) => firstMs + ms),
  );
  await using zk = await start();
  const time = new Date(firstMs + 1000).toISOString();
  for (const dryRun of [true, false]) {
    expect((await command(zk, `purge_history?dryRun=${dryRun}&through=${time}`))["error"]).toBe(
      `a clock went back across ${time}: that time was first behind 0x100000002, and last behind 0x100000004; name one of these transactions instead`,
    );
  }
});

test("what is in the way of a purge is named, and nothing is removed", async () => {
  await using zk = await start();
  await using client = await RawClient.withSession(zk.port);
  const { zxid } = await client.ask(OpCode.CREATE, create("/a", CANARY));
  const through = `0x${zxid.toString(16)}`;
  const refusal = async (query: string) => String((await command(zk, `purge_history?${query}`))["error"]);
  expect(await refusal("through=soon")).toMatch(/^through is a zxid like 0x/);
  expect(await refusal(`through=0x${(zxid + 100).toString(16)}`)).toMatch(/^the last transaction of this server is 0x/);
  expect(await refusal(`through=${through}&backups=true`)).toMatch(/^this server has no backup/);
  mkdirSync(join(dataDir, "damaged", "2026"), { recursive: true });
  expect(await refusal(`through=${through}`)).toMatch(/damaged has files that were set aside/);
  rmSync(join(dataDir, "damaged"), { recursive: true });
  expect(await command(zk, "purge_status", "GET")).toMatchObject({ state: "none", through: null });
  expect(filesWith(dataDir, CANARY)).not.toEqual([]);
  await using other = await start({ dataDir: join(folder, "other"), history: { retainMs: 0 } });
  expect((await command(other, "purge_history?through=0x0"))["error"]).toMatch(/keeps no history/);
  await using memory = await startTestServer({ admin: { port: 0 }, superDigest: SUPER_DIGEST });
  expect((await command(memory, "purge_history?through=0x0"))["error"]).toMatch(/in memory has no history/);
  expect(existsSync(dataDir)).toBe(true);
});
