import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Zxid } from "@zooid/model";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openStore, type Store } from "../sqlite.ts";
import { RecordingHandler, Z } from "../testing/append-batches.ts";
import { createNodes } from "../testing/state-history.ts";
import { TemporaryDirectory } from "../testing/temporary-directory.ts";
import { listBases } from "./archive-base.ts";
import { ArchiveFile } from "./archive-file.ts";
import { gapsIn, listArchive } from "./archive-folder.ts";

// The others are in archive.slow.test.ts.

let place: TemporaryDirectory;
beforeEach(() => {
  place = new TemporaryDirectory();
});
afterEach(() => place[Symbol.dispose]());

const archive = (): string => join(place.path, "data", "archive");
const open = (): Promise<Store> =>
  openStore({
    directory: join(place.path, "data"),
    sid: 1,
    handler: new RecordingHandler(),
    takeEpoch: true,
    archive: { folder: archive(), retainMs: 2 ** 52, fileMs: 2 ** 30, fileBytes: 1, noted: () => {} },
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

/** The zxids of a file, which is checked. */
function zxidsOf(file: string): readonly Zxid[] {
  using opened = new ArchiveFile(file);
  opened.verify();
  const zxids: Zxid[] = [];
  for (const block of opened.blocksOf(Buffer.from("/"))) opened.walkBlock(block, (zxid) => zxids.push(zxid));
  return zxids;
}
