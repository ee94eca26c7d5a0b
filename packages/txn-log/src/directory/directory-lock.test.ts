import { readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { TemporaryDirectory } from "../testing/temporary-directory.ts";
import { DirectoryLock } from "./directory-lock.ts";

test("a lock that cannot be signed is free again", () => {
  using place = new TemporaryDirectory();
  symlinkSync("missing/file", join(place.path, "zooid.pid"));
  expect(() => new DirectoryLock(place.path)).toThrow(expect.objectContaining({ code: "ENOENT" }));
  expect(readdirSync(place.path)).toEqual([]);
  using _lock = new DirectoryLock(place.path);
  expect(() => new DirectoryLock(place.path)).toThrow(expect.objectContaining({ code: "LOCKED" }));
});
