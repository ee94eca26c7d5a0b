import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { ScrubDamage } from "../scrub/scrub.ts";
import { openStore, type Store, type StoreOptions } from "../sqlite.ts";
import { RecordingHandler } from "../testing/append-batches.ts";
import { runOracle } from "../testing/state-history.ts";
import { loaded, Oracle } from "../testing/state-oracle.ts";
import { TemporaryDirectory } from "../testing/temporary-directory.ts";
import type { LiveCapture, LiveTree } from "./live-tree.ts";

let place: TemporaryDirectory;
let directory: string;
let reports: RecordingHandler;
let oracle: Oracle;
let damaged: ScrubDamage[];
let healed: string[];
/** The work between two slices. */
let between: () => void;
let current: Store | undefined;
beforeEach(() => {
  place = new TemporaryDirectory();
  directory = join(place.path, "data");
  reports = new RecordingHandler();
  damaged = [];
  healed = [];
  between = () => {};
});
afterEach(() => place[Symbol.dispose]());

async function open(options: Partial<StoreOptions> = {}): Promise<Store> {
  current = await openStore({
    directory,
    sid: 1,
    handler: reports,
    segmentBytes: 64 * 1024,
    checkpointMs: 2 ** 31 - 1,
    checkpointBytes: 2 ** 30,
    liveTree: () => liveTreeOf(oracle),
    scrub: {
      bytesPerSecond: 1024 ** 3,
      everyMs: 2 ** 31 - 1,
      firstMs: 2 ** 31 - 1,
      damaged: (found) => damaged.push(found),
      healed: (file) => healed.push(file),
    },
    ...options,
  });
  return current;
}

/**
 * The model of the state as a tree in memory: a few records at a time, each as it is when it is
 * taken.
 */
function liveTreeOf(model: Oracle): LiveTree {
  return {
    capture: () => captureOf(model),
    // A server applies what is durable; the model is ahead of it until the append is answered.
    position: () => {
      if (current?.log.durable.tail.zxid !== model.zxid) return undefined;
      return { zxid: model.zxid, digestHigh: model.zxid % 1000, digestLow: -7 };
    },
  };
}

function captureOf(model: Oracle): LiveCapture {
  const { nextNode } = model;
  const ids = [...model.nodes.keys()].filter((id) => id < nextNode).reverse();
  const keys = [...model.sessions.keys()];
  return {
    applied: model.zxid,
    nextNode,
    level: model.level,
    next: (_countMax, sink) => {
      between();
      for (const key of keys.splice(0)) {
        const session = model.sessions.get(key);
        const [high = 0, low = 0] = key.split(",").map(Number);
        if (session === undefined) continue;
        sink.session({ high, low, timeoutMs: session.timeoutMs, passwordHash: Buffer.from(session.password) });
      }
      for (const id of ids.splice(0, 20)) {
        const node = model.nodes.get(id);
        if (node === undefined) continue;
        const { parentId, name, data, stat, acl } = node;
        sink.node({ id, parentId, name: Buffer.from(name), data: data === null ? null : Buffer.from(data), stat, acl });
      }
      return ids.length > 0;
    },
  };
}

async function fill(store: Store, batches = 20): Promise<void> {
  oracle = new Oracle(5, loaded(store));
  for (let batch = 0; batch < batches; batch++) await runOracle(store, oracle, 16);
}

/** Flips a bit of each node's row. */
function damage(): string {
  const file = join(directory, "state-1.db");
  const bytes = readFileSync(file);
  for (let at = bytes.indexOf("data "); at > 0; at = bytes.indexOf("data ", at + 1)) bytes[at] = 0x65;
  writeFileSync(file, bytes);
  return file;
}

const expected = (): unknown => ({ nodes: oracle.nodes, sessions: oracle.sessions });

test("a damaged state file is rewritten from memory, and found whole by the next round", async () => {
  const file = await (async () => {
    await using store = await open();
    await fill(store);
    await store.state.flush();
    const damagedFile = damage();
    await store.scrub?.round();
    const status = await store.scrub?.round();
    expect(status).toMatchObject({ damaged: [], unfinishedCount: 0 });
    expect(store.state.applied.applied.zxid).toBe(oracle.zxid);
    return damagedFile;
  })();
  expect(damaged).toMatchObject([{ part: "state", file, effect: "rewritten" }]);
  expect(healed).toEqual([file]);
  expect(readdirSync(directory).filter((name) => name.includes(".new"))).toEqual([]);
  await using store = await open();
  expect(loaded(store)).toEqual(expected());
});

test("what is written while the tree is walked over is in the file, each change once", async () => {
  await using store = await open();
  await fill(store);
  await store.state.flush();
  damage();
  const writes: Promise<void>[] = [];
  let count = 0;
  between = () => {
    if (count++ < 12) writes.push(runOracle(store, oracle, 16));
  };
  await store.scrub?.round();
  await Promise.all(writes);
  expect(writes.length).toBeGreaterThan(3);
  expect(damaged).toMatchObject([{ effect: "rewritten" }]);
  await store.state.flush();
  expect(loaded(store)).toEqual(expected());
  // And the file continues to follow the log.
  await runOracle(store, oracle, 16);
  await store.state.flush();
  expect(loaded(store)).toEqual(expected());
});

test("a segment that the state needs is let go of once the state is written from memory", async () => {
  await using store = await open();
  await fill(store, 60);
  const wals = readdirSync(directory).filter((name) => /^log-.*-wal$/.test(name));
  const [wal = ""] = wals.sort();
  const bytes = readFileSync(join(directory, wal));
  bytes.fill(0x65, 8192, 12_288);
  writeFileSync(join(directory, wal), bytes);
  await store.scrub?.round();
  expect(damaged).toMatchObject([{ part: "segment", effect: "retired" }]);
  expect(store.log.durable.floor.zxid).toBeGreaterThan(0);
  expect(loaded(store)).toEqual(expected());
});

test("a snapshot that is asked for meanwhile is of the new file", async () => {
  await using store = await open();
  await fill(store);
  await store.state.flush();
  damage();
  let opening: ReturnType<Store["openSnapshot"]> | undefined;
  between = () => {
    opening ??= store.openSnapshot();
  };
  await store.scrub?.round();
  await using source = await opening;
  expect(source?.position.zxid).toBe(oracle.zxid);
  for (let chunk = await source?.next(); chunk !== undefined; chunk = await source?.next());
});

test("without a tree in memory nothing is written", async () => {
  await using store = await open({ liveTree: () => undefined });
  await fill(store);
  await store.state.flush();
  const file = damage();
  await store.scrub?.round();
  expect(damaged).toMatchObject([{ part: "state", file, effect: "needed" }]);
});

test("a store that is closed meanwhile leaves the old file, and nothing of the new one", async () => {
  const store = await open();
  await fill(store);
  await store.state.flush();
  const file = damage();
  const before = readFileSync(file);
  let closing: Promise<void> | undefined;
  between = () => {
    closing ??= Promise.resolve(store[Symbol.asyncDispose]());
  };
  await store.scrub?.round();
  await closing;
  expect(readFileSync(file)).toEqual(before);
  expect(existsSync(`${file}.new`)).toBe(false);
});

test("a disk without room leaves the old file in force", async () => {
  await using store = await open({ testBreak: "state-full" });
  await fill(store, 2);
  await store.state.flush();
  oracle.nodes.set(4, { ...node(4), data: "x".repeat(1 << 20) });
  const file = damage();
  await store.scrub?.round();
  expect(damaged).toMatchObject([{ file, effect: "needed" }]);
  expect(existsSync(`${file}.new`)).toBe(false);
  expect(reports.warnings.join()).toContain("state");
});

function node(id: number): NonNullable<ReturnType<Oracle["nodes"]["get"]>> {
  const found = oracle.nodes.get(id);
  if (found === undefined) throw new Error(`node ${id} is missing`);
  return found;
}

test("half of a new file is removed by the next start", async () => {
  {
    await using store = await open();
    await fill(store, 2);
  }
  const half = join(directory, "state-1.db.new");
  writeFileSync(half, "half");
  writeFileSync(`${half}-journal`, "");
  await using store = await open();
  expect(existsSync(half)).toBe(false);
  expect(existsSync(`${half}-journal`)).toBe(false);
  store.replay(store.loadState({ session: () => {}, node: () => {} }).applied, () => {});
  expect(store.log.durable.tail.zxid).toBe(oracle.zxid);
});
