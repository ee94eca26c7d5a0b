import Sqlite from "better-sqlite3";
import { expect, test } from "vitest";
import { newFullError, newSyncError, storeErrorOf } from "../disk/database.ts";
import { StoreError } from "../store/store-error.ts";
import { MissingRoom } from "./missing-room.ts";

const NOT_OPENED = new Sqlite.SqliteError("unable to open database file", "SQLITE_CANTOPEN");

/** Each probe of the directory takes the next answer; after the last one there is no room. */
function probed(...answers: readonly boolean[]): MissingRoom {
  const rest = [...answers];
  return new MissingRoom(() => rest.shift() ?? false);
}

test("a full disk is always waited for", () => {
  const room = probed();
  for (let i = 0; i < 10; i++) expect(room.mayExplain(newFullError())).toBe(true);
});

test("a failed sync is not", () => {
  expect(probed(false).mayExplain(newSyncError())).toBe(false);
});

test.each([
  ["opened", NOT_OPENED],
  ["shortened", new Sqlite.SqliteError("disk I/O error", "SQLITE_IOERR_TRUNCATE")],
  ["opened by another thread", new StoreError(storeErrorOf(NOT_OPENED, "f").detail)],
])("a file that cannot be %s is waited for as long as the directory takes no file", (_, error) => {
  const room = probed();
  for (let i = 0; i < 10; i++) expect(room.mayExplain(error)).toBe(true);
});

test("room that comes between the failure and the probe ends nothing", () => {
  const room = probed(false, false, true);
  expect([1, 2, 3].map(() => room.mayExplain(NOT_OPENED))).toEqual([true, true, true]);
});

test("a file that cannot be opened for another reason is an error at the third try in a row", () => {
  const room = probed(true, true, false, true, true, true);
  expect([1, 2, 3, 4, 5, 6].map(() => room.mayExplain(NOT_OPENED))).toEqual([true, true, true, true, true, false]);
});

test("a try that succeeds starts the count again", () => {
  const room = probed(true, true, true, true);
  expect([room.mayExplain(NOT_OPENED), room.mayExplain(NOT_OPENED)]).toEqual([true, true]);
  room.clear();
  expect([room.mayExplain(NOT_OPENED), room.mayExplain(NOT_OPENED)]).toEqual([true, true]);
});
