import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Zxid } from "@zooid/model";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openStore, type Store } from "../sqlite.ts";
import { RecordingHandler, Z } from "../testing/append-batches.ts";
import { createNodes } from "../testing/state-history.ts";
import { TemporaryDirectory } from "../testing/temporary-directory.ts";
import { threadsOf } from "../testing/threads-of.ts";
import type { ArchiveEvent } from "./archive.ts";
import { listBases } from "./archive-base.ts";
import { ArchiveFile } from "./archive-file.ts";
import { gapsIn, listArchive } from "./archive-folder.ts";
import { MARKS_MAX } from "./archive-messages.ts";

// The others are in archive.slow.test.ts.

let place: TemporaryDirectory;
beforeEach(() => {
  place = new TemporaryDirectory();
  events = [];
});
afterEach(() => place[Symbol.dispose]());

const archive = (): string => join(place.path, "data", "archive");
let events: ArchiveEvent[];
const open = (fileBytes = 1): Promise<Store> =>
  openStore({
    directory: join(place.path, "data"),
    sid: 1,
    handler: new RecordingHandler(),
    takeEpoch: true,
    archive: { folder: archive(), retainMs: 2 ** 52, fileMs: 2 ** 30, fileBytes, noted: (event) => events.push(event) },
  });

test("what is committed is in files that continue each other, through restarts, and a flipped bit is found", async () => {
  for (const first of [1, 31]) {
    await using store = await open();
    await store.archive?.flush();
    await createNodes(store, first, first + 19);
    await createNodes(store, first + 20, first + 29);
    await store.archive?.flush();
    expect(store.archive?.status).toMatchObject({ end: Z(1, first + 29), base: Z(0, 0), gapCount: 0, lagBytes: 0 });
  }
  const files = listArchive(join(archive(), "log"));
  expect(gapsIn(files)).toEqual([]);
  expect(files.map(({ after, end }) => [after, end])).toEqual([
    [Z(0, 0), Z(1, 20)],
    [Z(1, 20), Z(1, 30)],
    [Z(1, 30), Z(1, 50)],
    [Z(1, 50), Z(1, 60)],
  ]);
  expect(files.flatMap(({ file }) => zxidsOf(file))).toEqual(Array.from({ length: 60 }, (_, i) => Z(1, i + 1)));
  expect(listBases(join(archive(), "base")).map(({ zxid }) => zxid)).toEqual([Z(0, 0)]);
  const [{ file, bytes } = { file: "", bytes: 0 }] = files;
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const whole = readFileSync(file);
  for (let bit = 3; bit < 8 * bytes; bit += 8 * 23 + 1) {
    const flipped = Buffer.from(whole);
    flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    writeFileSync(file, flipped);
    expect(() => zxidsOf(file), `bit ${bit}`).toThrow(file);
  }
});

test.each([
  ["before its first file", false],
  ["with entries in a file and others in none", true],
])("a thread that ends %s is replaced, and no entry is missing", async (_, isFlushed) => {
  await using store = await open(2 ** 30);
  // A base is taken before.
  await store.archive?.flush();
  const [, threads] = await threadsOf(() => createNodes(store, 1, 10));
  expect(threads).toHaveLength(1);
  if (isFlushed) await store.archive?.flush();
  await createNodes(store, 11, 20);
  await threads[0]?.terminate();
  const lagBytes = store.archive?.status.lagBytes;
  expect(store.archive?.status.unable.files).toMatch("its thread ended with status");
  await createNodes(store, 21, 25);
  expect(store.archive?.status.lagBytes).toBeGreaterThan(lagBytes ?? 0);
  await store.archive?.flush();
  expect(store.archive?.status).toMatchObject({
    end: Z(1, 25),
    gapCount: 0,
    lagBytes: 0,
    unable: { files: undefined },
  });
  expect(events.map(({ kind }) => kind)).toEqual(["unable", "able"]);
  const zxids = listArchive(join(archive(), "log")).flatMap(({ file }) => zxidsOf(file));
  expect(zxids).toEqual(Array.from({ length: 25 }, (_, i) => Z(1, i + 1)));
});

/** The zxids of a file, which is checked. */
function zxidsOf(file: string): readonly Zxid[] {
  using opened = new ArchiveFile(file);
  opened.verify();
  const zxids: Zxid[] = [];
  for (const block of opened.blocksOf(Buffer.from("/"))) opened.walkBlock(block, (zxid) => zxids.push(zxid));
  return zxids;
}

test("the lag is that of the log which is in no file, however many marks it came in", async () => {
  {
    await using store = await openStore({
      directory: join(place.path, "data"),
      sid: 1,
      handler: new RecordingHandler(),
      takeEpoch: true,
    });
    await createNodes(store, 1, MARKS_MAX + 10);
    await store.state.flush();
  }
  await using store = await open(2 ** 30);
  for (let counter = 1; counter <= MARKS_MAX + 10; counter++)
    store.archive?.advance({ zxid: Z(1, counter), bytes: 10, digestHigh: 0, digestLow: 0 });
  expect(store.archive?.status.lagBytes).toBe(10 * (MARKS_MAX + 10));
  await store.archive?.flush();
  expect(store.archive?.status).toMatchObject({ end: Z(1, MARKS_MAX + 10), gapCount: 0, lagBytes: 0 });
});
