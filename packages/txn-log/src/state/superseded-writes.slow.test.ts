import { join } from "node:path";
import { newTxnHeader, newTxnOp, OpCode, StatOffset, sliceOf, type Zxid } from "@zooid/model";
import { TxnBatchEncoder } from "@zooid/wire/txn";
import Sqlite from "better-sqlite3";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openStore, type Store } from "../sqlite.ts";
import { RecordingHandler, Z } from "../testing/append-batches.ts";
import { newestSegment } from "../testing/newest-segment.ts";
import { promised } from "../testing/promised-log.ts";
import { settled } from "../testing/state-history.ts";
import { loaded, type PlainState } from "../testing/state-oracle.ts";
import { TemporaryDirectory } from "../testing/temporary-directory.ts";
import { DataWrites } from "./data-writes.ts";

/** Checkpoints of stores: a state is the same whether superseded writes are skipped or not. */
let place: TemporaryDirectory;
beforeEach(() => {
  place = new TemporaryDirectory();
});
afterEach(() => place[Symbol.dispose]());

const VALUE_BYTES = 20_000;

/** Appends transactions to a store and records its data writes. */
class Writer {
  readonly #store: Store;
  readonly #encoder = new TxnBatchEncoder();
  readonly #recorder = new DataWrites();
  readonly #valueBytes: number;
  #bytes = 0;

  constructor(store: Store, valueBytes: number = VALUE_BYTES) {
    this.#store = store;
    this.#valueBytes = valueBytes;
  }

  /** A transaction with these ops. */
  write(zxid: Zxid, ...ops: readonly object[]): void {
    this.#encoder.begin({ ...newTxnHeader(), zxid, timeMs: zxid % 10_000 });
    for (const op of ops) {
      const data = sliceOf(`${zxid} `.repeat(this.#valueBytes / 12));
      this.#encoder.op({ ...newTxnOp(), path: sliceOf(`/node-${zxid}`), hasData: true, data, ...op });
    }
    this.#encoder.end();
  }

  /** A transaction that only replaces the data of a node, and is recorded. */
  set(zxid: Zxid, node: number): void {
    this.write(zxid, setOf(zxid, node));
    this.#recorder.add(zxid, node);
  }

  async append(): Promise<void> {
    const { bytes, end, last } = this.#encoder.take();
    this.#bytes += end;
    promised(this.#store.log).append({ generation: 1, bytes, start: 0, end, committed: last });
    await settled(this.#store);
  }

  mark({ isRecorded }: { readonly isRecorded: boolean }): void {
    const { zxid, chain } = this.#store.log.durable.tail;
    const dataWrites = this.#recorder.take();
    this.#store.state.advance({
      zxid,
      chain,
      digestHigh: 0,
      digestLow: 0,
      bytes: this.#bytes,
      ...(isRecorded ? { dataWrites } : {}),
    });
    this.#bytes = 0;
  }
}

const setOf = (zxid: Zxid, node: number): object => ({ op: OpCode.SET_DATA, node, version: zxid % 1000 });

const open = (name: string, handler = new RecordingHandler()): Promise<Store> =>
  openStore({
    directory: join(place.path, name),
    sid: 1,
    handler,
    takeEpoch: true,
    checkpointBytes: 2 ** 40,
    checkpointMs: 2 ** 31 - 1,
    segmentBytes: 256 * 1024,
  });

/** Two epochs of writes to a few nodes, with others between them, in several segments. */
async function checkpointedState(isRecorded: boolean): Promise<PlainState> {
  await using store = await open(`recorded-${isRecorded}`);
  const writer = new Writer(store);
  let created = 4;
  for (const epoch of [1, 2]) {
    for (let counter = 1; counter <= 120; counter++) {
      const zxid = Z(epoch, counter);
      if (counter % 40 === 5)
        writer.write(zxid, { op: OpCode.CREATE, node: ++created, parent: 1, parentCversion: created });
      else if (counter % 30 === 7) writer.write(zxid, setOf(zxid, 2), setOf(zxid, 3));
      else if (counter % 50 === 9) writer.write(zxid, { op: OpCode.SET_ACL, node: 3, version: counter });
      else if (counter % 60 === 11) writer.write(zxid, { op: OpCode.DELETE, node: created, parent: 1 });
      else writer.set(zxid, 2 + ((counter * counter) % 3));
      if (counter % 10 === 0) await writer.append();
      if (counter % 20 === 0) writer.mark({ isRecorded });
    }
  }
  const meta = await store.state.flush();
  expect(meta.applied).toEqual(store.log.durable.tail);
  expect(store.state.stats()).toMatchObject({ checkpointedEntries: 240, checkpointCount: 1 });
  expect(store.log.stats().rollCount).toBeGreaterThan(5);
  return loaded(store);
}

test("a checkpoint that skips superseded writes gives the same state", async () => {
  expect(await checkpointedState(true)).toEqual(await checkpointedState(false));
});

const NODES = 1800;

/**
 * Many nodes, each written once or twice, with others between them that create, delete and change
 * several.
 */
async function widelyCheckpointedState(isRecorded: boolean): Promise<PlainState> {
  await using store = await open(`wide-${isRecorded}`);
  const writer = new Writer(store, 3000);
  let counter = 0;
  const create = (): void => {
    const node = ++counter + 4;
    writer.write(Z(1, counter), { op: OpCode.CREATE, node, parent: 1, parentCversion: counter, data: sliceOf("") });
  };
  while (counter < NODES) create();
  await writer.append();
  writer.mark({ isRecorded });
  await store.state.flush();
  const deleted = new Set<number>();
  const pick = (i: number): number => 5 + ((i * 7919) % NODES);
  for (let i = 0; i < 2 * NODES; i++) {
    const zxid = Z(1, ++counter);
    const node = pick(i);
    if (deleted.has(node)) writer.set(zxid, 2);
    else if (i % 97 === 90) writer.write(zxid, setOf(zxid, node), setOf(zxid, 3));
    else if (i % 89 === 80) writer.write(zxid, { op: OpCode.SET_ACL, node, version: counter });
    else if (i % 83 === 70 && i > NODES) {
      writer.write(zxid, { op: OpCode.DELETE, node: pick(i - 20), parent: 1 });
      deleted.add(pick(i - 20));
    } else writer.set(zxid, node);
    if (i % 150 === 149) await writer.append();
    if (i % 450 === 449) writer.mark({ isRecorded });
  }
  const meta = await store.state.flush();
  expect(meta.applied).toEqual(store.log.durable.tail);
  expect(store.state.stats()).toMatchObject({ checkpointedEntries: 3 * NODES, checkpointCount: 2 });
  return loaded(store);
}

test("a checkpoint in node order gives the same state", async () => {
  expect(await widelyCheckpointedState(true)).toEqual(await widelyCheckpointedState(false));
});

test.each([
  ["is not read", true],
  ["is read without recorded writes, and refused", false],
])("a superseded entry that is damaged %s", async (_, isRecorded) => {
  const handler = new RecordingHandler();
  await using store = await open("data", handler);
  const writer = new Writer(store);
  for (let counter = 1; counter <= 4; counter++) writer.set(Z(1, counter), 2);
  await writer.append();
  damageRow(Z(1, 2));
  writer.mark({ isRecorded });
  if (isRecorded) {
    await store.state.flush();
    expect(loaded(store).nodes.get(2)?.stat.readInt32BE(StatOffset.version)).toBe(Z(1, 4) % 1000);
  } else {
    await expect(store.state.flush()).rejects.toMatchObject({ detail: { code: "DAMAGED" } });
  }
  expect(handler.failures).toHaveLength(isRecorded ? 0 : 1);
});

test("a checkpoint that begins with skipped entries still checks that the log is unchanged", async () => {
  await using store = await open("data");
  const writer = new Writer(store);
  const set = async (counter: number): Promise<void> => {
    writer.set(Z(1, counter), 2);
    await writer.append();
  };
  await set(1);
  writer.mark({ isRecorded: true });
  await store.state.flush();
  for (const counter of [2, 3, 4]) await set(counter);
  damageRow(Z(1, 1), 3);
  writer.mark({ isRecorded: true });
  const error = { code: "DAMAGED", place: expect.stringContaining("0x100000001") };
  await expect(store.state.flush()).rejects.toMatchObject({ detail: error });
});

test("marks that wait carry at most a million data writes", async () => {
  await using store = await open("data");
  const writer = new Writer(store);
  for (const counter of [1, 2, 3, 4]) writer.set(Z(1, counter), 2);
  await writer.append();
  const mark = (counter: number): Float64Array => {
    const dataWrites = new Float64Array(1_200_000);
    store.state.advance({ zxid: Z(1, counter), digestHigh: 0, digestLow: 0, bytes: 1, dataWrites });
    return dataWrites;
  };
  // The array of a mark that is sent is transferred.
  expect([mark(1), mark(2)].map(({ length }) => length)).toEqual([0, 1_200_000]);
  await store.state.flush();
  expect([mark(3), mark(4)].map(({ length }) => length)).toEqual([0, 1_200_000]);
});

/** Changes a byte of a row: one of the first eight is part of its chain. */
function damageRow(zxid: Zxid, at = 500): void {
  const directory = join(place.path, "data");
  const segment = new Sqlite(join(directory, newestSegment(directory)));
  segment.pragma("wal_autocheckpoint = 0");
  const changed = `CAST(substr(entry, 1, ${at - 1}) || x'77' || substr(entry, ${at + 1}) AS BLOB)`;
  expect(segment.prepare(`UPDATE log SET entry = ${changed} WHERE zxid = ?`).run(zxid).changes).toBe(1);
  segment.close();
}
