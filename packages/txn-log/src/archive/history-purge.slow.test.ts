import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Zxid } from "@zooid/model";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openStore, type Store } from "../sqlite.ts";
import type { LiveCapture, LiveTree } from "../state/live-tree.ts";
import { RecordingHandler, Z } from "../testing/append-batches.ts";
import { createNodes, runOracle } from "../testing/state-history.ts";
import { loaded, Oracle } from "../testing/state-oracle.ts";
import { TemporaryDirectory } from "../testing/temporary-directory.ts";
import { listArchive } from "./archive-folder.ts";
import type { HistoryPurge } from "./history-purge-options.ts";

let place: TemporaryDirectory;
let directory: string;
let handler: RecordingHandler;
beforeEach(() => {
  place = new TemporaryDirectory();
  directory = join(place.path, "data");
  handler = new RecordingHandler();
});
afterEach(() => place[Symbol.dispose]());

function open(logDirectory = directory): Promise<Store> {
  return openStore({
    directory,
    logDirectory,
    sid: 1,
    handler,
    segmentBytes: 64 * 1024,
    takeEpoch: true,
    archive: { folder: join(directory, "archive"), retainMs: 2 ** 52, fileMs: 2 ** 30, noted: () => {} },
  });
}

/** The model as a tree in memory, which does not change meanwhile. */
function treeOf(model: Oracle): LiveTree {
  const { nextNode, zxid } = model;
  const capture: LiveCapture = {
    applied: zxid,
    nextNode,
    level: model.level,
    next: (_countMax, sink) => {
      for (const [key, { timeoutMs, password }] of model.sessions) {
        const [high = 0, low = 0] = key.split(",").map(Number);
        sink.session({ high, low, timeoutMs, passwordHash: Buffer.from(password) });
      }
      for (const [id, { parentId, name, data, stat, acl }] of model.nodes) {
        sink.node({ id, parentId, name: Buffer.from(name), data: data === null ? null : Buffer.from(data), stat, acl });
      }
      return false;
    },
  };
  return { capture: () => capture, position: () => ({ zxid, digestHigh: zxid % 1000, digestLow: -7 }) };
}

function purge(
  store: Store,
  model: Oracle,
  through: Zxid,
  more: { readonly waitMs?: number; readonly isEnded?: () => boolean } = {},
): Promise<HistoryPurge> {
  return store.purgeHistory({ through, tree: treeOf(model), mark: () => {}, isEnded: () => false, ...more });
}

const segments = (folder = directory): readonly string[] =>
  readdirSync(folder).filter((name) => /^log-\d+-[0-9a-f]+\.db$/.test(name));

test("a purge leaves one segment, one base and the state of before, in directories apart too", async () => {
  for (const logDirectory of [directory, join(place.path, "log")]) {
    directory = join(place.path, `data-of-${logDirectory === directory ? "one" : "two"}`);
    const folder = logDirectory.endsWith("log") ? logDirectory : directory;
    let model: Oracle;
    {
      await using store = await open(folder);
      model = new Oracle(5, loaded(store));
      for (let i = 0; i < 8; i++) await runOracle(store, model, 150);
      expect(segments(folder).length).toBeGreaterThan(1);
      expect(await purge(store, model, model.zxid)).toMatchObject({ kind: "purged", base: model.zxid });
      expect(segments(folder)).toHaveLength(1);
      expect(readdirSync(join(directory, "archive", "base"))).toHaveLength(1);
      expect(readdirSync(join(directory, "archive", "log"))).toEqual([]);
      // The segment's WAL has nothing but its own frames.
      const [newest = ""] = segments(folder);
      expect(
        readFileSync(join(folder, `${newest}-wal`))
          .subarray(-16_384)
          .every((byte) => byte === 0),
      ).toBe(true);
      await runOracle(store, model, 20);
      await store.state.flush();
    }
    await using store = await open(folder);
    const state = loaded(store);
    expect(state.nodes).toEqual(model.nodes);
    expect(state.sessions).toEqual(model.sessions);
  }
});

test("a state that is sent is in the way of a purge, and named; the next purge does the rest", async () => {
  await using store = await open();
  const model = new Oracle(7, loaded(store));
  await runOracle(store, model, 200);
  {
    await using _source = await store.openSnapshot();
    await runOracle(store, model, 100);
    expect(await purge(store, model, model.zxid, { waitMs: 300 })).toEqual({
      kind: "obstacle",
      reason: expect.stringMatching(/: a state is sent to a member, or copied$/),
    });
  }
  expect(await purge(store, model, model.zxid)).toMatchObject({ kind: "purged" });
});

test("a purge after a restart, before the first write: what was purged is never in the history again", async () => {
  let model: Oracle;
  {
    await using store = await open();
    model = new Oracle(9, loaded(store));
    for (let i = 0; i < 2; i++) await runOracle(store, model, 100);
    await store.archive?.flush();
    await store.state.flush();
  }
  const through = model.zxid;
  {
    await using store = await open();
    expect(await purge(store, model, through, { waitMs: 20_000 })).toEqual({
      kind: "purged",
      base: through,
      fileCount: expect.any(Number),
      baseCount: expect.any(Number),
    });
    // Also where it is done already.
    expect(await purge(store, model, through, { waitMs: 20_000 })).toMatchObject({ kind: "purged", fileCount: 0 });
  }
  {
    await using store = await open();
    expect(await purge(store, model, through, { waitMs: 20_000 })).toEqual({
      kind: "purged",
      base: through,
      fileCount: expect.any(Number),
      baseCount: expect.any(Number),
    });
    await runOracle(store, model, 20);
    await store.state.flush();
    await store.archive?.flush();
    expect(store.archive?.status.gapCount).toBe(0);
  }
  const files = listArchive(join(directory, "archive", "log"));
  expect(files.map(({ after, end }) => [after, end])).toEqual([[through, model.zxid]]);
});

test("a purge that stops halfway leaves nothing that the log brings back to the history", async () => {
  await using store = await open();
  const model = new Oracle(9, loaded(store));
  for (let i = 0; i < 2; i++) await runOracle(store, model, 100);
  const through = model.zxid;
  await store.archive?.flush();
  {
    await using _source = await store.openSnapshot();
    await runOracle(store, model, 10);
    expect(await purge(store, model, through, { waitMs: 300 })).toMatchObject({ kind: "obstacle" });
    // The log has it still, and so has the history.
    expect(listArchive(join(directory, "archive", "log"))[0]).toMatchObject({ after: Z(0, 0) });
  }
  expect(await purge(store, model, through)).toMatchObject({ kind: "purged" });
  await runOracle(store, model, 10);
  await store.archive?.flush();
  for (const { after } of listArchive(join(directory, "archive", "log"))) expect(after).toBeGreaterThanOrEqual(through);
});

test("what the log lacks, a stop, and a store without an archive are named", async () => {
  await using store = await open();
  await createNodes(store, 1, 5);
  const model = new Oracle(7, loaded(store));
  expect(await purge(store, model, Z(1, 9))).toEqual({
    kind: "obstacle",
    reason: "the last transaction of this server is 0x100000005",
  });
  expect(await purge(store, model, Z(1, 5), { isEnded: () => true })).toEqual({
    kind: "obstacle",
    reason: "the server stops",
  });
  await using other = await openStore({ directory: join(place.path, "other"), sid: 1, handler });
  expect(other.purgeObstacle(Z(0, 0))).toBe("this server keeps no history: zooid.history.retainMs is 0");
});
