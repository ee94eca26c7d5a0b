import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { OpCode } from "@zooid/model";
import { create, RawClient, setData } from "@zooid/wire/testing/raw-client";
import { afterEach, beforeEach, expect, test } from "vitest";
import { restore, shown, start } from "../testing/snapshot-endpoint.ts";
import { writeOfflineSnapshot } from "./offline-snapshot.ts";
import { readSurvivor } from "./survivor.ts";

let place = "";
let dataDir = "";
let directory = "";
beforeEach(async () => {
  place = await mkdtemp(join(tmpdir(), "zooid-offline-"));
  [dataDir, directory] = [join(place, "data"), join(place, "snapshots")];
  mkdirSync(directory);
});
afterEach(() => rm(place, { recursive: true, force: true }));

const PATHS = ["/", "/a", "/a/b"];

/** A server that has written nodes and has stopped. @returns what a client saw */
async function stopped(): Promise<readonly unknown[]> {
  await using zk = await start(dataDir);
  await using client = await RawClient.withSession(zk.port);
  await client.ask(OpCode.CREATE, create("/a", "x".repeat(200_000)));
  await client.ask(OpCode.CREATE, create("/a/b", "one"));
  await client.ask(OpCode.SET_DATA, setData("/a/b", "two"));
  return await nodesOf(client);
}

async function nodesOf(client: RawClient): Promise<readonly unknown[]> {
  const nodes: unknown[] = [];
  for (const path of PATHS) nodes.push(await shown(client, path));
  return nodes;
}

const OPTIONS = { takesDamaged: false, warn: () => {} };

test("a snapshot of a stopped server is what its clients saw, and leaves nothing else behind", async () => {
  const before = await stopped();
  // What is no part of the state is not read.
  mkdirSync(join(dataDir, "lost+found"));
  writeFileSync(join(dataDir, "notes.txt"), "");
  const survivor = readSurvivor({ dataDir });
  expect(survivor).toMatchObject({ sid: 1, uncommittedCount: 1, damage: undefined });
  expect(survivor.zxid).toBeGreaterThanOrEqual(survivor.committed);
  const held = readdirSync(dataDir).toSorted();
  const written = await writeOfflineSnapshot(survivor, { directory, ...OPTIONS });
  expect(written).toMatchObject({
    file: join(directory, `snapshot.${survivor.zxid.toString(16)}`),
    zxid: survivor.zxid,
  });
  const bytes = readFileSync(written.file);
  expect([bytes.length, readdirSync(directory).length]).toEqual([written.sizeBytes, 1]);
  expect(readdirSync(dataDir).toSorted()).toEqual(held);
  await using other = await start(join(place, "other"));
  expect((await restore(other, bytes)).status).toBe(200);
  await using client = await RawClient.withSession(other.port);
  expect(await nodesOf(client)).toEqual(before);
});

test("a snapshot is not written over a file, nor of damaged data without force; nothing is left behind then", async () => {
  await stopped();
  const survivor = readSurvivor({ dataDir });
  writeFileSync(join(directory, "mine"), "kept");
  await expect(writeOfflineSnapshot(survivor, { directory, name: "mine", ...OPTIONS })).rejects.toThrow("exists");
  expect(readFileSync(join(directory, "mine"), "utf8")).toBe("kept");
  const damaged = { ...survivor, damage: "its log is short" };
  await expect(writeOfflineSnapshot(damaged, { directory, ...OPTIONS })).rejects.toThrow("its log is short; --force");
  expect(readdirSync(directory)).toEqual(["mine"]);
});

test("a folder without data has no survivor", () => {
  expect(() => readSurvivor({ dataDir: join(place, "absent") })).toThrow();
});
