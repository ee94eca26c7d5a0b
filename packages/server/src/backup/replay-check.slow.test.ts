import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openTarget } from "@zooid/backup";
import { OpCode } from "@zooid/model";
import { encodeManifest, parseManifest } from "@zooid/txn-log/archive";
import { create, RawClient, setData, versioned } from "@zooid/wire/testing/raw-client";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { ask } from "../testing/http.ts";
import { startTestServer } from "../testing/server.ts";
import { type ReplayLimits, type ReplayResult, replayLastBase } from "./replay-check.ts";

const AUTH = { authorization: "digest super:test" };
/** A thread of low priority compares: on a busy machine it gets a twentieth of the time. */
const WAIT = { timeout: 240_000 };

let folder: string;
let lines: readonly string[];
let monitor: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "zooid-replay-"));
  const target = join(folder, "made");
  mkdirSync(target);
  await using zk = await startTestServer({
    dataDir: join(folder, "data"),
    history: { retainMs: 3_600_000, fileMs: 100 },
    backup: { target },
    admin: { port: 0 },
    superDigest: "super:D/InIHSb7yEEbrWz8b9l71RjZJU=",
  });
  await using client = await RawClient.withSession(zk.port);
  for (let base = 0; base < 2; base++) {
    for (let i = 0; i < 20; i++) await client.ask(OpCode.CREATE, create(`/n-${base}-${i}`, `${i}`));
    await client.ask(OpCode.SET_DATA, setData("/n-0-1", `set ${base}`));
    await client.ask(OpCode.CREATE, create(`/e-${base}`, "", 1));
    await client.ask(OpCode.DELETE, versioned(`/n-${base}-3`));
    const read = async () => JSON.parse((await ask(zk.adminPort, "/commands/backup_status", { headers: AUTH })).body);
    await ask(zk.adminPort, "/commands/backup_now", { method: "POST", headers: AUTH });
    await vi.waitFor(async () => expect((await read()).done).toBe(base + 1), WAIT);
  }
  await vi.waitFor(() => expect(zk.lines.join()).toContain("digests are equal"), WAIT);
  ({ lines } = zk);
  monitor = (await ask(zk.adminPort, "/commands/monitor")).body;
}, 300_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let backup: string;
beforeEach(() => {
  backup = join(folder, "backup");
  cpSync(join(folder, "made"), backup, { recursive: true });
});
afterEach(() => rmSync(backup, { recursive: true }));

function replay(limits?: ReplayLimits): Promise<ReplayResult> {
  const target = openTarget({ target: backup });
  const scratch = join(folder, "scratch");
  const signal = new AbortController().signal;
  return replayLastBase({ target, scratch, signal, ...(limits === undefined ? {} : { limits }) });
}

/** Changes what the newest base says of its state, with sums that are right. */
function withDigest(change: (low: number) => number): void {
  const newest = readdirSync(join(backup, "base")).toSorted().at(-1) ?? "";
  const file = join(backup, "base", newest, "manifest.json");
  const manifest = parseManifest(readFileSync(file), file);
  writeFileSync(file, encodeManifest({ ...manifest, digestLow: change(manifest.digestLow) }));
}

const logFiles = (): readonly string[] => readdirSync(join(backup, "log")).toSorted();

test("a server compares each new base with the one before it, and says that both are one history", async () => {
  expect(lines.filter((line) => line.includes("does not lead"))).toEqual([]);
  expect(readdirSync(join(folder, "data", "archive"))).not.toContain("replayed");
  expect(monitor).toMatch(/"zooid_backup_replay_differs" : 0/);
  expect(monitor).toMatch(/"zooid_backup_replayed_age_seconds" : \d/);
  expect(await replay()).toMatchObject({ kind: "equal", entryCount: expect.any(Number) });
});

test("another state than the one that the files lead to is found", async () => {
  withDigest((low) => low ^ 1);
  expect(await replay()).toMatchObject({ kind: "differs", found: "its digest is not the one that the tree had there" });
});

test("a state whose digest is not known, one that is too large, and one behind a gap are not replayed", async () => {
  expect(await replay({ nodesMax: 5, baseBytesMax: 2 ** 30 })).toMatchObject({ kind: "skipped" });
  expect(await replay({ nodesMax: 1000, baseBytesMax: 5 })).toMatchObject({ kind: "skipped" });
  rmSync(join(backup, "log", logFiles().at(-1) ?? ""));
  expect(await replay()).toMatchObject({ kind: "skipped", reason: expect.stringContaining("are not in the backup") });
  rmSync(join(backup, "base", readdirSync(join(backup, "base")).toSorted()[0] ?? ""), { recursive: true });
});

test("a damaged part of the older base is named, and is no other state", async () => {
  const newest = readdirSync(join(backup, "base")).toSorted().at(-2) ?? "";
  writeFileSync(join(backup, "base", newest, "0000"), "x");
  await expect(replay()).rejects.toThrow(/0000 is damaged/);
});
