import { fork } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { type Store, type StoreDirectories, UNFINISHED_FILE } from "@zooid/txn-log/sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { startTestServer } from "../testing/server.ts";
import { fillNewDirectory } from "./new-directory.ts";

let folder: string;
let directories: { readonly dataDir: string; readonly logDir: string };
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "zooid-new-"));
  directories = { dataDir: join(folder, "state"), logDir: join(folder, "log") };
});
afterEach(() => rmSync(folder, { recursive: true }));

function fill<T>(use: (store: Store) => Promise<T>, places = directories): Promise<T> {
  return fillNewDirectory({ directories: places, command: "the command", warn: () => {} }, use);
}

const nothing = async (): Promise<void> => {};

/** Starts a server on the directories, which must be refused. */
async function expectUnfinished(places: Partial<typeof directories> = directories): Promise<void> {
  const start = startTestServer(places).then((server) => server[Symbol.asyncDispose]());
  await expect(start).rejects.toMatchObject({
    code: "UNFINISHED",
    message: expect.stringMatching(/ is unfinished: the command was stopped before its end; repeat that command/),
  });
}

/** A copy of the files that a kill at this moment leaves. */
function copyTo(name: string): typeof directories {
  const copy = (place: string): string => {
    const to = join(folder, name, basename(place));
    if (existsSync(place)) cpSync(place, to, { recursive: true });
    return to;
  };
  return { dataDir: copy(directories.dataDir), logDir: copy(directories.logDir) };
}

/** Ends a process with SIGKILL while it fills the directories. */
async function killWhileFilling(): Promise<void> {
  const child = fork(
    join(import.meta.dirname, "../testing/fill-until-killed.ts"),
    [directories.dataDir, directories.logDir],
    { execArgv: ["--conditions=@zooid/source"] },
  );
  const exited = once(child, "exit");
  await Promise.race([once(child, "message"), exited]);
  child.kill("SIGKILL");
  expect(await exited).toEqual([null, "SIGKILL"]);
}

describe("directories whose command was killed", () => {
  beforeEach(killWhileFilling);

  test("refuse a start, on both or on one of them, and are filled by the command that is repeated", async () => {
    const { dataDir, logDir } = directories;
    await expectUnfinished();
    await expectUnfinished({ dataDir });
    await expectUnfinished({ dataDir: logDir });
    await expectUnfinished({ dataDir: join(folder, "other"), logDir });
    // As an operator who expects a whole directory does.
    writeFileSync(join(dataDir, "myid"), "3\n");
    writeFileSync(join(dataDir, "state-9.db"), "");
    await fill(nothing);
    expect(readdirSync(dataDir)).not.toContain("state-9.db");
    expect(readdirSync(dataDir)).toContain("myid");
    await using server = await startTestServer(directories);
    expect(server.port).toBeGreaterThan(0);
  });

  test("are filled again where the kill came between the ends of the two markers", async () => {
    rmSync(join(directories.logDir, UNFINISHED_FILE));
    await expectUnfinished();
    await fill(nothing);
    await using server = await startTestServer(directories);
    expect(server.port).toBeGreaterThan(0);
  });

  test("go when the repeated command fails, and stay where it is killed as well", async () => {
    await killWhileFilling();
    await expectUnfinished();
    await expect(fill(() => Promise.reject(new Error("no room")))).rejects.toThrow("no room");
    expect(readdirSync(folder)).toEqual([]);
  });
});

test("a directory is unfinished until all of its data are there, and then is not", async () => {
  let during = directories;
  await fill(async () => {
    during = copyTo("during");
  });
  await expectUnfinished(during);
  await using server = await startTestServer(directories);
  expect(server.port).toBeGreaterThan(0);
});

test("a directory that a command fills is refused to another one, and stays", async () => {
  const places: StoreDirectories = { directory: directories.dataDir, logDirectory: directories.logDir };
  await fill(async () => {
    const before = readdirSync(places.logDirectory);
    await expect(fill(nothing)).rejects.toMatchObject({ code: "LOCKED" });
    expect(readdirSync(places.logDirectory)).toEqual(before);
  });
  await using server = await startTestServer(directories);
  expect(server.port).toBeGreaterThan(0);
});

test("a marker that a kill cut short counts, and an empty directory of an operator's stays when it fails", async () => {
  const { dataDir } = directories;
  mkdirSync(dataDir);
  writeFileSync(join(dataDir, UNFINISHED_FILE), '{"com');
  await expect(startTestServer({ dataDir })).rejects.toThrow("zooid-server restore or import was stopped before");
  await expect(fill(() => Promise.reject(new Error("no room")))).rejects.toThrow("no room");
  expect(readdirSync(folder)).toEqual(["state"]);
  expect(readdirSync(dataDir)).toEqual([]);
});
