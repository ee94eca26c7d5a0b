import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Z } from "../testing/append-batches.ts";
import { readSegments, SegmentHistory } from "../testing/segment-history.ts";
import { TemporaryDirectory } from "../testing/temporary-directory.ts";
import { PAGE_SIZES } from "./page-size.ts";
import { inspectSegments, repairSegments } from "./segment-directory.ts";
import { formatSegmentName } from "./segment-name.ts";
import { hasSpare, makeSpare, recycleSegment, takeSpare } from "./spare-segment.ts";
import { scanWal, WAL_HEADER_BYTES } from "./wal-scan.ts";

const FRAME_BYTES = 1024 + 24;

let place: TemporaryDirectory;
let directory: string;
let history: SegmentHistory;

beforeEach(() => {
  place = new TemporaryDirectory();
  directory = join(place.path, "data");
  mkdirSync(directory);
  history = new SegmentHistory(directory);
});
afterEach(() => place[Symbol.dispose]());

const newestFile = (): string =>
  join(directory, formatSegmentName({ sequence: history.head.sequence, after: history.head.after.zxid }));

/** The directory as it is now, elsewhere: what a killed process leaves. */
function copied(): string {
  const copy = join(place.path, `copy-${readdirSync(place.path).length}`);
  cpSync(directory, copy, { recursive: true, filter: (file) => !file.endsWith("-shm") });
  return copy;
}

function flip(file: string, at: number): void {
  const bytes = readFileSync(file);
  bytes[at] = (bytes[at] as number) ^ 8;
  writeFileSync(file, bytes);
}

describe("segments", () => {
  test("a closed segment keeps its WAL, and its main file is not written", () => {
    history.append(5);
    history.append(5);
    const before = statSync(newestFile()).size;
    const wal = newestFile();
    history.close();
    expect(scanWal(`${wal}-wal`).commitCount).toBe(3);
    expect(statSync(wal).size).toBe(before);
    expect(readSegments(directory).zxids).toEqual(history.zxids);
  });

  test("what a killed process leaves is read back at every commit: entries, promise, end", () => {
    const steps: (() => void)[] = [
      () => history.append(3),
      () => history.promise(2),
      () => history.roll(),
      () => history.append(20),
      () => history.append(1, 2),
      () => history.cut(Z(1, 20)),
      () => history.append(2, 3),
      () => history.cut(Z(1, 2)),
      () => history.roll(),
      () => history.append(4, 4),
    ];
    for (const step of steps) {
      step();
      const copy = copied();
      const found = readSegments(copy);
      expect(found.zxids).toEqual(history.zxids);
      expect(found.log).toEqual(history.log);
      rmSync(copy, { recursive: true });
    }
    history.close();
  });

  test("any order of appends, rolls, cuts and starts is read back", () => {
    history.close();
    const step = fc.oneof(
      fc.record({ kind: fc.constant("append" as const), count: fc.integer({ min: 1, max: 40 }) }),
      fc.record({ kind: fc.constant("epoch" as const), count: fc.integer({ min: 1, max: 3 }) }),
      fc.record({ kind: fc.constant("cut" as const), count: fc.nat({ max: 30 }) }),
      fc.record({ kind: fc.constantFrom("roll" as const, "spare" as const), count: fc.constant(0) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
        using other = new TemporaryDirectory();
        const model = new SegmentHistory(other.path);
        let epoch = 1;
        for (const { kind, count } of steps) {
          if (kind === "append") model.append(count, epoch);
          else if (kind === "epoch") model.append(count, ++epoch);
          else if (kind === "roll") model.roll();
          else if (kind === "spare") makeSpare(other.path, { pageBytes: 8192, walBytes: 64 * 1024 });
          else {
            model.cut(model.zxids.at(-1 - count) ?? Z(0, 0));
            epoch++;
          }
        }
        model.close();
        const found = readSegments(other.path);
        expect(found.zxids).toEqual(model.zxids);
        expect(found.log).toEqual(model.log);
      }),
      { numRuns: 12 },
    );
  });

  test("free segments are those that the manifest no longer names", () => {
    history.append(3);
    history.roll();
    history.append(3);
    history.cut(Z(1, 2));
    history.close();
    expect(inspectSegments(directory).free).toEqual([{ sequence: 2, after: Z(1, 3) }]);
  });
});

describe("recovery", () => {
  test("a torn last commit, at every frame, is erased, and nothing before it is lost", () => {
    history.append(2);
    const kept = [...history.zxids];
    const before = scanWal(`${newestFile()}-wal`).frameCount;
    history.append(9);
    const file = newestFile();
    const { frameCount } = scanWal(`${file}-wal`);
    const whole = readFileSync(`${file}-wal`);
    history.close();
    for (let frame = before + 1; frame <= frameCount; frame++) {
      const torn = Buffer.from(whole);
      torn.fill(0, WAL_HEADER_BYTES + (frame - 1) * FRAME_BYTES, WAL_HEADER_BYTES + frame * FRAME_BYTES);
      writeFileSync(`${file}-wal`, torn);
      rmSync(`${file}-shm`, { force: true });
      const found = inspectSegments(directory);
      repairSegments(directory, found);
      expect(scanWal(`${file}-wal`)).toMatchObject({ tail: "whole", frameCount: before });
      expect(readSegments(directory).zxids).toEqual(kept);
    }
  });

  test("a flipped bit before an acknowledged commit of the newest segment is refused with its frame, and nothing is changed", () => {
    history.append(2);
    const { frameCount } = scanWal(`${newestFile()}-wal`);
    history.append(2);
    history.append(2);
    const file = newestFile();
    history.close();
    for (let frame = 1; frame <= frameCount; frame++) {
      const copy = copied();
      const wal = join(copy, `${file.slice(directory.length + 1)}-wal`);
      flip(wal, WAL_HEADER_BYTES + (frame - 1) * FRAME_BYTES + 500);
      const before = readFileSync(wal);
      expect(() => readSegments(copy)).toThrow(/-wal is damaged at frame \d+/);
      expect(readFileSync(wal).equals(before)).toBe(true);
      rmSync(copy, { recursive: true });
    }
  });

  test("a flipped bit anywhere in a sealed segment is named when it is read", () => {
    history.append(8);
    history.append(8);
    const sealed = newestFile();
    history.roll();
    history.append(1);
    history.close();
    const { frameCount } = scanWal(`${sealed}-wal`);
    const whole = readFileSync(`${sealed}-wal`);
    for (let frame = 1; frame <= frameCount; frame++) {
      writeFileSync(`${sealed}-wal`, whole);
      flip(`${sealed}-wal`, WAL_HEADER_BYTES + (frame - 1) * FRAME_BYTES + 700);
      rmSync(`${sealed}-shm`, { force: true });
      expect(inspectSegments(directory).newest?.log.tail).toEqual(history.log.tail);
      expect(() => readSegments(directory)).toThrow(/log-00000001-0{16}\.db is damaged at/);
    }
  });

  test("an interrupted roll is undone: no main file, an empty one, no first transaction", () => {
    history.append(4);
    history.close();
    const next = join(directory, formatSegmentName({ sequence: 2, after: history.log.tail.zxid }));
    const begun = copied();
    const files: ((at: string) => void)[] = [
      (at) => writeFileSync(`${at}-wal`, Buffer.alloc(5000)),
      (at) => {
        writeFileSync(`${at}-wal`, readFileSync(`${newestFile()}-wal`));
        writeFileSync(at, "");
      },
      (at) => {
        makeSpare(begun, { pageBytes: 1024, walBytes: 4096 });
        renameSync(join(begun, "spare.db"), at);
        renameSync(join(begun, "spare.db-wal"), `${at}-wal`);
      },
    ];
    for (const write of files) {
      write(next);
      const found = inspectSegments(directory);
      expect(found.newest?.name.sequence).toBe(1);
      repairSegments(directory, found);
      expect([next, `${next}-wal`].some((file) => existsSync(file))).toBe(false);
      expect(readSegments(directory).zxids).toEqual(history.zxids);
    }
  });

  test("a missing or renamed segment is refused by name", () => {
    history.append(3);
    const first = newestFile();
    history.roll();
    history.append(3);
    history.close();
    const newest = newestFile();
    const renamed = join(directory, formatSegmentName({ sequence: 3, after: Z(1, 3) }));
    for (const suffix of ["", "-wal"]) renameSync(newest + suffix, renamed + suffix);
    expect(() => inspectSegments(directory)).toThrow(/the name log-00000002-/);
    for (const suffix of ["", "-wal"]) renameSync(renamed + suffix, newest + suffix);
    rmSync(first);
    expect(() => inspectSegments(directory)).toThrow(/log-00000001-0{16}\.db is damaged at the segment/);
  });
});

describe("the spare", () => {
  test("commits into a spare's WAL do not make it longer, and a roll allocates nothing", () => {
    const walBytes = 256 * 1024;
    makeSpare(directory, { pageBytes: 1024, walBytes });
    history.roll();
    for (let i = 0; i < 20; i++) history.append(4);
    expect(statSync(`${newestFile()}-wal`).size).toBe(walBytes);
    history.close();
    expect(statSync(`${newestFile()}-wal`).size).toBe(walBytes);
    expect(readSegments(directory).zxids).toEqual(history.zxids);
  });

  test("a recycled WAL shows nothing of its earlier life, whole or torn", () => {
    history.append(30);
    history.roll();
    history.append(30);
    history.cut(Z(1, 10));
    history.append(2, 2);
    const [free] = inspectSegments(directory).free;
    expect(free).toEqual({ sequence: 2, after: Z(1, 30) });
    recycleSegment(directory, { sequence: 2, after: Z(1, 30) }, 1024);
    expect(hasSpare(directory)).toBe(true);
    const inode = statSync(join(directory, "spare.db-wal")).ino;
    history.roll();
    history.append(3, 3);
    expect(statSync(`${newestFile()}-wal`).ino).toBe(inode);
    const file = newestFile();
    const kept = [...history.zxids];
    const before = readFileSync(`${file}-wal`);
    const start = WAL_HEADER_BYTES + scanWal(`${file}-wal`).frameCount * FRAME_BYTES;
    history.append(6, 3);
    history.close();
    expect(readSegments(directory).zxids).toEqual(history.zxids);
    // Of the last commit only its first sectors came: behind them stand frames of the earlier life.
    const torn = readFileSync(`${file}-wal`);
    before.copy(torn, start + 1536, start + 1536);
    writeFileSync(`${file}-wal`, torn);
    rmSync(`${file}-shm`, { force: true });
    expect(inspectSegments(directory).newest?.scan.tail).toBe("torn");
    repairSegments(directory, inspectSegments(directory));
    expect(readSegments(directory).zxids).toEqual(kept);
  });

  test("a spare that was not completed is none", () => {
    makeSpare(directory, { pageBytes: 1024, walBytes: 4096 });
    history.close();
    renameSync(join(directory, "spare.db-wal"), join(directory, "spare.wal"));
    expect(hasSpare(directory)).toBe(false);
    makeSpare(directory, { pageBytes: 1024, walBytes: 4096 });
    expect(hasSpare(directory)).toBe(true);
  });

  test.each(PAGE_SIZES)("a spare of pages of %i bytes outlives a start", (pageBytes) => {
    makeSpare(directory, { pageBytes, walBytes: 4096 });
    history.close();
    repairSegments(directory, inspectSegments(directory));
    expect(hasSpare(directory)).toBe(true);
  });

  test("a spare with a flipped bit is removed by a roll, or by a start, and no segment is made of it", () => {
    const spare = join(directory, "spare.db");
    makeSpare(directory, { pageBytes: 1024, walBytes: 4096 });
    const whole = readFileSync(spare);
    // Of the header that SQLite keeps count of changes in, and of every page the header and the
    // first and the last bytes.
    const pages = Array.from({ length: whole.length / 1024 }, (_, page) =>
      [0, 3, 7, 300, 1023].map((at) => page * 1024 + at),
    );
    for (const at of [17, 18, 19, 22, ...pages.flat()]) {
      makeSpare(directory, { pageBytes: 1024, walBytes: 4096 });
      const bytes = Buffer.from(whole);
      bytes[at] = (bytes[at] ?? 0) ^ 1;
      writeFileSync(spare, bytes);
      expect([at, takeSpare(directory, { sequence: 9, after: Z(1, 9) })]).toEqual([at, false]);
      expect(readdirSync(directory).filter((name) => name.startsWith("spare"))).toEqual([]);
    }
    makeSpare(directory, { pageBytes: 1024, walBytes: 4096 });
    writeFileSync(spare, Buffer.from(whole).fill(1, 1024, 1025));
    history.roll();
    history.append(3);
    makeSpare(directory, { pageBytes: 1024, walBytes: 4096 });
    writeFileSync(spare, Buffer.from(whole).fill(1, 1024, 1025));
    history.close();
    repairSegments(directory, inspectSegments(directory));
    expect(hasSpare(directory)).toBe(false);
    expect(readSegments(directory).zxids).toEqual(history.zxids);
  });
});
