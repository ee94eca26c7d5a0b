import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Zxid } from "@zooid/model";
import { afterEach, beforeEach, expect, test } from "vitest";
import { CONTROL_WORDS, ControlWord, HelperState } from "../log/append-ring.ts";
import { type Keep, LogFile } from "../log/log-file.ts";
import { type HelperTask, LogStat } from "../log/log-messages.ts";
import { batchOf, Z } from "../testing/append-batches.ts";
import { TemporaryDirectory } from "../testing/temporary-directory.ts";
import { ReaderLeases } from "./reader-leases.ts";
import { removeSegment } from "./segment-directory.ts";
import { SegmentRoller } from "./segment-roller.ts";
import { hasSpare, makeSpare, recycleSegment } from "./spare-segment.ts";

const WAL_BYTES = 128 * 1024;
const KEEP_ALL: Keep = { above: Z(0, 0), bytes: 0, olderThanMs: 0 };
const KEEP_NOTHING: Keep = { above: Z(9, 0), bytes: 0, olderThanMs: Number.MAX_SAFE_INTEGER };

let place: TemporaryDirectory;
let rolled: Rolled;
beforeEach(() => {
  place = new TemporaryDirectory();
  rolled = new Rolled(join(place.path, "data"));
});
afterEach(() => {
  rolled.file.close();
  place[Symbol.dispose]();
});

/** A log, its roller, and a helper that works when the test says so. */
class Rolled {
  readonly directory: string;
  readonly leases = new ReaderLeases();
  readonly file: LogFile;
  readonly roller: SegmentRoller;
  readonly stats = new Float64Array(64);
  readonly tasks: HelperTask[] = [];
  readonly warnings: string[] = [];
  readonly #control = new Int32Array(CONTROL_WORDS);
  #count = 0;

  constructor(directory: string) {
    this.directory = directory;
    mkdirSync(directory);
    const witnessFile = join(directory, "witness");
    const options = { directory, witnessFile, sid: 1, takeEpoch: false, amnesiac: false, leases: this.leases.memory };
    this.file = new LogFile(options);
    this.roller = new SegmentRoller({
      file: this.file,
      directory,
      leases: this.leases,
      control: this.#control,
      request: (task) => this.tasks.push(task),
      keep: () => KEEP_ALL,
      stats: this.stats,
      walBytes: WAL_BYTES,
      warn: (text) => this.warnings.push(text),
    });
  }

  /** Appends until the newest segment is so full. */
  fill(share: number): void {
    while (this.file.walBytes() < WAL_BYTES * share) this.append();
  }

  append(): Zxid {
    const zxid = Z(1, ++this.#count);
    const { bytes, end } = batchOf([zxid], { records: [Buffer.alloc(4000)] });
    this.file.begin();
    this.file.add(Buffer.from(bytes), 0, end, zxid);
    this.file.commit();
    this.roller.committed(end);
    return zxid;
  }

  /** The helper carries its task out, or fails. */
  help(succeeds = true): HelperTask | undefined {
    const task = this.tasks.shift();
    if (task !== undefined && succeeds) {
      for (const name of task.remove) removeSegment(this.directory, name);
      const { spare } = task;
      if (spare?.recycle !== undefined) recycleSegment(this.directory, spare.recycle, spare.pageBytes);
      else if (spare !== undefined) makeSpare(this.directory, spare);
    }
    Atomics.store(this.#control, ControlWord.HELPER, succeeds ? HelperState.IDLE : HelperState.FAILED);
    return task;
  }

  get rolls(): number {
    return this.stats[LogStat.ROLLS] ?? 0;
  }
}

test("a spare is wanted from a quarter on, once, and begun when the segment is full", () => {
  rolled.fill(0.2);
  rolled.roller.turn();
  expect(rolled.tasks).toEqual([]);
  rolled.fill(0.3);
  rolled.roller.turn();
  rolled.fill(0.4);
  rolled.roller.turn();
  expect(rolled.tasks).toEqual([{ remove: [], spare: expect.objectContaining({ walBytes: WAL_BYTES }) }]);
  expect(rolled.roller.dueInMs(5)).toBe(5);
  rolled.help();
  expect(hasSpare(rolled.directory)).toBe(true);
  rolled.fill(0.8);
  rolled.roller.turn();
  expect([rolled.rolls, rolled.stats[LogStat.SEGMENTS]]).toEqual([0, 1]);
  rolled.fill(1);
  rolled.roller.turn();
  expect(rolled.rolls).toBe(1);
  expect(rolled.stats[LogStat.ROLL_MS_TOTAL]).toBeGreaterThan(0);
  expect(rolled.stats[LogStat.WAL_BYTES]).toBeLessThan(WAL_BYTES / 4);
});

test("segments that a reader may have open are neither removed nor reused before it has closed them", () => {
  const reader = rolled.leases.take();
  rolled.fill(0.3);
  rolled.roller.turn();
  rolled.help();
  rolled.fill(1);
  rolled.roller.turn();
  rolled.help();
  expect(rolled.file.purgeable(KEEP_NOTHING)).toBe(1);
  rolled.file.purge(1);
  rolled.roller.idle();
  expect([rolled.file.retired.length, rolled.tasks.length, rolled.roller.dueInMs(5)]).toEqual([1, 0, 5]);
  reader[Symbol.dispose]();
  rolled.roller.idle();
  expect(rolled.file.retired).toEqual([]);
  expect(rolled.help()?.remove).toMatchObject([{ sequence: 1 }]);
  rolled.roller.idle();
  expect(rolled.tasks).toEqual([]);
});

test("a spare that cannot be made is said once, and not tried again at once", () => {
  rolled.fill(0.3);
  for (let i = 0; i < 3; i++) {
    rolled.roller.idle();
    rolled.help(false);
  }
  rolled.roller.idle();
  expect(rolled.tasks).toEqual([]);
  expect(rolled.warnings).toEqual([expect.stringContaining("could not be made ready")]);
});

test("without a spare the newest segment grows, and a write without room does not roll", () => {
  rolled.fill(1.5);
  rolled.roller.turn();
  expect(rolled.roller.noRoom()).toBe(false);
  expect(rolled.rolls).toBe(0);
  rolled.help();
  expect(rolled.roller.noRoom()).toBe(true);
  expect(rolled.rolls).toBe(1);
});

test("nothing is due where there is nothing to let go", () => {
  expect(rolled.roller.dueInMs(5)).toBe(Number.POSITIVE_INFINITY);
});

test("a renewal begins a segment with zeros in place of a used spare, and no segment before it is used again", () => {
  const { directory, file, roller } = rolled;
  const used = (): number => nonZeroBytes(join(directory, "spare.db-wal"));
  makeSpare(directory, { pageBytes: file.pageBytes(), walBytes: WAL_BYTES });
  const wal = readFileSync(join(directory, "spare.db-wal"));
  // What a segment that is used again has behind its header.
  writeFileSync(join(directory, "spare.db-wal"), wal.fill(1, WAL_BYTES / 2));
  expect(used()).toBeGreaterThan(0);
  rolled.fill(1);
  const last = rolled.append();
  file.noteCommitted(last);
  roller.renew();
  expect(rolled.tasks).toMatchObject([{ spare: { recycle: undefined } }]);
  rolled.help();
  expect([roller.isRenewing, used()]).toEqual([true, 0]);
  expect(roller.dueInMs(5)).toBe(5);
  const { sequence } = file;
  roller.idle();
  expect([roller.isRenewing, file.sequence, file.log.commitHint]).toEqual([false, sequence + 1, last]);
  // Without a spare, a dropped one would become it.
  rolled.help(false);
  file.purge(file.purgeable(KEEP_NOTHING));
  roller.idle();
  expect(rolled.help()).toMatchObject({ remove: [{ sequence }] });
});

test("a renewal whose spare cannot be made is tried again", () => {
  rolled.append();
  rolled.roller.renew();
  rolled.help(false);
  rolled.roller.idle();
  expect([rolled.roller.isRenewing, rolled.tasks, rolled.file.sequence]).toEqual([true, [], 1]);
  expect(rolled.warnings).toHaveLength(1);
});

function nonZeroBytes(path: string): number {
  return readFileSync(path).filter((byte) => byte !== 0).length;
}
