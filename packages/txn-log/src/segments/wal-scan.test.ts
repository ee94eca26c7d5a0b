import { copyFileSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { TemporaryDirectory } from "../testing/temporary-directory.ts";
import { eraseTear, scanWal, WAL_HEADER_BYTES } from "./wal-scan.ts";

const PAGE_BYTES = 1024;
const FRAME_BYTES = PAGE_BYTES + 24;
const ROWS_PER_COMMIT = 3;
const COMMITS = 6;

let place: TemporaryDirectory;
let file: string;
/** A copy of the WAL after each commit. */
let wals: Buffer[];
let main: Buffer;

beforeEach(() => {
  place = new TemporaryDirectory();
  file = join(place.path, "s.db");
  wals = writeCommits(file, COMMITS);
  main = readFileSync(file);
});
afterEach(() => place[Symbol.dispose]());

/** Leaves the files as a killed process would. */
function writeCommits(at: string, count: number, rowsPerCommit: number = ROWS_PER_COMMIT): Buffer[] {
  const source = join(place.path, `source-${count}.db`);
  const database = new Sqlite(source);
  database.pragma(`page_size = ${PAGE_BYTES}`);
  database.pragma("journal_mode = wal");
  database.exec("CREATE TABLE log (zxid INTEGER PRIMARY KEY, entry BLOB NOT NULL) STRICT");
  database.pragma("wal_checkpoint(TRUNCATE)");
  database.pragma("wal_autocheckpoint = 0");
  const insert = database.prepare("INSERT INTO log VALUES (?, ?)");
  const made: Buffer[] = [];
  for (let commit = 0; commit < count; commit++) {
    database.exec("BEGIN");
    for (let row = 1; row <= rowsPerCommit; row++) {
      insert.run(commit * rowsPerCommit + row, Buffer.alloc(700, commit * 7 + row));
    }
    database.exec("COMMIT");
    made.push(readFileSync(`${source}-wal`));
  }
  copyFileSync(source, at);
  database.close();
  return made;
}

function scanOf(wal: Buffer): ReturnType<typeof scanWal> {
  writeFileSync(`${file}-wal`, wal);
  return scanWal(`${file}-wal`);
}

/** The rows that SQLite shows of the files. */
function rowsShown(wal: Buffer): number {
  const copy = join(place.path, "shown.db");
  writeFileSync(copy, main);
  writeFileSync(`${copy}-wal`, wal);
  const database = new Sqlite(copy);
  const count = database.prepare("SELECT count(*) FROM log").pluck().get() as number;
  database.close();
  return count;
}

const whole = (): Buffer => wals.at(-1) as Buffer;
const framesOf = (wal: Buffer): number => (wal.length - WAL_HEADER_BYTES) / FRAME_BYTES;

describe("scanWal", () => {
  test("counts the frames and commits that SQLite wrote", () => {
    for (const [i, wal] of wals.entries()) {
      expect(scanOf(wal)).toMatchObject({
        pageBytes: PAGE_BYTES,
        frameCount: framesOf(wal),
        commitCount: i + 1,
        tail: "whole",
      });
    }
  });

  test("a WAL that was never begun is whole and has no frames", () => {
    for (const wal of [Buffer.alloc(0), Buffer.alloc(20), Buffer.alloc(5000)]) {
      expect(scanOf(wal)).toMatchObject({ frameCount: 0, tail: "whole" });
    }
  });

  test("shows what SQLite shows at every length of the file", () => {
    const wal = whole();
    for (let length = WAL_HEADER_BYTES; length <= wal.length; length += 263) {
      const cut = wal.subarray(0, length);
      const scan = scanOf(cut);
      expect(scan.tail).not.toBe("damaged");
      expect(scan.commitCount * ROWS_PER_COMMIT).toBe(rowsShown(cut));
    }
  });

  test("a flipped bit in any frame with a whole later commit is damage, and SQLite would hide that commit", () => {
    const wal = whole();
    const beforeLast = framesOf(wals.at(-3) as Buffer);
    for (let frame = 1; frame <= beforeLast; frame++) {
      for (const offset of [5, 8, 23, FRAME_BYTES - 1]) {
        const flipped = Buffer.from(wal);
        const at = WAL_HEADER_BYTES + (frame - 1) * FRAME_BYTES + offset;
        flipped[at] = (flipped[at] as number) ^ 4;
        expect(scanOf(flipped), `frame ${frame}, byte ${offset}`).toMatchObject({ tail: "damaged" });
        expect(rowsShown(flipped)).toBeLessThan(COMMITS * ROWS_PER_COMMIT);
      }
    }
  });

  test("a flipped bit in the last commit looks like a tear, and in no place like a whole WAL", () => {
    const wal = whole();
    const first = framesOf(wals.at(-2) as Buffer) + 1;
    for (let frame = first; frame <= framesOf(wal); frame++) {
      const flipped = Buffer.from(wal);
      const at = WAL_HEADER_BYTES + (frame - 1) * FRAME_BYTES + 100;
      flipped[at] = (flipped[at] as number) ^ 1;
      expect(scanOf(flipped)).toMatchObject({ tail: "torn", frameCount: first - 1, commitCount: COMMITS - 1 });
    }
  });

  test("a flipped bit in the header is damage", () => {
    for (let at = 0; at < WAL_HEADER_BYTES; at++) {
      const flipped = Buffer.from(whole());
      flipped[at] = (flipped[at] as number) ^ 16;
      expect(scanOf(flipped).tail).toBe("damaged");
    }
  });

  test("a bad frame ends a commit only if no sector ends within its header", () => {
    const [wal] = writeCommits(file, 1, 80) as [Buffer];
    // The header of frame 42 begins 8 bytes before the end of a sector: its salt may be new and its
    // other fields old.
    for (const [frame, tail] of [
      [41, "damaged"],
      [42, "torn"],
    ] as const) {
      const torn = Buffer.from(wal);
      torn.writeUInt32BE(7, WAL_HEADER_BYTES + (frame - 1) * FRAME_BYTES + 4);
      expect(scanOf(torn).tail).toBe(tail);
    }
  });

  test("a last commit of which any sectors are missing is torn and never damage, over zeros and over an earlier WAL", () => {
    const wal = whole();
    const start = (wals.at(-2) as Buffer).length;
    const sectors = Math.ceil((wal.length - start) / 512) + 1;
    const earlier = writeCommits(join(place.path, "earlier.db"), COMMITS + 1).at(-1) as Buffer;
    for (const under of [Buffer.alloc(wal.length), earlier]) {
      for (let seed = 1; seed <= 400; seed++) {
        const torn = Buffer.from(under);
        wal.copy(torn, 0, 0, start);
        for (let i = 0; i < sectors; i++) {
          const from = Math.max(start, (Math.floor(start / 512) + i) * 512);
          const to = Math.min(wal.length, (Math.floor(start / 512) + i + 1) * 512);
          const isWritten = ((Math.imul(seed, 0x9e3779b1) >>> (i % 31)) & 1) === 1;
          if (isWritten && to > from) wal.copy(torn, from, from, to);
        }
        const scan = scanOf(torn);
        expect(scan.tail, `seed ${seed}`).not.toBe("damaged");
        if (!torn.subarray(0, wal.length).equals(wal)) expect(scan.commitCount).toBe(COMMITS - 1);
      }
    }
  });
});

describe("eraseTear", () => {
  test("commits behind an erased tear are never taken for damage", () => {
    const wal = Buffer.from(whole());
    // Of the last commit only the first frame is missing: its others stand behind what comes next.
    wal.fill(0, (wals.at(-2) as Buffer).length, (wals.at(-2) as Buffer).length + FRAME_BYTES);
    const scan = scanOf(wal);
    expect(scan.tail).toBe("torn");
    eraseTear(`${file}-wal`, scan);
    expect(scanWal(`${file}-wal`)).toMatchObject({ tail: "whole", commitCount: COMMITS - 1 });
    const database = new Sqlite(file);
    database.pragma("wal_autocheckpoint = 0");
    database.prepare("INSERT INTO log VALUES (?, ?)").run(1000, Buffer.alloc(10));
    const after = scanWal(`${file}-wal`);
    database.close();
    expect(after).toMatchObject({ tail: "whole", commitCount: COMMITS });
  });

  test("a crash in the middle of it leaves a tear", () => {
    const wal = Buffer.from(whole());
    wal[(wals.at(-2) as Buffer).length + 30] = 99;
    const scan = scanOf(wal);
    for (let last = scan.frameCount; last <= scan.lastFrame; last++) {
      writeFileSync(`${file}-wal`, wal);
      eraseTear(`${file}-wal`, { ...scan, lastFrame: last });
      expect(scanWal(`${file}-wal`).tail).toBe(last === scan.lastFrame ? "whole" : "torn");
    }
  });

  test("a file that ends within a frame is scanned to its end", () => {
    writeFileSync(`${file}-wal`, whole());
    truncateSync(`${file}-wal`, whole().length - 7);
    expect(scanWal(`${file}-wal`)).toMatchObject({ tail: "torn", commitCount: COMMITS - 1 });
  });
});
