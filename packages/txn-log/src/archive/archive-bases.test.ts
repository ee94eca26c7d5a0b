/** Bases, the hold of the log and reports of an archive, without its thread. */
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Zxid } from "@zooid/model";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { CHAIN_NONE } from "../log/chain.ts";
import { Z } from "../testing/append-batches.ts";
import { baseAt, sourceAt } from "../testing/archive-pieces.ts";
import { TemporaryDirectory } from "../testing/temporary-directory.ts";
import { Archive, type ArchiveEvent, type ArchiveParts } from "./archive.ts";
import { type BaseSource, listBases } from "./archive-base.ts";
import { basesFolderOf } from "./archive-folder.ts";

const HOUR_MS = 3_600_000;
const UNABLE = { files: undefined, base: undefined };

let place: TemporaryDirectory;
let folder: string;
let events: ArchiveEvent[];
/** The zxids behind which the log is kept, in the order in which that began. */
let held: Zxid[];
/** Where the state is of which bases are taken. */
let stateAt: Zxid;
let openSnapshot: () => Promise<BaseSource>;
let snapshotCount: number;
let opened: Archive[];

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["performance"] });
  place = new TemporaryDirectory();
  folder = join(place.path, "archive");
  events = [];
  held = [];
  opened = [];
  stateAt = Z(1, 10);
  snapshotCount = 0;
  openSnapshot = async () => sourceAt({ zxid: stateAt, chain: CHAIN_NONE });
});
afterEach(async () => {
  for (const archive of opened) await archive.close();
  expect(held).toEqual([]);
  vi.useRealTimers();
  place[Symbol.dispose]();
});

function open(parts: Partial<ArchiveParts> = {}): Archive {
  const archive = new Archive({
    options: { folder, retainMs: 2 ** 40, baseEveryMs: HOUR_MS, noted: (event) => events.push(event) },
    logDirectory: place.path,
    leases: new SharedArrayBuffer(1024),
    decoderModule: "",
    after: Z(1, 5),
    begin: Z(1, 5),
    isBehindGap: false,
    hold: (after) => {
      held.push(after);
      return { [Symbol.dispose]: () => void held.splice(held.indexOf(after), 1) };
    },
    openSnapshot: () => {
      snapshotCount++;
      return openSnapshot();
    },
    ensembleId: () => "",
    isStateCommitted: () => true,
    ...parts,
  });
  opened.push(archive);
  return archive;
}

/** When a base that is due at the open has been taken. */
async function begun(archive: Archive): Promise<Archive> {
  await new Promise((resolve) => setImmediate(resolve));
  await archive.flush();
  return archive;
}

function bases(): readonly Zxid[] {
  return listBases(basesFolderOf(folder)).map(({ zxid }) => zxid);
}

test("the first base is taken at the open, further ones when they are due", async () => {
  const archive = await begun(open());
  expect([bases(), archive.status.base]).toEqual([[Z(1, 10)], Z(1, 10)]);
  stateAt = Z(1, 20);
  vi.advanceTimersByTime(HOUR_MS - 1);
  await archive.flush();
  expect(bases()).toEqual([Z(1, 10)]);
  vi.advanceTimersByTime(1);
  await archive.flush();
  expect([bases(), archive.status.base]).toEqual([[Z(1, 10), Z(1, 20)], Z(1, 20)]);
});

test.each([
  ["half of it that is older goes on from there", Date.now() - HOUR_MS / 2, HOUR_MS / 2],
  ["a clock that was set back goes on from now", Date.now() + 1000 * HOUR_MS, HOUR_MS],
])("the time to the next base of %s", async (_, takenMs, dueMs) => {
  await baseAt(folder, 3, takenMs);
  const archive = await begun(open());
  expect([archive.status.base, snapshotCount]).toEqual([Z(1, 3), 0]);
  vi.advanceTimersByTime(dueMs - 60_000);
  await archive.flush();
  expect(bases()).toEqual([Z(1, 3)]);
  vi.advanceTimersByTime(60_000);
  await archive.flush();
  expect(bases()).toEqual([Z(1, 3), Z(1, 10)]);
});

test("settings that change move the next base, unless it is due", async () => {
  const options = { folder, retainMs: 8 * HOUR_MS, noted: (event: ArchiveEvent) => void events.push(event) };
  const archive = await begun(open({ options }));
  stateAt = Z(1, 20);
  archive.change({ retainMs: 4 * HOUR_MS });
  vi.advanceTimersByTime(2 * HOUR_MS - 1);
  await archive.flush();
  expect(bases()).toEqual([Z(1, 10)]);
  vi.advanceTimersByTime(1);
  archive.change({ retainMs: 8 * HOUR_MS });
  await archive.flush();
  expect(bases()).toEqual([Z(1, 10), Z(1, 20)]);
});

test("the log is let go of where less of it may be kept", async () => {
  const archive = await begun(open());
  expect(held).toEqual([Z(1, 5)]);
  archive.change({ retainMs: HOUR_MS, lagBytesMax: -1 });
  expect(held).toEqual([]);
});

test("a base is taken at once where the newest is damaged, or the log does not continue it", async () => {
  await baseAt(folder, 3, Date.now());
  const [base] = listBases(basesFolderOf(folder));
  truncateSync(join(base?.folder ?? "", "manifest.json"), 20);
  await begun(open());
  expect(bases()).toEqual([Z(1, 3), Z(1, 10)]);
  stateAt = Z(1, 20);
  await begun(open({ isBehindGap: true }));
  expect(bases()).toEqual([Z(1, 3), Z(1, 10), Z(1, 20)]);
});

test("the files of an interrupted base are in no later base", async () => {
  const folderOfBases = basesFolderOf(folder);
  await baseAt(folder, 3, Date.now());
  const [whole] = listBases(folderOfBases);
  const interrupted = join(folderOfBases, "unfinished");
  // A base that was cut off at its rename has every file, and this one has a part more.
  cpSync(whole?.folder ?? "", interrupted, { recursive: true });
  writeFileSync(join(interrupted, "0001"), "a part of the earlier base");
  mkdirSync(join(interrupted, "folder"));
  await baseAt(folder, 4, Date.now());
  expect(existsSync(interrupted)).toBe(false);
  const [first, second] = listBases(folderOfBases).map((base) => readdirSync(base.folder));
  expect(second).toEqual(first);
});

test("a base that cannot be written is reported once as such, and tried again after ten seconds", async () => {
  writeFileSync(join(place.path, "file"), "");
  const works = openSnapshot;
  openSnapshot = () => Promise.reject(new Error("no room"));
  const archive = await begun(open());
  expect(archive.status).toMatchObject({ unable: { files: undefined, base: "no room" }, base: undefined });
  vi.advanceTimersByTime(9_999);
  await archive.flush();
  expect(snapshotCount).toBe(1);
  vi.advanceTimersByTime(1);
  await archive.flush();
  expect([snapshotCount, events]).toEqual([2, [{ kind: "unable", part: "base", reason: "no room" }]]);
  openSnapshot = works;
  vi.advanceTimersByTime(10_000);
  await archive.flush();
  expect([bases(), archive.status.unable]).toEqual([[Z(1, 10)], UNABLE]);
  expect(events.slice(1)).toEqual([{ kind: "able", part: "base" }]);
});

test("a base whose folder cannot be made leaves nothing, and the files are not said to fail", async () => {
  writeFileSync(folder, "");
  const archive = await begun(open());
  expect(archive.status.unable).toEqual({ files: undefined, base: expect.stringContaining(folder) });
  rmSync(folder);
  expect(bases()).toEqual([]);
});

test("while the disk has little room no base is taken and no log is kept; both begin again with the room", async () => {
  const archive = open();
  archive.setLow(true);
  await begun(archive);
  vi.advanceTimersByTime(10 * HOUR_MS);
  await archive.flush();
  expect([snapshotCount, held]).toEqual([0, []]);
  archive.setLow(false);
  expect(held).toEqual([Z(1, 5)]);
  await archive.flush();
  expect(bases()).toEqual([Z(1, 10)]);
});

test("behind an adopted state a base is taken at once, and the log is kept from there", async () => {
  const archive = await begun(open());
  stateAt = Z(1, 50);
  archive.adopted(Z(1, 50));
  expect(held).toEqual([Z(1, 50)]);
  await archive.flush();
  expect([bases(), archive.status.base]).toEqual([[Z(1, 10), Z(1, 50)], Z(1, 50)]);
});

test("a restored state is a base once a quorum has it, and none where it is given up", async () => {
  let isCommitted = true;
  const archive = await begun(open({ isStateCommitted: () => isCommitted }));
  isCommitted = false;
  stateAt = Z(6, 1);
  archive.adopted(Z(6, 1));
  await expect.poll(() => snapshotCount).toBe(2);
  expect(bases()).toEqual([Z(1, 10)]);
  stateAt = Z(7, 9);
  isCommitted = true;
  archive.adopted(Z(7, 9));
  await archive.flush();
  expect(bases()).toEqual([Z(1, 10), Z(7, 9)]);
  isCommitted = false;
  stateAt = Z(9, 1);
  archive.adopted(Z(9, 1));
  isCommitted = true;
  await archive.flush();
  expect([bases(), events]).toEqual([[Z(1, 10), Z(7, 9), Z(9, 1)], []]);
});

test("of a base that is being taken as the archive stops nothing is reported, and no other one begins", async () => {
  const { promise, reject } = Promise.withResolvers<BaseSource>();
  openSnapshot = () => promise;
  const archive = open();
  await new Promise((resolve) => setImmediate(resolve));
  const closing = archive.close();
  reject(new Error("the store is closing"));
  await closing;
  vi.advanceTimersByTime(10 * HOUR_MS);
  await archive.flush();
  expect([events, archive.status.unable, snapshotCount, held]).toEqual([[], UNABLE, 1, []]);
});
