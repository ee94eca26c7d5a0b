import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { composeZxid } from "@zooid/model";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ApacheDirectory } from "./apache-directory.ts";
import type { ExportRecord } from "./facts.ts";

const RECORD: ExportRecord = {
  closedAt: composeZxid(7, 9),
  epoch: 1031,
  zxid: composeZxid(1031, 1),
  nodes: 5,
  ephemeralsRemoved: 0,
  sessionsKept: 1,
  sessionsEnded: 2,
  shortestTimeoutMs: 4000,
  ttlNodes: 0,
  dataBytesMax: 3,
};
const SNAPSHOT = `snapshot.${RECORD.zxid.toString(16)}`;

let folder = "";
let out = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "zooid-directory-"));
  out = join(folder, "below/out");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function* pieces(...texts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Buffer.from(text);
}

async function written(directory: ApacheDirectory): Promise<void> {
  const staged = await directory.begin(6);
  await staged.snapshot(RECORD.zxid, pieces("abc", "def"));
  await staged.finish(RECORD);
}

function everything(): readonly string[] {
  return readdirSync(folder, { recursive: true }).map(String).toSorted();
}

test.each([
  ["a directory that does not exist", () => {}],
  ["an empty directory", () => mkdirSync(out, { recursive: true })],
])("%s gets a whole export, and says so afterwards", async (_, arrange) => {
  arrange();
  const directory = new ApacheDirectory(out);
  expect(await directory.look()).toEqual({ kind: "free" });
  await written(directory);
  expect((await new ApacheDirectory(out).look()).kind).toBe("free");
  await directory.keep();
  expect(everything()).toEqual([
    ...["below", "below/out", "below/out/version-2"],
    ...["acceptedEpoch", "currentEpoch", SNAPSHOT].map((name) => `below/out/version-2/${name}`),
    "below/out/zooid-return.json",
  ]);
  const files = ["acceptedEpoch", "currentEpoch", SNAPSHOT].map((name) => join(out, "version-2", name));
  expect(files.map((file) => readFileSync(file, "utf8"))).toEqual(["1031", "1031", "abcdef"]);
  expect(files.map((file) => statSync(file).mode & 0o777)).toEqual([0o600, 0o600, 0o600]);
  expect(await new ApacheDirectory(out).look()).toEqual({ kind: "exported", record: RECORD });
});

test.each([
  ["a directory that does not exist", () => {}],
  ["an empty directory", () => mkdirSync(out, { recursive: true })],
])("%s has nothing of an export that is dropped, wherever it was", async (_, arrange) => {
  arrange();
  const before = everything();
  for (const isKept of [false, true]) {
    const directory = new ApacheDirectory(out);
    await written(directory);
    if (isKept) await directory.keep();
    await directory.drop();
    expect(everything().filter((name) => name !== "below")).toEqual(before.filter((name) => name !== "below"));
  }
});

test.each([
  ["a directory that does not exist", () => {}],
  ["an empty directory", () => mkdirSync(out, { recursive: true })],
])("%s with what a killed process has left is free for another export", async (_, arrange) => {
  arrange();
  const killed = await new ApacheDirectory(out).begin(6);
  await killed.snapshot(7, pieces("half of"));
  const directory = new ApacheDirectory(out);
  expect(await directory.look()).toEqual({ kind: "free" });
  await written(directory);
  await directory.keep();
  expect(readdirSync(join(out, "version-2")).toSorted()).toEqual(["acceptedEpoch", "currentEpoch", SNAPSHOT]);
  expect(everything().filter((name) => name.includes("zooid-return/"))).toEqual([]);
});

test.each<readonly [string, () => void, string]>([
  ["files", () => mkdirSync(join(out, "mine"), { recursive: true }), "is not empty, and has no export of a return"],
  [
    "a record that is none",
    () => {
      mkdirSync(join(out, "version-2"), { recursive: true });
      writeFileSync(join(out, "zooid-return.json"), '{"closedAt":7}');
    },
    "is not empty, and has no export of a return",
  ],
  [
    "a record alone",
    () => {
      mkdirSync(out, { recursive: true });
      writeFileSync(join(out, "zooid-return.json"), "{}");
    },
    "is not empty",
  ],
  [
    "a file in its place",
    () => {
      mkdirSync(join(folder, "below"));
      writeFileSync(out, "mine");
    },
    "cannot be written: ENOTDIR",
  ],
  ["a file above it", () => writeFileSync(join(folder, "below"), "mine"), "cannot be written: "],
])("a directory with %s is unusable, and stays as it is", async (_, arrange, text) => {
  arrange();
  const before = everything();
  expect(await new ApacheDirectory(out).look()).toEqual({ kind: "unusable", text: expect.stringContaining(text) });
  expect(everything()).toEqual(before);
});

test("an export that has no room is not begun", async () => {
  const directory = new ApacheDirectory(out);
  await expect(directory.begin(2 ** 60)).rejects.toThrow(/has room for \d+ bytes, and the export has/);
  await directory.drop();
  expect(everything()).toEqual(["below"]);
});
