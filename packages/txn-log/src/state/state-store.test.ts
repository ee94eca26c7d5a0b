import { rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Zxid } from "@zooid/model";
import Sqlite from "better-sqlite3";
import { afterEach, beforeEach, expect, test } from "vitest";
import { CHECKPOINTS_FULL_FILE } from "../disk/test-break.ts";
import type { Chain } from "../log/chain.ts";
import { openStore, type Store, type StoreOptions } from "../sqlite.ts";
import { batchOf, RecordingHandler, range, Z } from "../testing/append-batches.ts";
import { checkpointsAsApplied } from "../testing/checkpoints.ts";
import { newestSegment } from "../testing/newest-segment.ts";
import { openFiles } from "../testing/open-files.ts";
import { promised } from "../testing/promised-log.ts";
import { runOracle, settled } from "../testing/state-history.ts";
import { loaded, Oracle } from "../testing/state-oracle.ts";
import { TemporaryDirectory } from "../testing/temporary-directory.ts";
import { threadsOf } from "../testing/threads-of.ts";
import { StateFile } from "./state-file.ts";

let place: TemporaryDirectory;
beforeEach(() => {
  place = new TemporaryDirectory();
});
afterEach(() => place[Symbol.dispose]());

const open = (options: Partial<StoreOptions> = {}): Promise<Store> =>
  openStore({
    directory: join(place.path, "data"),
    sid: 1,
    handler: new RecordingHandler(),
    takeEpoch: true,
    ...options,
  });

test("a new state holds what every tree begins with", async () => {
  await using store = await open();
  const { nodes, sessions } = loaded(store);
  expect([...nodes].map(([id, { parentId, name, data }]) => [id, parentId, name, data])).toEqual([
    [1, 0, "", ""],
    [2, 1, "zookeeper", ""],
    [3, 2, "quota", ""],
    [4, 2, "config", ""],
  ]);
  expect(sessions.size).toBe(0);
});

test("random transactions checkpointed at random marks give what applying them one by one gives", () =>
  checkpointsAsApplied(1));

const NO_LAG = { checkpointBytes: 2 ** 40, checkpointMs: 2 ** 31 - 1 };

test("a store without work for the state thread starts no state thread", async () => {
  const [, threads] = await threadsOf(async () => {
    await using store = await open(NO_LAG);
    await runOracle(store, new Oracle(1, loaded(store)), 10);
  });
  // The log's.
  expect(threads).toHaveLength(1);
});

test.each([
  ["bytes", { ...NO_LAG, checkpointBytes: 1 }],
  ["a time", { ...NO_LAG, checkpointMs: 1 }],
])("the state thread starts after %s of lag, and checkpoints them", async (_, options) => {
  await using store = await open(options);
  const oracle = new Oracle(1, loaded(store));
  await runOracle(store, oracle, 10);
  await expect.poll(() => store.state.applied.applied.zxid, { timeout: 30_000 }).toBe(oracle.zxid);
});

test("the state thread starts at its 256th mark", async () => {
  await using store = await open(NO_LAG);
  promised(store.log).append(batchOf(range(1, 256)));
  await settled(store);
  const mark = (counter: number): void =>
    store.state.advance({ zxid: Z(1, counter), digestHigh: 0, digestLow: 0, bytes: 1 });
  for (let counter = 1; counter < 256; counter++) mark(counter);
  const [, threads] = await threadsOf(async () => mark(256));
  expect(threads).toHaveLength(1);
});

test("what was not checkpointed is replayed from the log", async () => {
  {
    await using store = await open();
    const oracle = new Oracle(9, loaded(store));
    await runOracle(store, oracle, 10);
    await store.state.flush();
    await runOracle(store, oracle, 5);
  }
  await using store = await open();
  const replayed: Zxid[] = [];
  const { applied } = store.loadState({ session: () => {}, node: () => {} });
  const end = store.replay(applied, (zxid) => replayed.push(zxid));
  expect(replayed).toEqual([11, 12, 13, 14, 15].map((counter) => Z(1, counter)));
  expect(end).toEqual(store.log.durable.tail);
});

test("a mark whose chain is not the log's stops the state", async () => {
  const reports = new RecordingHandler();
  await using store = await open({ handler: reports });
  const oracle = new Oracle(5, loaded(store));
  for (let i = 0; i < 3; i++) oracle.step();
  const { bytes, end } = oracle.encoder.take();
  promised(store.log).append({ generation: 1, bytes, start: 0, end, committed: oracle.zxid });
  await promised(store.log).setConfigs({});
  const { chain } = (await promised(store.log).read(Z(1, 1), 1)).last;
  store.state.advance({ zxid: Z(1, 3), chain, digestHigh: 0, digestLow: 0, bytes: 1 });
  await expect(store.state.flush()).rejects.toMatchObject({ detail: { code: "DAMAGED" } });
  expect(reports.failures).toHaveLength(1);
});

test.each(["node", "count"])("damage to the state file is found when it is loaded: %s", async (what) => {
  {
    await using store = await open();
    await runOracle(store, new Oracle(3, loaded(store)), 50);
    await store.state.flush();
  }
  const database = new Sqlite(join(place.path, "data", "state-1.db"));
  if (what === "node")
    database.exec(
      "UPDATE nodes SET node = CAST(substr(node, 1, 50) || x'77' || substr(node, 52) AS BLOB) WHERE id = 3",
    );
  else database.exec("DELETE FROM nodes WHERE id = (SELECT max(id) FROM nodes)");
  database.close();
  await using store = await open();
  expect(() => loaded(store)).toThrow(what === "node" ? "the row after 2" : "rows where there were");
});

test("a state of another history than the log is refused", async () => {
  {
    await using store = await open();
    await runOracle(store, new Oracle(3, loaded(store)), 5);
    await store.state.flush();
  }
  const state = new StateFile(join(place.path, "data", "state-1.db"));
  const { meta } = state;
  state.begin();
  state.commit({ ...meta, applied: { ...meta.applied, chain: 77n as Chain } });
  state.close();
  await expect(open()).rejects.toMatchObject({ detail: { code: "DAMAGED", place: "table log, row 0x100000005" } });
});

test.each([
  ["the meta row", "UPDATE meta SET next_node = next_node + 1", "table meta, row 1"],
  ["a session", "UPDATE sessions SET timeout_ms = timeout_ms + 1", "table sessions"],
  ["an access list", "UPDATE acls SET content = replace(content, '31', '15') WHERE id = 1", "table acls, row 1"],
])("%s that changed is refused with its place", async (_what, change, where) => {
  {
    await using store = await open();
    const oracle = new Oracle(3, loaded(store));
    while (oracle.sessions.size === 0) await runOracle(store, oracle, 5);
    await store.state.flush();
  }
  const database = new Sqlite(join(place.path, "data", "state-1.db"));
  expect(database.prepare(change).run().changes).toBeGreaterThan(0);
  database.close();
  const load = async (): Promise<void> => {
    await using store = await open();
    loaded(store);
  };
  await expect(load()).rejects.toMatchObject({ detail: { code: "DAMAGED", place: expect.stringContaining(where) } });
});

test("a state ahead of the log is amnesia", async () => {
  {
    await using store = await open();
    await runOracle(store, new Oracle(3, loaded(store)), 5);
    await store.state.flush();
  }
  const database = new Sqlite(join(place.path, "data", newestSegment(join(place.path, "data"))));
  database.exec(`DELETE FROM log WHERE zxid > ${Z(1, 3)}`);
  database.close();
  await expect(open()).rejects.toMatchObject({ detail: { code: "LOG_SHORTENED" } });
});

test("a state file that vanished is made again while the log goes back to the beginning", async () => {
  {
    await using store = await open();
    await runOracle(store, new Oracle(3, loaded(store)), 5);
    await store.state.flush();
  }
  const file = join(place.path, "data", "state-1.db");
  const { unlinkSync } = await import("node:fs");
  unlinkSync(file);
  await using store = await open();
  expect(statSync(file).size).toBeGreaterThan(0);
  let replayed = 0;
  store.replay(store.loadState({ session: () => {}, node: () => {} }).applied, () => replayed++);
  expect(replayed).toBe(5);
});

test("once a checkpoint has room again, every flush that waited ends, and the state file is open once", async () => {
  const warning = Promise.withResolvers<void>();
  const handler = Object.assign(new RecordingHandler(), { warned: () => warning.resolve() });
  await using store = await open({ ...NO_LAG, handler, testBreak: "full-by-files" });
  const stateFile = join(place.path, "data", store.log.durable.stateFile);
  const times = (): number => openFiles().filter((file) => file === stateFile).length;
  const oracle = new Oracle(1, loaded(store));
  const append = (): Promise<void> => runOracle(store, oracle, 5);
  await append();
  await store.state.flush();
  const before = times();
  await append();
  const fullFile = join(place.path, "data", CHECKPOINTS_FULL_FILE);
  writeFileSync(fullFile, "");
  const refused = store.state.flush();
  await warning.promise;
  rmSync(fullFile);
  const later = store.state.flush();
  await Promise.all([refused, later]);
  for (let round = 0; round < 3; round++) {
    await append();
    await store.state.flush();
  }
  expect([store.state.applied.applied.zxid, times() - before]).toEqual([oracle.zxid, 0]);
});
