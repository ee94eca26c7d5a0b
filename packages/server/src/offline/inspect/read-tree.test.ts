import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { OpCode } from "@zooid/model";
import { APACHE_SNAPSHOT } from "@zooid/txn-log/testing/apache-snapshot";
import { create, RawClient } from "@zooid/wire/testing/raw-client";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { startTestServer } from "../../testing/server.ts";
import { exportToApache } from "../apache/export-apache.ts";
import { readSurvivor } from "../survivor.ts";
import { compareTrees } from "./compare-trees.ts";
import { readTree, type TreePlace } from "./read-tree.ts";

let folder = "";
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "zooid-tree-"));
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(folder, { recursive: true, force: true });
});

const warn = (): void => {};

async function differences(one: TreePlace, other: TreePlace): Promise<readonly string[]> {
  const lines: string[] = [];
  compareTrees([await readTree(one, warn), await readTree(other, warn)], true, (line) => lines.push(line));
  return lines;
}

test("a stopped server's data are those of its export, but for ephemeral nodes", async () => {
  const [dataDir, directory] = [join(folder, "data"), join(folder, "apache")];
  {
    await using zk = await startTestServer({ dataDir });
    await using client = await RawClient.withSession(zk.port);
    await client.ask(OpCode.CREATE, create("/a", "one"));
    await client.ask(OpCode.CREATE, create("/e", "gone", 1));
  }
  const held = readdirSync(dataDir).toSorted();
  await exportToApache({ survivor: readSurvivor({ dataDir }) }, { directory, takesDamaged: false, warn });
  expect(await differences({ path: dataDir }, { path: directory })).toEqual(['- "/e" "gone"']);
  const [snapshot = ""] = readdirSync(join(directory, "version-2")).filter((name) => name.startsWith("snapshot."));
  expect(await differences({ path: directory }, { path: join(directory, "version-2", snapshot) })).toEqual([]);
  expect(readdirSync(dataDir).toSorted()).toEqual(held);
});

test.each<[string, () => TreePlace, RegExp]>([
  ["nothing", () => ({ path: join(folder, "none") }), /none does not exist$/],
  ["an empty folder", () => ({ path: folder }), /holds no log of a server$/],
  ["a folder without a history", () => ({ path: folder, target: { timeMs: 1 } }), /has no base/],
  [
    "a moment of a file",
    () => ({ path: put(APACHE_SNAPSHOT), target: { timeMs: 1 } }),
    /is a file, which has no other moment$/,
  ],
  ["a damaged snapshot", () => ({ path: put(APACHE_SNAPSHOT.subarray(0, 300)) }), /snapshot\.14 is damaged at byte/],
])("%s is no state, and no file is left", async (_, place, problem) => {
  const temporary = join(folder, "temporary");
  mkdirSync(temporary);
  vi.stubEnv("TMPDIR", temporary);
  await expect(readTree(place(), warn)).rejects.toThrow(problem);
  expect(readdirSync(temporary)).toEqual([]);
});

function put(bytes: Uint8Array): string {
  const file = join(folder, "snapshot.14");
  writeFileSync(file, bytes);
  return file;
}
