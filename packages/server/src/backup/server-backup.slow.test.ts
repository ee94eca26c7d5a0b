import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openTarget, verifyBackup } from "@zooid/backup";
import { ErrorCode, OpCode, type Zxid } from "@zooid/model";
import { create, RawClient, read, setData } from "@zooid/wire/testing/raw-client";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { ServerOptions } from "../config.ts";
import { restoreHistory } from "../offline/restore-history.ts";
import { planRestore } from "../offline/restore-plan.ts";
import type { ZooidServer } from "../server-api.ts";
import { startTestServer } from "../testing/server.ts";
import { SUPER, SUPER_DIGEST } from "../testing/snapshot-endpoint.ts";

let folder: string;
let target: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "zooid-server-backup-"));
  target = join(folder, "backup");
  mkdirSync(target);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A pass of the uploader comes every five seconds. */
const WAIT = { timeout: 30_000 };

const options = (name = "data"): ServerOptions => ({
  dataDir: join(folder, name),
  history: { retainMs: 3_600_000, fileMs: 100 },
  backup: { target },
  admin: { port: 0 },
});

async function text(port: number | undefined, path: string): Promise<string> {
  return await (await fetch(`http://127.0.0.1:${port}/${path}`)).text();
}

test("what clients wrote is in the backup, and can be restored out of it without the server", async () => {
  {
    await using zk = await startTestServer(options());
    await using client = await RawClient.withSession(zk.port);
    await client.ask(OpCode.CREATE, create("/a", "0"));
    await expect.poll(() => existsSync(join(target, "base")) && readdirSync(join(target, "base")).length, WAIT).toBe(1);
    for (let i = 1; i <= 5; i++) await client.ask(OpCode.SET_DATA, setData("/a", `${i}`));
    await expect.poll(() => text(zk.adminPort, "healthz?verbose"), WAIT).toContain("[+]backup ok");
    await expect.poll(() => text(zk.adminPort, "commands/monitor"), WAIT).toContain(`"zooid_backup_uploading" : 1`);
    await expect.poll(() => zk.lines.some((line) => line.includes("which was read back")), WAIT).toBe(true);
  }
  // What was in no file when the server stopped is uploaded by the next start.
  {
    await using zk = await startTestServer(options());
    await expect
      .poll(() => zk.lines.some((line) => line.includes("this server continues the backup")), WAIT)
      .toBe(true);
    await expect
      .poll(async () => (await verifyBackup(openTarget({ target }), join(folder, "scratch"))).end, WAIT)
      .toBeGreaterThanOrEqual(zk.summary.appliedZxid - 2);
  }
  expect(existsSync(join(target, "lease.json"))).toBe(false);
  expect((await verifyBackup(openTarget({ target }), join(folder, "scratch"))).problems).toEqual([]);
  rmSync(join(folder, "data"), { recursive: true });
  const directories = { dataDir: join(folder, "restored") };
  const restoring = { command: "restore", directories, member: undefined, keepsSessions: false, warn: () => {} };
  await restoreHistory(planRestore(target), restoring);
  await using restored = await startTestServer({ dataDir: join(folder, "restored") });
  await using client = await RawClient.withSession(restored.port);
  const { body } = await client.ask(OpCode.GET_DATA, read("/a"));
  expect(body.text()).toBe("5");
});

test("a target that is away stops no client, and is named", async () => {
  rmSync(target, { recursive: true });
  await using zk = await startTestServer(options());
  await using client = await RawClient.withSession(zk.port);
  await expect.poll(() => zk.lines.some((line) => line.includes(`${target} does not exist`)), WAIT).toBe(true);
  expect((await client.ask(OpCode.CREATE, create("/a", "0"))).code).toBe(ErrorCode.OK);
  expect(await text(zk.adminPort, "commands/monitor")).toContain(`"zooid_backup_failing" : 1`);
});

/** Makes a pass now, with a base. @returns what failed, if it did */
async function backUp(zk: ZooidServer): Promise<unknown> {
  const ask = async (path: string, method = "GET"): Promise<Record<string, unknown>> =>
    JSON.parse(
      await (await fetch(`http://127.0.0.1:${zk.adminPort}/commands/${path}`, { method, headers: SUPER })).text(),
    );
  const { asked } = await ask("backup_now", "POST");
  await expect.poll(async () => (await ask("backup_status"))["done"], WAIT).toBe(asked);
  return (await ask("backup_status"))["fault"];
}

/**
 * Begins passes itself: each server would wait for its first one for five seconds. The files of the
 * history come with the first pass, too, and not by their own time.
 */
test("a server alone that was restored continues the backup, and another one is refused", async () => {
  const slow = (name?: string): ServerOptions => ({
    ...options(name),
    history: { retainMs: 3_600_000 },
    superDigest: SUPER_DIGEST,
  });
  const first: Zxid[] = [];
  for (let life = 0; life < 2; life++) {
    await using zk = await startTestServer(slow());
    await using client = await RawClient.withSession(zk.port);
    await client.ask(OpCode.CREATE, create(`/${life}`, "0"));
    first.push(zk.summary.appliedZxid);
    expect(await backUp(zk)).toBeNull();
  }
  {
    await using zk = await startTestServer(slow("stranger"));
    await using client = await RawClient.withSession(zk.port);
    await client.ask(OpCode.CREATE, create("/stranger", "0"));
    expect(await backUp(zk)).toContain("and does not have that; each ensemble needs");
    expect(zk.lines.join()).not.toContain("this server continues the backup");
    expect(await text(zk.adminPort, "commands/monitor")).toContain(`"zooid_backup_failing" : 1`);
  }
  const directories = { dataDir: join(folder, "restored") };
  const restoring = { command: "restore", directories, member: undefined, keepsSessions: false, warn: () => {} };
  await restoreHistory(planRestore(target, { zxid: first[0] ?? (0 as Zxid) }), restoring);
  await using zk = await startTestServer(slow("restored"));
  await using client = await RawClient.withSession(zk.port);
  await client.ask(OpCode.CREATE, create("/restored", "0"));
  expect(await backUp(zk)).toBeNull();
  expect(zk.lines.join()).toContain("from before a restore: a new base follows");
  expect(zk.lines.join()).toContain("which was read back");
  const { end, problems } = await verifyBackup(openTarget({ target }), join(folder, "scratch"));
  expect([end, problems]).toEqual([zk.summary.appliedZxid, []]);
});
