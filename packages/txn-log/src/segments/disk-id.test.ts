import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { newDiskId, readDiskId, writeDiskId } from "./disk-id.ts";

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "zooid-disk-id-"));
});

afterEach(() => rmSync(directory, { recursive: true }));

test("an id that was written is read, and is in one file", () => {
  const diskId = newDiskId();
  writeDiskId(directory, diskId);
  expect(readDiskId(directory)).toBe(diskId);
  expect(readdirSync(directory)).toEqual(["disk-id"]);
});

test("two directories have two ids", () => {
  expect(newDiskId()).not.toBe(newDiskId());
});

test("a directory without an id has none", () => {
  expect(readDiskId(directory)).toBeUndefined();
});

test.each([
  ["", "empty"],
  ["0123456789abcde", "cut"],
  ["0123456789ABCDEF", "in other letters"],
  ["no id at all", "text"],
])("%o, which is %s, is no id", (text) => {
  writeFileSync(join(directory, "disk-id"), text);
  expect(readDiskId(directory)).toBeUndefined();
});
