import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CreateMode, ErrorCode, epochOf, OpCode, restoredAt, type Zxid } from "@zooid/model";
import { ArchiveFile, listArchive, listBases, readStore } from "@zooid/txn-log/sqlite";
import { create, RawClient } from "@zooid/wire/testing/raw-client";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ArchivedHistory } from "../testing/archived-history.ts";
import { startTestServer } from "../testing/server.ts";
import { shown } from "../testing/snapshot-endpoint.ts";
import { OfflineError } from "./offline-error.ts";
import { restoreHistory } from "./restore-history.ts";
import { planRestore } from "./restore-plan.ts";
import { readSurvivor } from "./survivor.ts";

let history: ArchivedHistory;
beforeEach(async () => {
  history = await ArchivedHistory.make();
});
afterEach(() => history[Symbol.asyncDispose]());

test("moments since the first base can be restored, through restarts of the server", async () => {
  const moments = await history.write(2);
  expect(listArchive(join(history.archive, "log"))).toHaveLength(2);
  const [, second, , fourth, , last] = moments;
  if (second === undefined || fourth === undefined || last === undefined) expect.unreachable("there are six moments");
  for (const moment of [second, fourth, last]) await history.expectRestored(moment, last.zxid);
});

test("sessions of the past end with their ephemeral nodes, unless they are kept", async () => {
  const moment = await (async () => {
    await using zk = await history.start();
    const client = await RawClient.withSession(zk.port);
    const { zxid } = await client.ask(OpCode.CREATE, create("/mine", "", CreateMode.EPHEMERAL));
    return Number(zxid) as Zxid;
  })();
  // The base is older than the session.
  expect(planRestore(history.archive, { zxid: moment }).files.length).toBeGreaterThan(0);
  const ended = await history.restoreTo("ended", { zxid: moment });
  const kept = await history.restoreTo("kept", { zxid: moment }, true);
  expect([ended.endedCount, kept.endedCount, kept.nodeCount - ended.nodeCount]).toEqual([1, 0, 1]);
  await using zk = await startTestServer({ dataDir: join(history.folder, "ended") });
  await using client = await RawClient.withSession(zk.port);
  expect(await shown(client, "/mine")).toBe(ErrorCode.NO_NODE);
});

test("a restored member is an ensemble of its own, in a later epoch", async () => {
  const [first] = (await history.write(2)).slice(-1);
  const member = {
    sid: 4,
    host: "zk-4",
    quorumPort: 2888,
    electionPort: 3888,
    isObserver: false,
    clientAddress: undefined,
    group: undefined,
    weight: 1,
  } as never;
  const directories = { dataDir: join(history.folder, "member") };
  const plan = planRestore(history.archive);
  const { ensembleId } = await restoreHistory(plan, {
    directories,
    command: "restore",
    member,
    keepsSessions: false,
    warn: () => {},
  });
  const survivor = readSurvivor(directories);
  const { log } = readStore({ directory: directories.dataDir, logDirectory: directories.dataDir });
  // So that nodes which have expired meanwhile are not removed at once.
  expect(epochOf(log === undefined ? (0 as Zxid) : (restoredAt(log) ?? (0 as Zxid)))).toBeGreaterThan(1000);
  expect(survivor).toMatchObject({ sid: 4, ensembleId, damage: undefined });
  expect(survivor.epochMax).toBeGreaterThan(1000);
  expect(survivor.members?.servers.map(({ sid }) => sid)).toEqual([4]);
  expect(survivor.zxid).toBeGreaterThan(first?.zxid ?? 0);
});

test("a time is the last transaction before the first one that is stamped later", async () => {
  await history.write(2);
  const [first, second] = listArchive(join(history.archive, "log"));
  const footer = footerOf(first?.file ?? "");
  expect(() => planRestore(history.archive, { timeMs: Date.now() + 1000 })).toThrow("the history ends at 0x");
  expect(planRestore(history.archive, { timeMs: footer.lastMs }).zxid).toBe(first?.end);
  expect(() => planRestore(history.archive, { timeMs: footer.firstMs - 1000 })).toThrow("and so later than");
  expect(second?.after).toBe(first?.end);
});

test("what cannot be restored says what there is, and leaves nothing", async () => {
  const moments = await history.write(3);
  const [, second] = listArchive(join(history.archive, "log"));
  const [base] = listBases(join(history.archive, "base"));
  const last = moments.at(-1)?.zxid ?? (0 as Zxid);
  expect(() => planRestore(join(history.folder, "none"))).toThrow("has no base");
  expect(() => planRestore(history.archive, { zxid: (last + 1000) as Zxid })).toThrow("nothing follows it");
  mkdirSync(join(history.folder, "full"));
  writeFileSync(join(history.folder, "full", "file"), "");
  await expect(history.restoreTo("full")).rejects.toThrow(OfflineError);
  expect(readdirSync(join(history.folder, "full"))).toEqual(["file"]);
  const part = join(base?.folder ?? "", "0000");
  const whole = readFileSync(part);
  writeFileSync(part, whole.subarray(1));
  await expect(history.restoreTo("damaged")).rejects.toThrow(`${part} is damaged`);
  expect(existsSync(join(history.folder, "damaged"))).toBe(false);
  writeFileSync(part, whole);
  rmSync(second?.file ?? "");
  expect(() => planRestore(history.archive, { zxid: last })).toThrow("there is a gap behind it");
  expect(() => planRestore(history.archive)).toThrow("and no base behind that");
});

function footerOf(file: string): ArchiveFile["footer"] {
  using opened = new ArchiveFile(file);
  return opened.footer;
}
