import { cpSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { counterOf, epochOf, type Zxid } from "@zooid/model";
import fc from "fast-check";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ReaderLeases } from "../segments/reader-leases.ts";
import { removeSegment } from "../segments/segment-directory.ts";
import { hasSpare, isRecyclable, makeSpare, recycleSegment } from "../segments/spare-segment.ts";
import { batchOf, range, Z } from "../testing/append-batches.ts";
import { TemporaryDirectory } from "../testing/temporary-directory.ts";
import { withPromise } from "./log-book.ts";
import { LogFile } from "./log-file.ts";
import type { LogFileOptions } from "./log-open.ts";
import { LogReader } from "./log-reader.ts";
import type { DurableLog } from "./txn-log.ts";

/**
 * Segments as a log writes them, held against a model: after each step, and as a killed process
 * leaves them.
 */

const MEBIBYTE = 1024 * 1024;
const WAL_BYTES = 64 * 1024;
const KEEP_ALL = { above: Z(0, 0), bytes: 0, olderThanMs: 0 };

let place: TemporaryDirectory;
beforeEach(() => {
  place = new TemporaryDirectory();
});
afterEach(() => place[Symbol.dispose]());

type Step =
  | { readonly kind: "append" | "cut" | "install" | "snapshot"; readonly count: number; readonly back: number }
  | { readonly kind: "epoch" | "roll" | "promise" | "purge" | "spare" | "tidy" | "start" | "stage" };

/** A log and what must be read of it. */
class Model {
  readonly #root: string;
  #copies = 0;
  #directory: string;
  #leases = new ReaderLeases();
  #file: LogFile;
  #reader: LogReader;
  #records = new Map<Zxid, string>();
  #epoch = 1;
  #salt = 0;
  /** Zxids that the log holds. */
  #held: Zxid[] = [];
  #snapshots = 0;

  constructor(root: string) {
    this.#root = root;
    this.#directory = join(root, "0");
    mkdirSync(this.#directory);
    [this.#file, this.#reader] = this.#opened();
  }

  get log(): DurableLog {
    return this.#file.log;
  }

  step(step: Step): void {
    switch (step.kind) {
      case "append":
        return this.#append(step.count);
      case "epoch":
        this.#epoch++;
        return this.#append(1);
      case "cut":
        this.#cutHeld(step.back);
        this.#file.cut(this.#end());
        this.#epoch++;
        return;
      case "install":
        return this.#install(step.count, step.back);
      case "snapshot":
        return this.#installSnapshot(step.count);
      case "promise":
        return this.#promise();
      case "roll":
        expect(this.#file.roll(KEEP_ALL, Date.now())).toBeUndefined();
        return;
      case "purge":
        return this.#purge();
      case "stage":
        this.#file.beginStage(this.log.tail);
        this.#file.stage(Buffer.from(batchOf([this.#next(this.#end())]).bytes));
        return;
      case "spare":
        if (!hasSpare(this.#directory)) makeSpare(this.#directory, { pageBytes: 8192, walBytes: WAL_BYTES });
        return;
      case "tidy":
        return this.#tidy();
      case "start":
        return this.#start();
    }
  }

  /** Everything is there, for a reader that was open all the time and in a copy. */
  check(): void {
    expect(read(this.#reader, this.log)).toEqual(this.#expected());
    for (const zxid of this.#held) expect(this.#reader.chainAt(zxid)).toBeDefined();
    expect(this.#reader.chainAt(this.log.tail.zxid)).toBe(this.log.tail.chain);
    expect(this.#reader.read(this.log.floor.zxid, 1 << 30).count).toBe(this.#held.length);
  }

  close(): void {
    this.#reader[Symbol.dispose]();
    this.#file.close();
  }

  /** Ends as a killed process does, and begins again on what it left. */
  #start(): void {
    const before = this.log;
    const copy = join(this.#root, String(++this.#copies));
    cpSync(this.#directory, copy, { recursive: true, filter: (file) => !file.endsWith("-shm") });
    this.close();
    this.#directory = copy;
    [this.#file, this.#reader] = this.#opened();
    const { bootCount } = before.identity;
    expect(this.log).toEqual({ ...before, identity: { ...before.identity, bootCount: bootCount + 1 } });
  }

  #opened(): [LogFile, LogReader] {
    const options: LogFileOptions = {
      directory: this.#directory,
      witnessFile: join(this.#directory, "witness"),
      sid: 1,
      takeEpoch: false,
      amnesiac: false,
      leases: this.#leases.memory,
    };
    const file = new LogFile(options);
    return [file, new LogReader(this.#directory, this.#leases.memory)];
  }

  #append(count: number): void {
    const zxids: Zxid[] = [];
    for (let at = this.#end(); zxids.length < count; zxids.push(at)) at = this.#next(at);
    const batch = this.#batch(zxids);
    this.#file.begin();
    this.#file.add(batch, 0, batch.length, count % 2 === 0 ? this.#end() : Z(0, 0));
    this.#file.commit();
    this.#held.push(...zxids);
  }

  #promise(): void {
    const { promise } = this.log;
    const epoch = Math.max(promise.epoch, this.#epoch) + 1;
    this.#file.change({ ...this.log, promise: { epoch, sid: 2, incarnation: 1 } });
  }

  #install(count: number, back: number): void {
    this.#promise();
    this.#cutHeld(back);
    const at = this.#end();
    const chain = this.#reader.chainAt(at);
    if (chain === undefined) throw new Error("an entry was lost");
    this.#epoch++;
    this.#file.beginStage({ zxid: at, chain });
    this.#stage(count);
    this.#file.installHistory({ epoch: this.log.promise.epoch, tail: this.#end(), committed: Z(0, 0) });
  }

  #installSnapshot(count: number): void {
    this.#promise();
    this.#epoch = this.log.promise.epoch;
    const base = { zxid: Z(this.#epoch, 7), chain: BigInt(this.#epoch * 1000 + 5) as DurableLog["tail"]["chain"] };
    this.#held = [];
    this.#file.beginStage(base);
    this.#base = base.zxid;
    this.#stage(count);
    const snapshot = {
      stateFile: `state-${++this.#snapshots + 1}.db`,
      epochs: [{ epoch: this.#epoch, first: 1, last: 7 }],
    };
    this.#file.installHistory({ epoch: this.#epoch, tail: this.#end(), committed: base.zxid, snapshot });
  }

  #base: Zxid = Z(0, 0);

  #stage(count: number): void {
    for (let i = 0; i < count; i++) {
      const zxid = this.#next(this.#end());
      this.#file.stage(this.#batch([zxid]));
      this.#held.push(zxid);
    }
  }

  #purge(): void {
    const { tail } = this.log;
    this.#file.begin();
    this.#file.commit();
    const count = this.#file.purgeable({ ...KEEP_ALL, above: tail.zxid, olderThanMs: Number.MAX_SAFE_INTEGER });
    if (count === 0) return;
    this.#file.purge(count);
    this.#base = this.log.floor.zxid;
    this.#held = this.#held.filter((zxid) => zxid > this.#base);
  }

  /** The helper's work on files that no reader has open. */
  #tidy(): void {
    for (const { name, generation } of this.#file.retired.splice(0)) {
      expect(this.#leases.areClosed(generation)).toBe(true);
      if (!hasSpare(this.#directory) && isRecyclable(this.#directory, name, WAL_BYTES)) {
        recycleSegment(this.#directory, name, 1024);
      } else removeSegment(this.#directory, name);
    }
  }

  #cutHeld(back: number): void {
    const least = this.log.commitHint;
    while (back-- > 0 && this.#held.length > 0 && this.#before(this.#held) >= least) this.#held.pop();
  }

  #before(held: readonly Zxid[]): Zxid {
    return held.at(-2) ?? this.#base;
  }

  #end(): Zxid {
    return this.#held.at(-1) ?? this.#base;
  }

  #next(at: Zxid): Zxid {
    return epochOf(at) === this.#epoch ? Z(this.#epoch, counterOf(at) + 1) : Z(this.#epoch, 1);
  }

  #batch(zxids: readonly Zxid[]): Buffer {
    const records = zxids.map((zxid) => {
      const record = `${zxid} ${++this.#salt} `.padEnd(100 + (this.#salt % 5) * 300, "x");
      this.#records.set(zxid, record);
      return Buffer.from(record);
    });
    const { bytes, end } = batchOf(zxids, { records });
    return Buffer.from(bytes.buffer, bytes.byteOffset, end);
  }

  #expected(): string[] {
    return this.#held.map((zxid) => this.#records.get(zxid) ?? "");
  }
}

function read(reader: LogReader, log: DurableLog): string[] {
  const records: string[] = [];
  for (let at = log.floor; ; ) {
    const walk = reader.walk(at.zxid, { bytesMax: 2_000 }, (_zxid, bytes, start, end) => {
      records.push(bytes.toString("latin1", start, end));
    });
    expect(walk.after).toEqual(at);
    if (walk.count === 0) {
      expect(at).toEqual(log.tail);
      return records;
    }
    at = walk.last;
  }
}

const counted = (
  kind: "append" | "cut" | "install" | "snapshot",
  countMax: number,
  backMax: number,
): fc.Arbitrary<Step> =>
  fc.record({
    kind: fc.constant(kind),
    count: fc.integer({ min: kind === "append" ? 1 : 0, max: countMax }),
    back: fc.nat({ max: backMax }),
  });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: counted("append", 40, 0) },
  { weight: 2, arbitrary: counted("cut", 0, 30) },
  { weight: 2, arbitrary: counted("install", 20, 30) },
  { weight: 1, arbitrary: counted("snapshot", 20, 0) },
  {
    weight: 12,
    arbitrary: fc.record({
      kind: fc.constantFrom("epoch", "roll", "roll", "promise", "purge", "spare", "tidy", "tidy", "start", "stage"),
    }) as fc.Arbitrary<Step>,
  },
);

test("any order of writes, rolls, purges, reuse and kills leaves exactly what was written", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 25 }), (steps) => {
      using other = new TemporaryDirectory();
      const model = new Model(other.path);
      for (const each of steps) {
        model.step(each);
        model.check();
      }
      model.step({ kind: "start" });
      model.check();
      model.close();
    }),
    { numRuns: Number(process.env["LOG_FILE_RUNS"] ?? 15), endOnFailure: true },
  );
});

test("a start removes what the log does not hold, and keeps a spare that is whole", () => {
  const directory = join(place.path, "data");
  const leases = new ReaderLeases().memory;
  const witnessFile = join(directory, "witness");
  const options = { directory, witnessFile, sid: 1, takeEpoch: false, amnesiac: false, leases };
  mkdirSync(directory);
  const first = new LogFile(options);
  first.beginStage(first.log.tail);
  first.stage(Buffer.from(batchOf([Z(1, 1)]).bytes));
  first.close();
  makeSpare(directory, { pageBytes: 1024, walBytes: 4096 });
  const half = [
    "log.db.new",
    "log-00000002-0000000000000000.db.new",
    "log-00000003-0000000000000000.db-wal",
    "spare.wal",
  ];
  for (const name of half) writeFileSync(join(directory, name), "half");
  const second = new LogFile(options);
  const names = readdirSync(directory);
  expect(names).toEqual(expect.arrayContaining(["spare.db", "spare.db-wal"]));
  expect(names.filter((name) => half.includes(name) || name.startsWith("stage"))).toEqual([]);
  second.close();
  rmSync(join(directory, "spare.db-wal"));
  new LogFile(options).close();
  expect(readdirSync(directory)).not.toContain("spare.db");
});

test("a segment that cannot be begun leaves the log unchanged, with room for another try", () => {
  const directory = join(place.path, "data");
  const leases = new ReaderLeases().memory;
  const witnessFile = join(directory, "witness");
  mkdirSync(directory);
  const file = new LogFile({ directory, witnessFile, sid: 1, takeEpoch: false, amnesiac: false, leases });
  const append = (zxid: Zxid): void => {
    const { bytes, end } = batchOf([zxid]);
    file.begin();
    file.add(Buffer.from(bytes), 0, end, Z(0, 0));
    file.commit();
  };
  append(Z(1, 1));
  const before = file.log;
  // A directory stands where the next segment would be made.
  const blocked = join(directory, "log-00000002-0000000100000001.db.new");
  mkdirSync(join(blocked, "x"), { recursive: true });
  expect(file.roll(KEEP_ALL, 0)).toBeDefined();
  expect(file.log).toBe(before);
  append(Z(1, 2));
  rmSync(blocked, { recursive: true, force: true });
  expect(file.roll(KEEP_ALL, 0)).toBeUndefined();
  append(Z(1, 3));
  using reader = new LogReader(directory, leases);
  expect(reader.read(Z(0, 0), 1 << 20).count).toBe(3);
  file.close();
});

test("a walk over large entries, one a run, leaves no buffers of their size to the collector", () => {
  const directory = join(place.path, "data");
  mkdirSync(directory);
  const leases = new ReaderLeases().memory;
  const witnessFile = join(place.path, "witness");
  const file = new LogFile({ directory, witnessFile, sid: 1, takeEpoch: false, amnesiac: false, leases });
  const zxids = range(1, 8);
  for (const zxid of zxids) {
    const { bytes, end } = batchOf([zxid], { records: [Buffer.alloc(MEBIBYTE, zxid)] });
    file.begin();
    file.add(Buffer.from(bytes), 0, end, Z(0, 0));
    file.commit();
  }
  using reader = new LogReader(directory, leases);
  const before = process.memoryUsage().arrayBuffers;
  let after = Z(0, 0);
  for (const zxid of zxids) {
    after = reader.walk(after, { bytesMax: 1 }, () => {}).last.zxid;
    expect(after).toBe(zxid);
  }
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(MEBIBYTE);
  // By the bytes of a check the scrub keeps its pace.
  const { last, bytes } = reader.check(Z(0, 0), 100 * MEBIBYTE, after);
  expect([last, bytes]).toEqual([after, zxids.length * MEBIBYTE]);
  file.close();
});

test("a walk with the chain of the entry before checks it at the next entry, and that the log holds that entry", () => {
  const directory = join(place.path, "data");
  mkdirSync(directory);
  const leases = new ReaderLeases().memory;
  const witnessFile = join(place.path, "witness");
  const file = new LogFile({ directory, witnessFile, sid: 1, takeEpoch: false, amnesiac: false, leases });
  const { bytes, end } = batchOf(range(1, 3));
  file.begin();
  file.add(Buffer.from(bytes), 0, end, Z(0, 0));
  file.commit();
  using reader = new LogReader(directory, leases);
  const first = reader.walk(Z(0, 0), { bytesMax: 1 }, () => {}).last;
  const { chain } = first;
  const second = reader.walk(first.zxid, { bytesMax: 1, chain }, () => {});
  expect(second).toEqual(reader.walk(first.zxid, { bytesMax: 1 }, () => {}));
  expect(() => reader.walk(second.last.zxid, { bytesMax: 1, chain }, () => {})).toThrow("does not match its chain");
  expect(() => reader.walk(Z(1, 4), { bytesMax: 1, chain }, () => {})).toThrow("the log holds no such entry");
  file.close();
});

test("a commit is a commit, though the witness beside it finds no room", () => {
  const directory = join(place.path, "data");
  const witnessFile = join(place.path, "witness");
  symlinkSync("/dev/full", witnessFile);
  mkdirSync(directory);
  const leases = new ReaderLeases().memory;
  const options = { directory, witnessFile, sid: 1, takeEpoch: false, amnesiac: false, leases };
  const first = new LogFile(options);
  first.begin();
  const { bytes, end } = batchOf([Z(1, 1)]);
  first.add(Buffer.from(bytes), 0, end, Z(0, 0));
  first.commit();
  first.change(withPromise(first.log, { epoch: 2, sid: 1, incarnation: 1 }));
  expect(first.log).toMatchObject({ tail: { zxid: Z(1, 1) }, promise: { epoch: 2 } });
  // A cut lowers the witness first, and cannot do without.
  expect(() => first.cut(Z(0, 0))).toThrow(expect.objectContaining({ code: "ENOSPC" }));
  expect(first.log.tail.zxid).toBe(Z(1, 1));
  first.close();
  const second = new LogFile(options);
  expect(second.log.tail.zxid).toBe(Z(1, 1));
  second.close();
});

test("what was committed before a snapshot is of no account behind it, also where that ends earlier", () => {
  const directory = join(place.path, "data");
  mkdirSync(directory);
  const leases = new ReaderLeases().memory;
  const witnessFile = join(directory, "witness");
  const file = new LogFile({ directory, witnessFile, sid: 1, takeEpoch: false, amnesiac: false, leases });
  const append = (zxid: Zxid, committed: Zxid): void => {
    const { bytes, end } = batchOf([zxid]);
    file.begin();
    file.add(Buffer.from(bytes), 0, end, committed);
    file.commit();
  };
  for (const zxid of range(1, 9)) append(zxid, zxid);
  file.noteCommitted(Z(1, 9));
  file.change(withPromise(file.log, { epoch: 2, sid: 1, incarnation: 1 }));
  const after = { zxid: Z(1, 2), chain: file.log.tail.chain };
  file.beginStage(after);
  const snapshot = { stateFile: "state-2.db", epochs: [{ epoch: 1, first: 1, last: 2 }] };
  file.installHistory({ epoch: 2, tail: after.zxid, committed: after.zxid, snapshot });
  append(Z(1, 3), after.zxid);
  expect(file.log).toMatchObject({ tail: { zxid: Z(1, 3) }, commitHint: after.zxid });
  file.close();
});

test("the next segment has large pages where many entries share a sync, also when it is made as soon as the newest one begins", () => {
  const directory = join(place.path, "data");
  const leases = new ReaderLeases().memory;
  const witnessFile = join(directory, "witness");
  mkdirSync(directory);
  const file = new LogFile({ directory, witnessFile, sid: 1, takeEpoch: false, amnesiac: false, leases });
  let next = 1;
  const commits = (count: number, entries: number): void => {
    for (let i = 0; i < count; i++, next += entries) {
      const records = new Array(entries).fill(Buffer.alloc(1000));
      const { bytes, end } = batchOf(range(next, next + entries - 1), { records });
      file.begin();
      file.add(Buffer.from(bytes.buffer, bytes.byteOffset, end), 0, end, Z(0, 0));
      file.commit();
    }
  };
  const pageBytesOfNext: number[] = [];
  for (const entries of [1, 100, 100, 1, 1]) {
    commits(20, entries);
    file.roll(KEEP_ALL, 0);
    pageBytesOfNext.push(file.pageBytes());
  }
  expect(pageBytesOfNext).toEqual([1024, 8192, 8192, 1024, 1024]);
  file.close();
});
