import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT } from "@zooid/conformance/internal/servers/endpoint";
import { planRestore, readSurvivor, restoreHistory } from "@zooid/embedded-server";
import { ArchivedHistory } from "@zooid/embedded-server/testing/archived-history";
import { StoreError } from "@zooid/txn-log";
import { openStore } from "@zooid/txn-log/sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import { cutStates, incompleteness } from "./cut-states.ts";
import { readDiskCalls } from "./disk-calls.ts";
import { recordingEnvironment } from "./recording-shim.ts";
import { exportedDirectory, restoredDirectories } from "./restored-directories.ts";

/** Each twentieth disk of a kind is started as a whole, and restored to again. */
const WHOLE_EVERY = 20;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "zooid-restore-cuts-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

test("a kill or a power cut after any call of a restore leaves nothing, unfinished directories, or all of the data", {
  timeout: 300_000,
}, async () => {
  await using history = await ArchivedHistory.make();
  await history.write(1);
  const calls = await recorded("restore", history.archive);
  const last = lastIn(calls.root);
  // At the same place: the markers name it.
  const disk = calls.root;
  rmSync(disk, { recursive: true });
  const seen = { nothing: 0, unfinished: 0, whole: 0 };
  const keys = new Set<string>();
  for (const state of cutStates(calls, { recentMax: 1 })) {
    if (keys.has(state.key)) continue;
    keys.add(state.key);
    mkdirSync(disk);
    state.write(disk);
    const found = standing(disk, last, state.description);
    seen[found]++;
    if (seen[found] % WHOLE_EVERY === 1) await checkWhole(disk, { found, archive: history.archive });
    rmSync(disk, { recursive: true });
  }
  expect(seen.nothing).toBeGreaterThan(0);
  expect(seen.unfinished).toBeGreaterThan(50);
  expect(seen.whole).toBeGreaterThan(0);
});

test("a kill or a power cut after any call of an export leaves no directory, or all of the data", async () => {
  await using history = await ArchivedHistory.make();
  await history.write(1);
  const calls = await recorded("export", history.archive);
  const files = exportedIn(calls.root);
  expect(files).toHaveLength(3);
  const disk = join(folder, "disk");
  const keys = new Set<string>();
  for (const state of cutStates(calls, { recentMax: 1 })) {
    if (keys.has(state.key)) continue;
    keys.add(state.key);
    mkdirSync(disk);
    state.write(disk);
    if (existsSync(exportedDirectory(disk))) expect(exportedIn(disk), state.description).toEqual(files);
    rmSync(disk, { recursive: true });
  }
});

/** Names and contents. */
function exportedIn(root: string): readonly (readonly [name: string, content: string])[] {
  const data = join(exportedDirectory(root), "version-2");
  if (!existsSync(data)) return [];
  return readdirSync(data).map((name) => [name, readFileSync(join(data, name), "base64")]);
}

/** All that a command does to its files. */
async function recorded(command: "restore" | "export", archive: string): Promise<ReturnType<typeof readDiskCalls>> {
  const [root, log] = [join(folder, "root"), join(folder, "record")];
  mkdirSync(root);
  const program = join(import.meta.dirname, "run-restore.ts");
  const child = spawn(process.execPath, ["--conditions=@zooid/source", program, command, archive, root], {
    cwd: ROOT,
    env: { ...process.env, ...recordingEnvironment({ root, log, syncDelayUs: 0 }) },
    stdio: ["ignore", "ignore", "inherit"],
  });
  expect(await once(child, "exit")).toEqual([0, null]);
  const calls = readDiskCalls(log, root);
  expect(incompleteness(calls)).toBeUndefined();
  return calls;
}

function lastIn(root: string): number {
  return readSurvivor(restoredDirectories(root)).zxid;
}

/** The state that a start would find. Empty directories are "nothing" only if there are none. */
function standing(disk: string, last: number, description: string): "nothing" | "unfinished" | "whole" {
  const directories = restoredDirectories(disk);
  const there = Object.values(directories).filter((place) => existsSync(place));
  if (there.length === 0) return "nothing";
  try {
    const { damage, zxid } = readSurvivor(directories);
    expect({ damage, zxid, description }).toEqual({ damage: undefined, zxid: last, description });
    return "whole";
  } catch (error) {
    if (!(error instanceof StoreError && error.code === "UNFINISHED")) throw new Error(description, { cause: error });
    return "unfinished";
  }
}

interface Checked {
  readonly found: ReturnType<typeof standing>;
  readonly archive: string;
}

/**
 * Checks that files which are not whole are made again. A store that opens has reported no repairs.
 */
async function checkWhole(disk: string, { found, archive }: Checked): Promise<void> {
  const directories = restoredDirectories(disk);
  const warnings: string[] = [];
  const warned = (text: string): void => void warnings.push(text);
  if (found !== "whole") {
    const options = { directories, command: "again", member: undefined, keepsSessions: false, warn: warned };
    await restoreHistory(planRestore(archive), options);
    expect(readdirSync(disk).filter((name) => name.startsWith("."))).toEqual([]);
  }
  const places = { directory: directories.dataDir, logDirectory: directories.logDir };
  const handler = {
    appended: () => {},
    roomChanged: () => {},
    failed: (error: Error) => warned(error.message),
    warned,
  };
  await using store = await openStore({ ...places, sid: 1, handler });
  expect(store.loadState({ session: () => {}, node: () => {} }).applied.zxid).toBe(store.log.durable.tail.zxid);
  expect(warnings).toEqual([]);
}
