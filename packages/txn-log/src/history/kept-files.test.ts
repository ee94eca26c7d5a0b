import { mkdirSync, readdirSync, rmSync, statSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { CHAIN_NONE, newTxnHeader, newTxnOp, OpCode, sliceOf } from "@zooid/model";
import { TxnBatchEncoder, TxnReader } from "@zooid/wire/txn";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ArchiveFileWriter } from "../archive/archive-file-writer.ts";
import { ArchiveListing, type ListedFile, listArchive } from "../archive/archive-folder.ts";
import { BatchCursor } from "../log/entry-batch.ts";
import { Z } from "../testing/append-batches.ts";
import { openFiles } from "../testing/open-files.ts";
import { TemporaryDirectory } from "../testing/temporary-directory.ts";
import { KeptFiles } from "./kept-files.ts";

let place: TemporaryDirectory;
beforeEach(() => {
  place = new TemporaryDirectory();
  mkdirSync(folder());
  for (let number = 0; number < 4; number++) write(number, "/a");
});
afterEach(() => place[Symbol.dispose]());

const folder = (): string => join(place.path, "log");
const openHere = (): readonly string[] => openFiles().filter((file) => file.startsWith(place.path));
const listed = (): readonly ListedFile[] => listArchive(folder());

/** Writes the file with the transactions `10 * number + 1` to `10 * number + 10`. */
function write(number: number, path: string): void {
  const encoder = new TxnBatchEncoder();
  const [header, op] = [newTxnHeader(), newTxnOp()];
  for (let i = 1; i <= 10; i++) {
    header.zxid = Z(1, 10 * number + i);
    op.op = OpCode.SET_DATA;
    op.path = sliceOf(path);
    encoder.begin(header);
    encoder.op(op);
    encoder.end();
  }
  const { bytes, end } = encoder.take();
  const writer = new ArchiveFileWriter(new TxnReader(), { zxid: Z(1, 10 * number), chain: CHAIN_NONE });
  const cursor = new BatchCursor();
  cursor.open(bytes, 0, end);
  while (cursor.next()) writer.add(cursor.zxid, bytes, cursor.start, cursor.end);
  writer.finish(folder(), "test", { zxid: writer.end.zxid, bytes: 0, digestHigh: 0, digestLow: 0 });
}

function fileAt(place: number): ListedFile {
  return listed()[place] ?? expect.unreachable("it was written");
}

/** The blocks of a path in a file, by its index. */
function blocksOf(kept: KeptFiles, file: ListedFile, path = "/a"): readonly number[] {
  using archive = kept.open(file);
  return archive.blocksOf(Buffer.from(path));
}

test("a file's index answers without the file, which is not open meanwhile", () => {
  const kept = new KeptFiles();
  const file = fileAt(0);
  expect(blocksOf(kept, file)).toEqual([0]);
  expect(openHere()).toEqual([]);
  rmSync(file.file);
  expect(blocksOf(kept, file)).toEqual([0]);
  // Its blocks are in the file alone.
  using archive = kept.open(file);
  expect(() => archive.walkBlock(0, () => {})).toThrow("ENOENT");
});

test("a block of a kept file is read from the file, which is closed again", () => {
  const kept = new KeptFiles();
  blocksOf(kept, fileAt(1));
  const zxids: number[] = [];
  {
    using archive = kept.open(fileAt(1));
    archive.walkBlock(0, (zxid) => zxids.push(zxid));
    expect(openHere()).toEqual([fileAt(1).file]);
  }
  expect(openHere()).toEqual([]);
  expect([zxids[0], zxids.length]).toEqual([Z(1, 11), 10]);
});

test("a file that is gone is forgotten, with what it takes", () => {
  const kept = new KeptFiles();
  for (const file of listed()) blocksOf(kept, file);
  const before = kept.bytes;
  rmSync(fileAt(0).file);
  kept.retain(listed());
  expect([kept.count, kept.bytes]).toEqual([3, (before * 3) / 4]);
  for (const name of readdirSync(folder())) rmSync(join(folder(), name));
  kept.retain(listed());
  expect([kept.count, kept.bytes]).toEqual([0, 0]);
});

test("a file that was written again under its name is read again", () => {
  const kept = new KeptFiles();
  const file = fileAt(0);
  blocksOf(kept, file);
  write(0, "/b");
  // The same size, at another time.
  utimesSync(file.file, 1, 1);
  expect(statSync(file.file).size).toBeGreaterThan(0);
  expect(blocksOf(kept, fileAt(0), "/b")).toEqual([0]);
  expect(blocksOf(kept, fileAt(0), "/a")).toEqual([]);
  expect(kept.count).toBe(1);
});

test("the files that were used last are kept, up to a count and up to a size", () => {
  const files = listed();
  const indexBytes = (): number => {
    const one = new KeptFiles();
    blocksOf(one, fileAt(0));
    return one.bytes;
  };
  for (const kept of [new KeptFiles({ countMax: 2 }), new KeptFiles({ bytesMax: 2 * indexBytes() })]) {
    for (const place of [0, 1, 0, 2]) blocksOf(kept, files[place] ?? fileAt(0));
    expect([kept.count, kept.bytes]).toEqual([2, 2 * indexBytes()]);
    rmSync(fileAt(1).file);
    for (const place of [0, 2]) expect(blocksOf(kept, files[place] ?? fileAt(0))).toEqual([0]);
    expect(() => blocksOf(kept, files[1] ?? fileAt(0))).toThrow("ENOENT");
    write(1, "/a");
  }
});

test("a folder is listed again when it has changed, and not before", () => {
  const listing = new ArchiveListing(folder());
  // A change in the same tick of the clock as the listing gives the folder no other time.
  for (let count = 4; count > 0; count--) {
    expect(listing.files()).toHaveLength(count);
    rmSync(fileAt(0).file);
  }
  const long = Math.floor(Date.now() / 1000) - 10;
  utimesSync(folder(), long, long);
  const files = listing.files();
  expect(files).toEqual([]);
  expect(listing.files()).toBe(files);
  write(7, "/a");
  expect(listing.files().map(({ after }) => after)).toEqual([Z(1, 70)]);
  rmSync(folder(), { recursive: true });
  expect(listing.files()).toEqual([]);
});

test("without room for any, each file is read again, and nothing is kept", () => {
  const kept = new KeptFiles({ bytesMax: 0 });
  for (const file of listed()) expect(blocksOf(kept, file)).toEqual([0]);
  expect([kept.count, kept.bytes]).toEqual([0, 0]);
});
