import { rmSync, truncateSync } from "node:fs";
import { join } from "node:path";
import type { Zxid } from "@zooid/model";
import { TxnReader } from "@zooid/wire/txn";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { listArchive } from "../archive/archive-folder.ts";
import { StoreError } from "../store/store-error.ts";
import { Z } from "../testing/append-batches.ts";
import { ARCHIVE_START, fileBehind } from "../testing/archive-pieces.ts";
import { TemporaryDirectory } from "../testing/temporary-directory.ts";
import { placeOfTime, type TimePlace, timedFiles } from "./time-places.ts";

const STEP_MS = 100;
const RUNS = 20;

let folder: TemporaryDirectory;
beforeAll(() => {
  folder = new TemporaryDirectory();
});
afterAll(() => folder[Symbol.dispose]());

let archives = 0;

/** Files of transactions with these times. @returns the folder of the log */
function makeLog(files: readonly (readonly number[])[]): string {
  const archive = join(folder.path, String(++archives));
  let end = ARCHIVE_START;
  for (const times of files) end = fileBehind(archive, end, times);
  return join(archive, "log");
}

type Found = TimePlace | { readonly kind: "damaged"; readonly file: string };

function find(log: string, askedMs: number): Found {
  try {
    return placeOfTime(timedFiles(listArchive(log)), askedMs, new TxnReader());
  } catch (error) {
    if (error instanceof StoreError && error.detail.code === "DAMAGED")
      return { kind: "damaged", file: error.detail.file };
    throw error;
  }
}

/** The same, by looking at each transaction. */
function expected(times: readonly number[], askedMs: number): TimePlace {
  const later = times.findIndex((ms) => ms > askedMs);
  const last = times.findLastIndex((ms) => ms <= askedMs) + 1;
  const first = later === -1 ? times.length : later;
  const newestMs = Math.max(...times);
  if (newestMs < askedMs) return { kind: "behind", askedMs, zxid: Z(1, times.length), timeMs: newestMs };
  if (last > first && first > 0) return { kind: "twice", askedMs, first: Z(1, first), last: Z(1, last) };
  return { kind: "zxid", zxid: Z(1, first), unread: [] };
}

/** Steps of a clock that goes back sometimes. */
const FILES = fc.array(fc.array(fc.constantFrom(0, 1, 1, 2, 3, -4), { minLength: 1, maxLength: 5 }), {
  minLength: 1,
  maxLength: 6,
});

function timesOf(steps: readonly (readonly number[])[]): readonly (readonly number[])[] {
  let ms = 50 * STEP_MS;
  return steps.map((file) =>
    file.map((step) => {
      ms = Math.max(STEP_MS, ms + step * STEP_MS);
      return ms;
    }),
  );
}

test("a time stands for the transaction that a look at each one finds", () => {
  fc.assert(
    fc.property(FILES, (steps) => {
      const files = timesOf(steps);
      const log = makeLog(files);
      const times = files.flat();
      for (const askedMs of [...times, ...times.map((ms) => ms + 1)]) {
        const place = expected(times, askedMs);
        const found = find(log, askedMs);
        if (times.every((ms) => ms > askedMs) || place.kind !== "zxid") expect(found.kind).not.toBe("zxid");
        if (place.kind !== "zxid" || place.zxid > Z(1, 0)) expect(found).toEqual(place);
      }
    }),
    { numRuns: RUNS },
  );
});

test.each(["damaged", "removed"])("a file that is %s hinders no time but those that it may have", (how) => {
  fc.assert(
    fc.property(FILES, fc.nat(), (steps, choice) => {
      const files = timesOf(steps);
      const log = makeLog(files);
      const listed = listArchive(log);
      const damaged = listed[choice % listed.length] ?? expect.unreachable("there is a file");
      const asked = files.flat().flatMap((ms) => [ms, ms + 1]);
      const before = asked.map((askedMs) => find(log, askedMs));
      if (how === "damaged") truncateSync(damaged.file, 30);
      else rmSync(damaged.file);
      for (const [i, askedMs] of asked.entries()) {
        const [whole, found] = [before[i], find(log, askedMs)];
        const place = placeIn(whole);
        if (place !== undefined && place >= damaged.after && place <= damaged.end) {
          if (found.kind === "damaged") expect(found.file).toBe(damaged.file);
          continue;
        }
        expect(placeIn(found)).toBe(place);
        // Where the clock went back in it, that is not seen, as the page for operators says. Nor is
        // a time behind all others.
        if (whole?.kind !== "twice" && place !== listed.at(-1)?.end) expect(found.kind).toBe(whole?.kind);
        if (found.kind === "zxid") expect(found.unread).toHaveLength(how === "damaged" ? 1 : 0);
      }
    }),
    { numRuns: RUNS },
  );
});

function placeIn(place: Found | undefined): Zxid | undefined {
  switch (place?.kind) {
    case "zxid":
    case "before":
    case "behind":
      return place.zxid;
    case "twice":
      return place.first;
    default:
      return undefined;
  }
}

test("a time in a gap is refused with the gap, and others are not", () => {
  const log = makeLog([[1000], [2000], [3000], [4000]]);
  rmSync(listArchive(log)[1]?.file ?? "");
  const gap = { kind: "gap", after: Z(1, 1), end: Z(1, 2) };
  for (const askedMs of [1000, 2000, 2999]) expect(find(log, askedMs)).toEqual({ ...gap, askedMs });
  expect([3000, 4000].map((ms) => placeIn(find(log, ms)))).toEqual([Z(1, 3), Z(1, 4)]);
  expect(find(log, 999)).toEqual({ kind: "before", askedMs: 999, zxid: Z(0, 0), timeMs: 1000 });
});
