import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { zstdCompressSync } from "node:zlib";
import { newTxnHeader, newTxnOp, sliceText, type Zxid } from "@zooid/model";
import { TxnReader } from "@zooid/wire/txn";
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { openStore, type Store, type StoreOptions } from "../sqlite.ts";
import { StoreError } from "../store/store-error.ts";
import { RecordingHandler, Z } from "../testing/append-batches.ts";
import { createNodes, runOracle, settled } from "../testing/state-history.ts";
import { loaded, Oracle } from "../testing/state-oracle.ts";
import { TemporaryDirectory } from "../testing/temporary-directory.ts";
import { installHistory, receive, sent } from "../testing/transfers.ts";
import type { ArchiveEvent, ArchiveOptions } from "./archive.ts";
import { listBases, readBase, readManifest } from "./archive-base.ts";
import { ArchiveFile } from "./archive-file.ts";
import { gapsIn, listArchive } from "./archive-folder.ts";
import { changesChildren } from "./path-index.ts";

let place: TemporaryDirectory;
let events: ArchiveEvent[];
beforeEach(() => {
  place = new TemporaryDirectory();
  events = [];
});
afterEach(() => place[Symbol.dispose]());

const folder = (): string => join(place.path, "data", "archive", "log");
const open = (archive: Partial<ArchiveOptions> = {}, options: Partial<StoreOptions> = {}): Promise<Store> =>
  openStore({
    directory: join(place.path, "data"),
    sid: 1,
    handler: new RecordingHandler(),
    segmentBytes: 64 * 1024,
    logKeepBytes: 0,
    takeEpoch: true,
    archive: {
      folder: join(place.path, "data", "archive"),
      retainMs: 2 ** 52,
      fileMs: 2 ** 30,
      noted: (event) => events.push(event),
      ...archive,
    },
    ...options,
  });

/** The zxids of all files, each of which is checked. */
function archived(): readonly Zxid[] {
  return listArchive(folder()).flatMap(({ file }) => {
    using archive = new ArchiveFile(file);
    archive.verify();
    const zxids: Zxid[] = [];
    archive.walk(archive.footer.after.zxid, (zxid) => zxids.push(zxid));
    return zxids;
  });
}

/** The changes in blocks, by path, and by the parent's path with a slash behind it. */
function changesIn(
  archive: ArchiveFile,
  blocks: Iterable<number>,
): { readonly changes: Map<string, Zxid[]>; readonly children: Map<string, Zxid[]> } {
  const changes = new Map<string, Zxid[]>();
  const children = new Map<string, Zxid[]>();
  const [decoder, header, op] = [new TxnReader(), newTxnHeader(), newTxnOp()];
  const note = (to: Map<string, Zxid[]>, path: string, zxid: Zxid): void => {
    to.set(path, [...(to.get(path) ?? []), zxid]);
  };
  for (const block of blocks) {
    archive.walkBlock(block, (zxid, bytes, start, end) => {
      decoder.open(bytes, start, end, header);
      while (decoder.next(op)) {
        const path = sliceText(op.path);
        if (path === "") continue;
        note(changes, path, zxid);
        if (changesChildren(op.op)) note(children, path.slice(0, path.lastIndexOf("/") + 1), zxid);
      }
    });
  }
  return { changes, children };
}

test("committed entries of a random history are in files that continue each other, through restarts", async () => {
  let oracle: Oracle | undefined;
  for (const counts of [[300, 20], [1], [200, 200], []]) {
    await using store = await open({ fileBytes: 8 * 1024 });
    oracle ??= new Oracle(7, loaded(store));
    for (const count of counts) await runOracle(store, oracle, count);
    await store.state.flush();
  }
  const zxids = archived();
  const files = listArchive(folder());
  expect(zxids).toEqual(Array.from({ length: 721 }, (_, i) => Z(1, i + 1)));
  expect(files.length).toBeGreaterThan(3);
  expect(gapsIn(files)).toEqual([]);
  expect(files.map(({ file }) => statSync(file).mode & 0o777)).toEqual(files.map(() => 0o600));
});

test("the index finds the blocks of each entry, by the node's path and by its parent's", async () => {
  {
    await using store = await open();
    const oracle = new Oracle(11, loaded(store));
    await runOracle(store, oracle, 2000);
  }
  const [{ file } = { file: "" }] = listArchive(folder());
  using archive = new ArchiveFile(file);
  const { changes, children } = changesIn(archive, archive.blocks.keys());
  expect(archive.blocks.length).toBeGreaterThan(5);
  expect(changes.size).toBeGreaterThan(100);
  for (const [path, zxids] of changes) {
    expect([path, changesIn(archive, archive.blocksOf(Buffer.from(path))).changes.get(path)]).toEqual([path, zxids]);
  }
  for (const [path, zxids] of children) {
    expect([path, changesIn(archive, archive.blocksOf(Buffer.from(path))).children.get(path)]).toEqual([path, zxids]);
  }
  const blockCounts = [...changes.keys()].map((path) => archive.blocksOf(Buffer.from(path)).length);
  expect(Math.min(...blockCounts)).toBe(1);
  expect(archive.blocksOf(Buffer.from("/there-is-no-such-node"))).toEqual([]);
});

test("a bit that flips anywhere in a file is found, and its file is named", async () => {
  {
    await using store = await open();
    await createNodes(store, 1, 120, 300);
  }
  const [{ file, bytes } = { file: "", bytes: 0 }] = listArchive(folder());
  const whole = readFileSync(file);
  const copy = join(place.path, "copy");
  for (let bit = 3; bit < 8 * bytes; bit += 8 * 7 + 1) {
    const flipped = Buffer.from(whole);
    flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    writeFileSync(copy, flipped);
    expect(() => verify(copy), `bit ${bit}`).toThrow(StoreError);
    expect(() => verify(copy), `bit ${bit}`).toThrow(copy);
  }
  for (let length = 0; length < bytes; length += 97) {
    writeFileSync(copy, whole.subarray(0, length));
    expect(() => verify(copy), `${length} bytes`).toThrow(/is damaged at/);
  }
  writeFileSync(copy, whole);
  verify(copy);
});

test("a block that says more than its table is refused before it is unpacked", async () => {
  {
    await using store = await open();
    await createNodes(store, 1, 10, 4000);
  }
  const [{ file } = { file: "" }] = listArchive(folder());
  const bytes = readFileSync(file);
  const { table } = new ArchiveFile(file).footer;
  // Zeros without an end, in a few bytes.
  zstdCompressSync(Buffer.alloc(64 * 1024 * 1024)).copy(bytes, 16, 0, table.at - 16);
  writeFileSync(file, bytes);
  using archive = new ArchiveFile(file);
  expect(table.at).toBeGreaterThan(16);
  expect(() => archive.walkBlock(0, () => {})).toThrow(/is damaged at block 0: /);
});

test("files that are too old go, and the oldest where all together are too large; the newest stays", async () => {
  {
    await using store = await open({ fileBytes: 1 });
    for (let i = 0; i < 6; i++) await createNodes(store, 10 * i + 1, 10 * i + 10);
    await store.archive?.flush();
    expect(store.archive?.status.files.count).toBe(6);
  }
  const total = listArchive(folder()).reduce((sum, { bytes }) => sum + bytes, 0);
  {
    await using store = await open({ fileBytes: 1, retainBytes: total / 2 });
    await createNodes(store, 61, 70);
    await store.archive?.flush();
    const files = listArchive(folder());
    expect(store.archive?.status.files).toEqual({ count: files.length, bytes: bytesOf(files) });
    expect(files.map(({ end }) => end).slice(-2)).toEqual([Z(1, 60), Z(1, 70)]);
    expect(bytesOf(files)).toBeLessThanOrEqual(total / 2);
  }
  await using store = await open({ fileBytes: 1, retainMs: 1, baseEveryMs: 0 });
  await store.archive?.flush();
  await createNodes(store, 71, 80);
  await store.archive?.flush();
  await createNodes(store, 81, 90);
  await store.archive?.flush();
  // A state of the last millisecond is made from the base at 80 and what follows it.
  expect(listArchive(folder()).map(({ end }) => end)).toEqual([Z(1, 90)]);
  expect(listBases(join(folder(), "../base")).map(({ zxid }) => zxid)).toEqual([Z(1, 80), Z(1, 90)]);
});

test("a base is the whole state, taken at the begin, after a gap, and when it is due; its damage is named", async () => {
  const bases = join(place.path, "data", "archive", "base");
  let oracle: Oracle;
  {
    await using store = await open({ fileBytes: 1 });
    await store.archive?.flush();
    oracle = new Oracle(3, loaded(store));
    await runOracle(store, oracle, 300);
    await store.archive?.flush();
    await runOracle(store, oracle, 100);
    await store.archive?.flush();
    expect(store.archive?.status.base).toBe(Z(0, 0));
  }
  {
    await using store = await open({ fileBytes: 1, baseEveryMs: 3_600_000 });
    expect(store.archive?.status.base).toBe(Z(0, 0));
  }
  {
    await using store = await open({ fileBytes: 1, baseEveryMs: 0 });
    await store.archive?.flush();
    await runOracle(store, oracle, 50);
    await store.archive?.flush();
    expect(store.archive?.status.base).toBe(Z(1, 450));
  }
  const [, base] = listBases(bases);
  if (base === undefined) throw new Error("there is no base");
  const manifest = readManifest(base);
  expect(manifest).toMatchObject({ position: { zxid: Z(1, 450) }, digestHigh: 450, digestLow: -450 });
  {
    await using other = await openStore({
      directory: join(place.path, "other"),
      sid: 2,
      handler: new RecordingHandler(),
    });
    const receiver = await other.receiveSnapshot(manifest.position, manifest.epochs);
    for (const chunk of readBase(base, manifest)) await receiver.add(chunk);
    expect(await receiver.finish()).toMatchObject({ position: manifest.position, nodeCount: manifest.nodeCount });
    await receiver.abandon();
  }
  for (const name of readdirSync(base.folder)) {
    const file = join(base.folder, name);
    const whole = readFileSync(file);
    for (const at of [0, whole.length >> 1, whole.length - 2]) {
      const flipped = Buffer.from(whole);
      flipped[at] = (flipped[at] ?? 0) ^ 2;
      writeFileSync(file, flipped);
      expect(() => [...readBase(base, readManifest(base))], `${name} at ${at}`).toThrow(file);
    }
    rmSync(file);
    expect(() => [...readBase(base, readManifest(base))], `without ${name}`).toThrow(file);
    writeFileSync(file, whole);
  }
  expect([...readBase(base, readManifest(base))].length).toBeGreaterThan(0);
});

test("the log is kept until its entries are in a file", async () => {
  await using store = await open();
  for (let i = 0; i < 10; i++) await createNodes(store, 100 * i + 1, 100 * i + 100, 1000);
  await store.state.flush();
  await settled(store);
  expect(store.log.durable.floor.zxid).toBe(0);
  await store.archive?.flush();
  await purged(store);
  expect(events).toEqual([]);
});

test.each([
  ["it lags further behind than it may", { lagBytesMax: 300_000 }, undefined],
  ["the disk has little room", {}, true],
] as const)("where %s, the log is let go of, and the gap is reported", async (_, archive, isLow) => {
  // A file in the place of the folder: nothing can be written.
  await using store = await open(archive);
  rmSync(folder(), { recursive: true });
  writeFileSync(folder(), "");
  if (isLow === true) store.archive?.setLow(true);
  for (let i = 0; i < 10; i++) await createNodes(store, 100 * i + 1, 100 * i + 100, 1000);
  await store.archive?.flush();
  expect(events).toMatchObject(isLow === true ? [] : [{ kind: "unable", part: "files" }]);
  await store.state.flush();
  const floor = await purged(store);
  rmSync(folder());
  if (isLow === true) store.archive?.setLow(false);
  await store.archive?.flush();
  await createNodes(store, 1001, 1010);
  await store.archive?.flush();
  expect(listArchive(folder()).map(({ after, end }) => [after, end])).toEqual([[floor, Z(1, 1010)]]);
  // With little room no base was taken either: the history begins behind the dropped part.
  const lost = [{ kind: "gap", after: Z(0, 0), end: floor }];
  expect(events.slice(1)).toEqual(isLow === true ? [] : [...lost, { kind: "able", part: "files" }]);
  expect(store.archive?.status).toMatchObject({ gapCount: isLow === true ? 0 : 1, base: Z(1, 1000) });
  expect(store.archive?.status).toMatchObject({ lagBytes: 0, unable: { files: undefined }, end: Z(1, 1010) });
});

test("after a file that is missing or damaged the archive continues, and the gap is where it was", async () => {
  {
    await using store = await open({ fileBytes: 1 });
    for (let i = 0; i < 4; i++) await createNodes(store, 10 * i + 1, 10 * i + 10);
  }
  const [, second, , last] = listArchive(folder());
  rmSync(second?.file ?? "");
  writeFileSync(last?.file ?? "", "cut short");
  {
    await using store = await open({ fileBytes: 1 });
    await createNodes(store, 41, 50);
  }
  const files = listArchive(folder());
  expect(files.map(({ end }) => end)).toEqual([Z(1, 10), Z(1, 30), Z(1, 40), Z(1, 50)]);
  expect(gapsIn(files)).toEqual([{ after: Z(1, 10), end: Z(1, 20) }]);
  expect(() => verify(last?.file ?? "")).toThrow(/is damaged at/);
  expect(events).toEqual([]);
});

test("an archive that begins late says which entries it lacks", async () => {
  {
    await using store = await open({ fileBytes: 1 });
    await createNodes(store, 1, 10);
  }
  {
    await using store = await open({}, { archive: undefined as never });
    for (let i = 0; i < 10; i++) await createNodes(store, 100 * i + 11, 100 * i + 110, 1000);
    await store.state.flush();
    await purged(store);
  }
  await using store = await open({ fileBytes: 1 });
  const floor = store.log.durable.floor.zxid;
  await createNodes(store, 1011, 1020);
  await store.archive?.flush();
  expect(events).toEqual([{ kind: "gap", after: Z(1, 10), end: floor }]);
  expect(gapsIn(listArchive(folder()))).toEqual([{ after: Z(1, 10), end: floor }]);
  expect(store.archive?.status.gapCount).toBe(1);
});

test.each([
  ["before it", false],
  ["within it", true],
])(
  "behind a gap a base is taken at once, while the store runs, where the last one was taken %s",
  async (_, isWithin) => {
    const baseEveryMs = 3_600_000;
    vi.useFakeTimers({ toFake: ["performance"] });
    onTestFinished(() => void vi.useRealTimers());
    await using store = await open({ fileBytes: 1, lagBytesMax: 300_000, baseEveryMs });
    await createNodes(store, 1, 10);
    await store.archive?.flush();
    renameSync(folder(), `${folder()}-aside`);
    writeFileSync(folder(), "");
    await createNodes(store, 11, 110, 1000);
    if (isWithin) {
      vi.advanceTimersByTime(baseEveryMs);
      await store.archive?.flush();
      expect(store.archive?.status.base).toBe(Z(1, 110));
    }
    for (let i = 1; i < 10; i++) await createNodes(store, 100 * i + 11, 100 * i + 110, 1000);
    await store.archive?.flush();
    await store.state.flush();
    const floor = await purged(store);
    rmSync(folder());
    renameSync(`${folder()}-aside`, folder());
    await createNodes(store, 1011, 1020);
    await store.archive?.flush();
    expect(events.filter(({ kind }) => kind === "gap")).toEqual([{ kind: "gap", after: Z(1, 10), end: floor }]);
    expect(store.archive?.status.base).toBe(Z(1, 1020));
  },
);

test("a mark that is far behind fills several files", async () => {
  {
    await using store = await open({ fileBytes: 1024 });
    await createNodes(store, 1, 600, 1000);
    await store.archive?.flush();
  }
  const files = listArchive(folder());
  expect(files.length).toBeGreaterThan(1);
  expect(gapsIn(files)).toEqual([]);
  expect(archived()).toHaveLength(600);
  const footers = files.map(({ file }) => footerOf(file));
  expect(footers.map(({ digestHigh }) => digestHigh)).toEqual([...files.slice(1).map(() => 0), 600]);
});

test("files of another history are passed over, and none of this one is copied twice", async () => {
  {
    await using store = await open({ fileBytes: 1 });
    await createNodes(store, 1, 100);
  }
  const others = listArchive(folder()).map(({ file }) => [file, readFileSync(file)] as const);
  rmSync(join(place.path, "data"), { recursive: true });
  mkdirSync(folder(), { recursive: true });
  for (const [file, bytes] of others) writeFileSync(file, bytes);
  for (let life = 0; life < 3; life++) {
    await using store = await open({ fileBytes: 1 });
    await createNodes(store, 10 * life + 1, 10 * life + 10, 77);
  }
  const files = listArchive(folder()).map(({ after, end }) => [after, end]);
  expect(files).toEqual([
    [Z(0, 0), Z(1, 10)],
    [Z(1, 10), Z(1, 20)],
    [Z(1, 20), Z(1, 30)],
    [Z(0, 0), Z(1, 100)],
  ]);
});

test("a file that a crash left unfinished is removed at the next open", async () => {
  mkdirSync(folder(), { recursive: true });
  writeFileSync(join(folder(), "unfinished"), "half");
  await using store = await open();
  await createNodes(store, 1, 10);
  await store.archive?.flush();
  expect(readdirSync(folder())).toEqual(["0000000000000000-000000010000000a"]);
});

/** The log purges when it is idle. @returns its floor then */
async function purged(store: Store): Promise<Zxid> {
  return await vi.waitFor(() => {
    const { floor } = store.log.durable;
    expect(floor.zxid).toBeGreaterThan(Z(1, 500));
    return floor.zxid;
  }, 5000);
}

function footerOf(file: string): ArchiveFile["footer"] {
  using archive = new ArchiveFile(file);
  return archive.footer;
}

function verify(file: string): void {
  using archive = new ArchiveFile(file);
  archive.verify();
}

function bytesOf(files: readonly { readonly bytes: number }[]): number {
  return files.reduce((sum, { bytes }) => sum + bytes, 0);
}

test("behind a state that replaced the store's the files continue that one, with a base of it", async () => {
  await using leader = await openStore({
    directory: join(place.path, "leader"),
    sid: 2,
    handler: new RecordingHandler(),
  });
  await createNodes(leader, 1, 40);
  await leader.state.flush();
  const { source, chunks } = await sent(leader);
  await using store = await open({ fileBytes: 1 });
  await createNodes(store, 1, 10, 77);
  await store.archive?.flush();
  await installHistory(store, source, await receive(store, source, chunks));
  store.adoptState();
  await store.archive?.flush();
  expect(store.archive?.status).toMatchObject({ base: Z(1, 40), lagBytes: 0, unable: { files: undefined } });
  await createNodes(store, 41, 50);
  await store.archive?.flush();
  const files = listArchive(folder());
  expect(files.map(({ after, end }) => [after, end])).toEqual([
    [Z(0, 0), Z(1, 10)],
    [Z(1, 40), Z(1, 50)],
  ]);
  expect(gapsIn(files)).toEqual([{ after: Z(1, 10), end: Z(1, 40) }]);
  expect(events).toEqual([{ kind: "gap", after: Z(1, 10), end: Z(1, 40) }]);
  const bases = listBases(join(folder(), "../base"));
  const last = bases.at(-1);
  if (last === undefined) throw new Error("there is no base");
  expect(bases.map(({ zxid }) => zxid)).toEqual([Z(0, 0), Z(1, 40)]);
  expect(footerOf(files.at(-1)?.file ?? "").after).toEqual(readManifest(last).position);
});
