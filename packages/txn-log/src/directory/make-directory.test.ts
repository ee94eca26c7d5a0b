import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { makeDirectory } from "./make-directory.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "make-directory-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

test("missing directories are made from the outermost on, with the mode", () => {
  const [a, b, c] = [join(directory, "a"), join(directory, "a/b"), join(directory, "a/b/c")];
  expect(makeDirectory(c, 0o700)).toEqual([a, b, c]);
  expect(statSync(c).mode & 0o777).toBe(0o700);
  expect(makeDirectory(c)).toEqual([]);
});

test("a file in the path is the system's error", () => {
  const file = join(directory, "file");
  writeFileSync(file, "");
  expect(() => makeDirectory(join(file, "a"))).toThrow(/ENOTDIR/);
});

test.runIf(existsSync("/proc/self"))(
  "a directory that the system refuses to make is an error, not an endless loop",
  () => {
    expect(() => makeDirectory("/proc/zooid/data")).toThrow(/ENOENT/);
  },
);
