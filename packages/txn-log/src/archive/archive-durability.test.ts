/** Files of an archive are on the disk before they have their names. */
import fs, { readdirSync } from "node:fs";
import promises from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { basename, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { CHAIN_NONE } from "../log/chain.ts";
import { Z } from "../testing/append-batches.ts";
import { fileBehind, sourceAt } from "../testing/archive-pieces.ts";
import { TemporaryDirectory } from "../testing/temporary-directory.ts";
import { writeBase } from "./archive-base.ts";
import { basesFolderOf, logFolderOf, retainArchive } from "./archive-folder.ts";

const calls: string[] = [];
let failing: string | undefined;

/** Notes a call, which fails where the test says so. */
function note(call: string): void {
  calls.push(call);
  if (call === failing) throw Object.assign(new Error("no room"), { code: "ENOSPC" });
}

function kindOf(stat: { isDirectory(): boolean; readonly size: number }): string {
  return stat.isDirectory() ? "folder" : `${stat.size > 0 ? "" : "empty "}file`;
}

const real = { fsyncSync: fs.fsyncSync, renameSync: fs.renameSync, openSync: fs.openSync, open: promises.open };
/** Names of the parts of bases that are open. */
const parts = new Map<number, string>();

/** The calls of this process, noted. */
function noteCalls(): void {
  fs.openSync = (path, ...args) => {
    const handle = real.openSync(path, ...args);
    const name = basename(String(path));
    if (/^\d{4}$/.test(name)) parts.set(handle, `${name}, a `);
    else parts.delete(handle);
    return handle;
  };
  fs.fsyncSync = (handle) => {
    note(`sync ${parts.get(handle) ?? ""}${kindOf(fs.fstatSync(handle))}`);
    real.fsyncSync(handle);
  };
  fs.renameSync = (from, to) => {
    note(`rename ${basename(String(from))} to ${basename(String(to))}`);
    real.renameSync(from, to);
  };
  promises.open = async (...args) => {
    const handle = await real.open(...args);
    const sync = handle.sync.bind(handle);
    handle.sync = async () => {
      note(`sync ${basename(String(args[0]))}, a ${kindOf(await handle.stat())}`);
      await sync();
    };
    return handle;
  };
  syncBuiltinESMExports();
}

let place: TemporaryDirectory;
let archive: string;
beforeEach(() => {
  place = new TemporaryDirectory();
  archive = join(place.path, "archive");
  calls.length = 0;
  failing = undefined;
  noteCalls();
});
afterEach(() => {
  Object.assign(fs, { fsyncSync: real.fsyncSync, renameSync: real.renameSync, openSync: real.openSync });
  promises.open = real.open;
  syncBuiltinESMExports();
  place[Symbol.dispose]();
});

const START = { zxid: Z(0, 0), chain: CHAIN_NONE };
const NAME = "0000000000000000-0000000100000001";

test("a file is written and synced, then named, then its folder is synced", () => {
  fileBehind(archive, START, [1000]);
  expect(calls).toEqual(["sync file", `rename unfinished to ${NAME}`, "sync folder"]);
});

test("a file whose sync fails is gone", () => {
  failing = "sync file";
  expect(() => fileBehind(archive, START, [1000])).toThrow("no room");
  expect(readdirSync(logFolderOf(archive))).toEqual([]);
});

test("the removal of files is synced", () => {
  const end = fileBehind(archive, fileBehind(archive, START, [1000]), [2000]);
  expect(end.zxid).toBe(Z(1, 2));
  calls.length = 0;
  const limits = { retainMs: 1, retainBytes: Number.POSITIVE_INFINITY };
  expect(retainArchive(archive, { ...limits, nowMs: 10_000 }).count).toBe(1);
  expect(calls).toEqual(["sync folder"]);
  expect(retainArchive(archive, { ...limits, nowMs: 10_000 }).count).toBe(1);
  expect(calls).toEqual(["sync folder"]);
});

const CHUNKS = Array.from({ length: 65 }, (_, i) => Buffer.from(`chunk ${i}`));
const BASE_CALLS = [
  "sync 0000, a file",
  "sync 0001, a file",
  "sync manifest.json, a file",
  "sync folder",
  "rename unfinished to 0000000100000005",
  "sync folder",
];

test("the parts and the manifest of a base are synced, then it is named, then the folder of bases is synced", async () => {
  const source = sourceAt({ zxid: Z(1, 5), chain: CHAIN_NONE }, CHUNKS);
  await writeBase(basesFolderOf(archive), source, { ensembleId: "", takenMs: 1000 });
  expect(calls).toEqual(BASE_CALLS);
});

test.each(BASE_CALLS.slice(0, 5))("a base of which a call fails, %s, leaves nothing", async (call) => {
  failing = call;
  const source = sourceAt({ zxid: Z(1, 5), chain: CHAIN_NONE }, CHUNKS);
  const writing = writeBase(basesFolderOf(archive), source, { ensembleId: "", takenMs: 1000 });
  await expect(writing).rejects.toThrow("no room");
  expect(readdirSync(basesFolderOf(archive))).toEqual([]);
});
