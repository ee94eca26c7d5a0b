import { readFileSync, rmSync, truncateSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { listArchive } from "../archive/archive-folder.ts";
import { StoreError } from "../store/store-error.ts";
import { ARCHIVE_START, fileBehind } from "../testing/archive-pieces.ts";
import { TemporaryDirectory } from "../testing/temporary-directory.ts";
import { TimesOfFiles } from "./times-of-files.ts";

let place: TemporaryDirectory;
beforeEach(() => {
  place = new TemporaryDirectory();
});
afterEach(() => place[Symbol.dispose]());

const list = () => listArchive(join(place.path, "log"));

function shown(times: TimesOfFiles): readonly unknown[] {
  return times.of(list()).map((file) => (file.times instanceof StoreError ? "damaged" : file.times.firstMs));
}

test("the times of a file that was written again under its name are read again", () => {
  fileBehind(place.path, ARCHIVE_START, [1000]);
  const times = new TimesOfFiles();
  expect(shown(times)).toEqual([1000]);
  fileBehind(place.path, ARCHIVE_START, [2000]);
  for (const { file } of list()) utimesSync(file, 1, 1);
  expect(shown(times)).toEqual([2000]);
});

test("a damaged file is read again until it is whole, and one that is gone is forgotten", () => {
  fileBehind(place.path, ARCHIVE_START, [1000]);
  const [file = expect.unreachable("there is one")] = list();
  const bytes = readFileSync(file.file);
  truncateSync(file.file, 30);
  const times = new TimesOfFiles();
  expect(shown(times)).toEqual(["damaged"]);
  writeFileSync(file.file, bytes);
  expect(shown(times)).toEqual([1000]);
  const listed = list();
  rmSync(file.file);
  // The times that are known need no file.
  expect(times.of(listed)[0]?.times).toMatchObject({ firstMs: 1000 });
  times.retain([]);
  expect(times.of(listed.slice(1))).toEqual([]);
  expect(() => times.of(listed)).toThrow(/ENOENT/);
});
