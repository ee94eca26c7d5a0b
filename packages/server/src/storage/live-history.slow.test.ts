/** A reload changes what a history keeps, and its backup, as a start does. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { OpCode } from "@zooid/model";
import { create, RawClient } from "@zooid/wire/testing/raw-client";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { ServerOptions } from "../config.ts";
import type { ZooidServer } from "../server-api.ts";
import { startTestServer } from "../testing/server.ts";
import { SUPER, SUPER_DIGEST } from "../testing/snapshot-endpoint.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "zooid-live-history-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A pass of the uploader comes every five seconds. */
const WAIT = { timeout: 30_000 };
const HOUR_MS = 3_600_000;

function target(name: string): string {
  const path = join(folder, name);
  mkdirSync(path, { recursive: true });
  return path;
}

const keeping = (more: ServerOptions = {}): ServerOptions => ({
  dataDir: join(folder, "data"),
  history: { retainMs: HOUR_MS, fileMs: 100 },
  admin: { port: 0 },
  superDigest: SUPER_DIGEST,
  ...more,
});

async function ask({ adminPort }: ZooidServer, command: string, method = "GET"): Promise<Record<string, unknown>> {
  const answer = await fetch(`http://127.0.0.1:${adminPort}/commands/${command}`, { method, headers: SUPER });
  return JSON.parse(await answer.text());
}

function reloaded(zk: ZooidServer, options: ServerOptions): void {
  expect(zk.reload(options).problems).toEqual([]);
}

const basesIn = (path: string): number => (existsSync(join(path, "base")) ? readdirSync(join(path, "base")).length : 0);

const holds = (path: string): boolean => existsSync(join(path, "lease.json"));

test("the backup continues at another target, which gets a base, and the first one is let go of", async () => {
  const [first, second] = [target("first"), target("second")];
  await using zk = await startTestServer(keeping({ backup: { target: first } }));
  await expect.poll(() => basesIn(first), WAIT).toBe(1);
  expect(holds(first)).toBe(true);
  reloaded(zk, keeping({ backup: { target: second } }));
  await expect.poll(() => basesIn(second), WAIT).toBe(1);
  expect([holds(first), holds(second)]).toEqual([false, true]);
  await expect.poll(() => ask(zk, "backup_status"), WAIT).toMatchObject({ target: second, is_uploading: true });
});

test("a backup begins and ends without a restart, and again", async () => {
  const path = target("backup");
  await using zk = await startTestServer(keeping());
  for (let round = 0; round < 2; round++) {
    reloaded(zk, keeping({ backup: { target: path } }));
    await expect.poll(() => holds(path), WAIT).toBe(true);
    // The backup that ends must not keep the next one from its lease.
    reloaded(zk, keeping());
    reloaded(zk, keeping({ backup: { target: path } }));
    await expect.poll(() => holds(path), WAIT).toBe(true);
    reloaded(zk, keeping());
    expect(await ask(zk, "backup_status")).toMatchObject({ error: expect.stringContaining("zooid.backup.target") });
    await expect.poll(() => holds(path), WAIT).toBe(false);
  }
});

test("a backup that was asked for during a change is made at the target in force", async () => {
  const [first, second] = [target("first"), target("second")];
  await using zk = await startTestServer(keeping({ backup: { target: first } }));
  await expect.poll(() => holds(first), WAIT).toBe(true);
  reloaded(zk, keeping({ backup: { target: second, bytesPerSecond: 1_000_000_000 } }));
  const { asked } = await ask(zk, "backup_now", "POST");
  await expect.poll(async () => (await ask(zk, "backup_status"))["done"], WAIT).toBe(asked);
  expect([(await ask(zk, "backup_status"))["fault"] ?? null, basesIn(second)]).toEqual([null, expect.any(Number)]);
  expect(basesIn(second)).toBeGreaterThanOrEqual(1);
});

test("files of the history are written as often as the settings in force say", async () => {
  await using zk = await startTestServer(keeping({ history: { retainMs: HOUR_MS, fileMs: HOUR_MS } }));
  await using client = await RawClient.withSession(zk.port);
  await client.ask(OpCode.CREATE, create("/a", "0"));
  await expect.poll(async () => (await ask(zk, "monitor"))["zooid_history_lag_bytes"], WAIT).toBeGreaterThan(0);
  expect((await ask(zk, "monitor"))["zooid_history_files"]).toBe(0);
  reloaded(zk, keeping());
  await expect.poll(async () => (await ask(zk, "monitor"))["zooid_history_files"], WAIT).toBeGreaterThan(0);
});

test("a history begins and ends at a start, and its backup with it", async () => {
  const backup = { target: target("backup") };
  await using zk = await startTestServer({ ...keeping(), history: {} });
  reloaded(zk, keeping({ backup }));
  expect(await ask(zk, "backup_status")).toMatchObject({ error: expect.stringContaining("zooid.backup.target") });
  expect(existsSync(join(folder, "data", "archive"))).toBe(false);
});
