import { join } from "node:path";
import { counterOf, newTxnHeader, newTxnOp, OpCode, sliceOf, type Zxid } from "@zooid/model";
import { TxnBatchEncoder } from "@zooid/wire/txn";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openStore, type Store } from "../sqlite.ts";
import { RecordingHandler, range, Z } from "../testing/append-batches.ts";
import { promised } from "../testing/promised-log.ts";
import { settled } from "../testing/state-history.ts";
import { TemporaryDirectory } from "../testing/temporary-directory.ts";
import type { ArchiveEvent } from "./archive.ts";
import { ArchiveFile } from "./archive-file.ts";
import { gapsIn, listArchive } from "./archive-folder.ts";

// What the archive's thread does with entries that it gets while they are appended.

let place: TemporaryDirectory;
let events: ArchiveEvent[];
beforeEach(() => {
  place = new TemporaryDirectory();
  events = [];
});
afterEach(() => place[Symbol.dispose]());

const open = (): Promise<Store> =>
  openStore({
    directory: join(place.path, "data"),
    sid: 1,
    handler: new RecordingHandler(),
    takeEpoch: true,
    archive: {
      folder: join(place.path, "archive"),
      retainMs: 2 ** 52,
      fileMs: 2 ** 30,
      fileBytes: 2 ** 30,
      noted: (event) => events.push(event),
    },
  });

/** Appends a batch of creates, and waits until it is durable. */
async function append(store: Store, zxids: readonly Zxid[], dataBytes = 100): Promise<void> {
  const encoder = new TxnBatchEncoder();
  const [header, op] = [newTxnHeader(), newTxnOp()];
  op.op = OpCode.CREATE;
  op.parent = 1;
  op.hasData = true;
  op.data = sliceOf("x".repeat(dataBytes));
  header.timeMs = 1_780_000_000_000;
  for (const zxid of zxids) {
    header.zxid = zxid;
    op.node = 4 + counterOf(zxid);
    op.path = sliceOf(`/node-${zxid}`);
    encoder.begin(header);
    encoder.op(op);
    encoder.end();
  }
  const { bytes, end } = encoder.take();
  promised(store.log).append({ generation: 1, bytes, start: 0, end, committed: Z(0, 0) });
  await settled(store);
}

/** All that was appended is committed. */
function mark(store: Store): void {
  const { zxid, chain } = store.log.durable.tail;
  store.state.advance({ zxid, chain, digestHigh: 1, digestLow: 2, bytes: 1000 });
}

/**
 * The zxids in all files, each of which is checked against the chain, and continues the one before.
 */
function archived(): readonly Zxid[] {
  const files = listArchive(join(place.path, "archive", "log"));
  expect(gapsIn(files)).toEqual([]);
  return files.flatMap(({ file }) => {
    using archive = new ArchiveFile(file);
    archive.verify();
    const zxids: Zxid[] = [];
    archive.walk(archive.footer.after.zxid, (zxid) => zxids.push(zxid));
    return zxids;
  });
}

test("what a new leader cut is in no file, and what it appended is", async () => {
  const epoch2 = [1, 2, 3, 4, 5].map((counter) => Z(2, counter));
  {
    await using store = await open();
    await append(store, range(1, 5));
    mark(store);
    await append(store, range(6, 10));
    mark(store);
    await append(store, range(11, 13));
    await promised(store.log).cut(Z(1, 10));
    await append(store, epoch2.slice(0, 3));
    await store.archive?.flush();
    mark(store);
    await append(store, epoch2.slice(3));
    mark(store);
  }
  expect(archived()).toEqual([...range(1, 10), ...epoch2]);
  expect(events).toEqual([]);
});

test("more than the shared memory holds comes from the log, and what is appended afterwards does not have to", async () => {
  {
    await using store = await open();
    await append(store, range(1, 1));
    mark(store);
    // 12 MiB, of which it has 8.
    for (let first = 2; first < 122; first += 10) await append(store, range(first, first + 9), 100_000);
    mark(store);
    await store.archive?.flush();
    await append(store, range(122, 130));
    mark(store);
  }
  expect(archived()).toEqual(range(1, 130));
  expect(events).toEqual([]);
});

test("what is not committed as the store closes is in a file after the next start", async () => {
  {
    await using store = await open();
    await append(store, range(1, 5));
    mark(store);
    await append(store, range(6, 10));
  }
  expect(archived()).toEqual(range(1, 5));
  {
    await using store = await open();
    await append(store, range(11, 12));
    mark(store);
  }
  expect(archived()).toEqual(range(1, 12));
  expect(events).toEqual([]);
});
