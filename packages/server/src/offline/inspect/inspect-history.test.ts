import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { makeSmallBackup } from "@zooid/backup/testing/small-backup";
import { OpCode } from "@zooid/model";
import { listArchive, listBases } from "@zooid/txn-log/sqlite";
import { create, RawClient, setData } from "@zooid/wire/testing/raw-client";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ConfigError, parseServerConfig } from "../../config.ts";
import { startTestServer } from "../../testing/server.ts";
import { inspectHistory } from "./inspect-history.ts";
import type { InspectOptions } from "./inspect-options.ts";

let dataDir = "";
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "zooid-history-"));
});
afterEach(() => rm(dataDir, { recursive: true, force: true }));

const SUMMARY: InspectOptions = { hasEntries: false, isVerified: true, hasData: false };

/** A server that archives what it commits writes some nodes, and stops. */
async function archived(...paths: readonly string[]): Promise<void> {
  await using zk = await startTestServer({ dataDir, history: { retainMs: 3_600_000 } });
  // A server that has just started copies its state.
  await vi.waitFor(() => expect(listBases(join(dataDir, "archive/base"))).not.toEqual([]), 5000);
  await using client = await RawClient.withSession(zk.port);
  for (const path of paths) await client.ask(OpCode.CREATE, create(path, "a secret"));
  await client.ask(OpCode.SET_DATA, setData(paths[0] ?? "", "another"));
}

function inspect(path: string, options: InspectOptions): { readonly lines: string[]; readonly faults: string[] } {
  const lines: string[] = [];
  const faults = inspectHistory([path], options, (line) => lines.push(line));
  return { lines, faults: faults.map(({ message }) => message) };
}

test("what a server committed is in its history when it has stopped, without values unless they are asked for", async () => {
  await archived("/a", "/a/b", '/c "d"');
  await archived("/e");
  expect(listArchive(join(dataDir, "archive/log"))).toHaveLength(2);
  const entries = inspect(dataDir, { ...SUMMARY, hasEntries: true });
  expect(entries.faults).toEqual([]);
  const changes = entries.lines.map((line) => line.replace(/^0x\S+ \S+ 0x\S+ /, "").replace(/ by "127.0.0.1"$/, ""));
  expect(changes).toEqual(
    expect.arrayContaining(['CREATE "/a/b" 8 bytes', 'CREATE "/c \\"d\\"" 8 bytes', 'SET_DATA "/a" 7 bytes']),
  );
  expect(entries.lines.join("\n")).not.toMatch(/secret|another|anyone/);
  expect(entries.lines.filter((line) => line.includes("transactions after") && line.endsWith("; whole"))).toHaveLength(
    2,
  );
  expect(entries.lines.at(-1)).toMatch(/archive\/log: 2 files, \d+ bytes$/);
  const { lines } = inspect(dataDir, { isVerified: false, hasEntries: true, hasData: true });
  expect(lines.map((line) => line.replace(/^.* SET_DATA/, "SET_DATA"))).toContain(
    'SET_DATA "/a" 7 bytes "another" by "127.0.0.1"',
  );
  expect(lines.find((line) => line.includes('"/a/b"'))).toMatch(/ "a secret" world:"anyone":31 by "127.0.0.1"$/);
});

test("damaged files and gaps are named, and all other files are read", async () => {
  for (const path of ["/a", "/b", "/c"]) await archived(path);
  const [first, second, third] = listArchive(join(dataDir, "archive/log"));
  rmSync(second?.file ?? "");
  const bytes = readFileSync(first?.file ?? "");
  bytes[30] = (bytes[30] ?? 0) ^ 1;
  writeFileSync(first?.file ?? "", bytes);
  const { lines, faults } = inspect(join(dataDir, "archive"), SUMMARY);
  expect(faults).toEqual([expect.stringContaining(`${first?.file} is damaged at `)]);
  expect(lines).toEqual([
    expect.stringMatching(`^${third?.file}: .*; whole$`),
    expect.stringMatching(/base\/0{16}: the state at 0x0, 4 znodes and 0 sessions, .*; whole$/),
    expect.stringContaining("lacks the transactions after 0x10000000"),
    expect.stringContaining(": 2 files, "),
  ]);
});

test("damage of any file of an archive, or a missing one of a base, is a fault that names it", async () => {
  const archive = join(dataDir, "archive");
  await makeSmallBackup(dataDir);
  renameSync(join(dataDir, "archive-of-server"), archive);
  expect(inspect(dataDir, SUMMARY).faults).toEqual([]);
  const names = readdirSync(archive, { recursive: true, encoding: "utf8" }).filter((name) => /\d$|json$/.test(name));
  const files = names.map((name) => join(archive, name)).filter((file) => statSync(file).isFile());
  expect(files.length).toBeGreaterThan(3);
  for (const file of files) {
    const whole = readFileSync(file);
    const flipped = Buffer.from(whole);
    flipped[3] = (flipped[3] ?? 0) ^ 1;
    writeFileSync(file, flipped);
    expect([file, inspect(dataDir, SUMMARY).faults]).toEqual([file, [expect.stringContaining(dirname(file))]]);
    if (file.includes("/base/")) {
      rmSync(file);
      expect([file, inspect(dataDir, SUMMARY).faults]).toEqual([file, [expect.stringContaining(dirname(file))]]);
    }
    writeFileSync(file, whole);
  }
});

test("a path that has no history says so", () => {
  mkdirSync(join(dataDir, "empty"));
  expect(inspect(join(dataDir, "empty"), SUMMARY).lines).toEqual([
    `${join(dataDir, "empty")} has no files of a history`,
  ]);
  writeFileSync(join(dataDir, "other"), "x".repeat(1000));
  expect(inspect(join(dataDir, "other"), SUMMARY).faults).toEqual([
    expect.stringContaining("are not those of a file of the archive"),
  ]);
  expect(inspect(join(dataDir, "none"), SUMMARY).faults).toEqual([expect.stringContaining("ENOENT")]);
});

test("a history needs a data directory, and its numbers are whole", () => {
  expect(() => parseServerConfig({ history: { retainMs: 1 } })).toThrow(ConfigError);
  expect(() => parseServerConfig({ history: { retainMs: 1 } })).toThrow(
    "zooid.history.retainMs needs a data directory",
  );
  expect(() => parseServerConfig({ dataDir, history: { retainMs: 1, lagBytesMax: -1 } })).toThrow(
    "zooid.history.lagBytesMax",
  );
  expect(() => parseServerConfig({ dataDir, history: { retainMs: 1, fileMs: 99 } })).toThrow("zooid.history.fileMs");
  const { history } = parseServerConfig({ dataDir });
  expect(history).toEqual({ retainMs: 0, retainBytes: 0, lagBytesMax: 2 ** 30, fileMs: 10_000 });
});
