import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { LogPosition } from "@zooid/txn-log";
import { ARCHIVE_START, baseOf, fileBehind } from "@zooid/txn-log/testing/archive-pieces";
import { TemporaryDirectory } from "@zooid/txn-log/testing/temporary-directory";
import { afterEach, beforeEach, expect, test } from "vitest";
import { verifyBackup } from "../contents/verify-backup.ts";
import { DirectoryTarget } from "../targets/directory-target.ts";
import { S3Service } from "../testing/s3-service.ts";
import { type BackupEvent, BackupUploads, type BackupUploadsOptions } from "./backup-uploads.ts";
import type { UploadSettings } from "./upload-messages.ts";

let place: TemporaryDirectory;
let archive: string;
let backup: string;
let end: LogPosition;
let events: BackupEvent[];
beforeEach(() => {
  place = new TemporaryDirectory();
  archive = join(place.path, "archive");
  backup = new TemporaryDirectory().path;
  end = fileBehind(archive, ARCHIVE_START, [1000, 2000]);
  events = [];
});
afterEach(() => {
  place[Symbol.dispose]();
  rmSync(backup, { recursive: true, force: true });
});

interface Differences extends Partial<Omit<BackupUploadsOptions, "settings">> {
  readonly settings?: Partial<UploadSettings>;
}

function open({ settings, ...options }: Differences = {}): BackupUploads {
  return new BackupUploads({
    settings: { target: backup, baseEveryMs: 3_600_000, retainMs: 0, bytesPerSecond: 0, ...settings },
    archive,
    holder: "server 1",
    ensembleId: () => "",
    flush: async () => {},
    takeBase: async () => void (await baseOf(archive, end, Date.now())),
    noted: (event) => events.push(event),
    passMs: 10,
    ...options,
  });
}

async function problems(): Promise<readonly string[]> {
  return (await verifyBackup(new DirectoryTarget(backup), join(place.path, "scratch"))).problems;
}

test("what the archive gets is in the backup soon, by a thread, and the lease is freed at the end", async () => {
  {
    await using uploads = open();
    await expect.poll(() => uploads.status.base).toBe(end.zxid);
    end = fileBehind(archive, end, [3000]);
    await expect.poll(() => uploads.status.end).toBe(end.zxid);
    expect(uploads.status).toMatchObject({ target: backup, isHolder: true, holder: "server 1", fault: undefined });
    expect(existsSync(join(backup, "lease.json"))).toBe(true);
  }
  expect(existsSync(join(backup, "lease.json"))).toBe(false);
  expect(await problems()).toEqual([]);
});

test("a base that is asked for is taken now", async () => {
  await using uploads = open({ passMs: 2 ** 30 });
  const first = await uploads.now();
  expect([first.base, first.isHolder]).toEqual([end.zxid, true]);
  end = fileBehind(archive, end, [3000]);
  expect((await uploads.now()).base).toBe(end.zxid);
  expect(await problems()).toEqual([]);
});

test("a target that is away is noted once, tried again, and noted when it works", async () => {
  rmSync(backup, { recursive: true });
  await using uploads = open();
  await expect.poll(() => uploads.status.fault).toContain("does not exist");
  await expect(uploads.now()).rejects.toThrow(`${backup} does not exist: no directory is there`);
  mkdirSync(backup);
  await expect.poll(() => uploads.status.base).toBe(end.zxid);
  expect(events.map(({ kind }) => kind)).toEqual(["failed", "holder", "base", "works"]);
});

test("a state that cannot be copied is the reason that a pass fails, and it is taken later", async () => {
  let isAble = false;
  await using uploads = open({
    takeBase: async () => {
      if (!isAble) throw new Error("the disk has little room");
      await baseOf(archive, end, Date.now());
    },
  });
  await expect
    .poll(() => uploads.status.fault)
    .toBe("the state cannot be copied into the archive: the disk has little room");
  isAble = true;
  await expect.poll(() => uploads.status.base).toBe(end.zxid);
  expect(events.map(({ kind }) => kind)).toContain("works");
});

test("nothing happens while the ensemble is not known", async () => {
  await using uploads = open({ ensembleId: () => undefined });
  expect(await uploads.now()).toMatchObject({ isHolder: undefined, base: undefined });
  expect(readdirSync(backup)).toEqual([]);
});

test("a new key is used without a restart", async () => {
  await using service = await S3Service.start();
  const credentialsFile = join(place.path, "key");
  await using uploads = open({ settings: { target: "s3://bucket/one", endpoint: service.endpoint, credentialsFile } });
  await expect.poll(() => uploads.status.fault).toContain("the key of the backup cannot be read: ENOENT");
  writeFileSync(credentialsFile, "accessKeyId=k\nsecretAccessKey=canary\n");
  await expect.poll(() => uploads.status.base).toBe(end.zxid);
  expect(JSON.stringify(events)).not.toContain("canary");
  expect([...service.objects.keys()].some((name) => name.startsWith("one/base/"))).toBe(true);
});

test("a close ends an upload that waits, at once, and the next server completes it", async () => {
  await using service = await S3Service.start();
  const env = { AWS_ACCESS_KEY_ID: "k", AWS_SECRET_ACCESS_KEY: "s" };
  const settings = { target: "s3://bucket/one", endpoint: service.endpoint, env };
  const first = open({ settings });
  service.faults.push({ kind: "silent" });
  await expect.poll(() => service.requestCount).toBe(1);
  await first[Symbol.asyncDispose]();
  await using second = open({ settings, holder: "server 2" });
  await expect.poll(() => second.status.base).toBe(end.zxid);
});

const inDirectory = (): UploadSettings => ({ target: backup, baseEveryMs: 3_600_000, retainMs: 0, bytesPerSecond: 0 });

test("a pass that waits for one target is made at the next one, and no failure is noted", async () => {
  await using service = await S3Service.start();
  const env = { AWS_ACCESS_KEY_ID: "k", AWS_SECRET_ACCESS_KEY: "s" };
  const settings = { target: "s3://bucket/one", endpoint: service.endpoint, env };
  await using uploads = open({ settings, passMs: 2 ** 30 });
  service.faults.push({ kind: "silent" });
  const asked = uploads.now();
  await expect.poll(() => service.requestCount).toBe(1);
  const purge = expect(uploads.purge(end.zxid)).rejects.toThrow("the settings of the backup were changed meanwhile");
  uploads.change(inDirectory());
  expect(uploads.status).toMatchObject({ target: backup, isHolder: undefined, base: undefined });
  expect(await asked).toMatchObject({ target: backup, isHolder: true, base: end.zxid, fault: undefined });
  await purge;
  expect(events.map(({ kind }) => kind)).toEqual(["holder", "base"]);
});

test("changes that follow each other at once end with the last one", async () => {
  const others = [new TemporaryDirectory(), new TemporaryDirectory()];
  try {
    await using uploads = open();
    await expect.poll(() => uploads.status.base).toBe(end.zxid);
    for (const { path } of others) uploads.change({ ...inDirectory(), target: path });
    await expect.poll(() => uploads.status.base).toBe(end.zxid);
    const isHeld = [backup, ...others.map(({ path }) => path)].map((path) => existsSync(join(path, "lease.json")));
    expect(isHeld).toEqual([false, false, true]);
  } finally {
    for (const other of others) other[Symbol.dispose]();
  }
});

test("other settings of the same target keep what is known of it", async () => {
  await using uploads = open();
  await expect.poll(() => uploads.status.base).toBe(end.zxid);
  uploads.change({ ...inDirectory(), bytesPerSecond: 1_000_000_000 });
  expect(uploads.status).toMatchObject({ isHolder: true, base: end.zxid });
  end = fileBehind(archive, end, [3000]);
  await expect.poll(() => uploads.status.end).toBe(end.zxid);
});
