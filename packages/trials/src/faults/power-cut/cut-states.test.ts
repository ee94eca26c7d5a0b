import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { cutStates, incompleteness } from "./cut-states.ts";
import { DiskCalls, type Span } from "./disk-calls.ts";

const FILE = 3;
const FOLDER = 4;

let root: string;
let calls: DiskCalls;
let clock: bigint;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "zooid-cut-states-"));
  calls = new DiskCalls(root);
  clock = 0n;
});
afterEach(() => rmSync(root, { recursive: true }));

function tick(): Span {
  clock++;
  return { begun: clock, ended: clock };
}

function writeAt(offset: number, text: string): void {
  calls.wrote(FILE, offset, Buffer.from(text), tick());
}

/** A file with synced bytes and a synced name. */
function synced(text: string): void {
  calls.opened(join(root, "file"), FILE, tick());
  calls.opened(root, FOLDER, tick());
  writeAt(0, text);
  calls.synced(FILE, tick());
  calls.synced(FOLDER, tick());
}

/** The contents of the file after the last call, under each of its names. */
function outcomes(recentMax: number): ReadonlySet<string> {
  const states = [...cutStates(calls, { from: clock, recentMax })];
  return new Set(
    states.map(({ read }) => `${read("file")?.toString() ?? "none"} ${read("other")?.toString() ?? "none"}`),
  );
}

test("every subset of unsynced calls is kept, of writes and of a rename alike", () => {
  synced("ab");
  writeAt(0, "X");
  calls.renamed(join(root, "file"), join(root, "other"), tick());
  writeAt(1, "Y");
  const bytes = ["ab", "Xb", "aY", "XY"];
  expect(outcomes(3)).toEqual(new Set(bytes.flatMap((each) => [`${each} none`, `none ${each}`])));
});

test("calls before the last ones are kept all, by their names, by their bytes, or none", () => {
  synced("ab");
  writeAt(0, "X");
  calls.renamed(join(root, "file"), join(root, "other"), tick());
  writeAt(1, "Y");
  expect(outcomes(0)).toEqual(new Set(["none XY", "none ab", "XY none", "ab none"]));
});

test("a sync of the file keeps its bytes, and a sync of the folder its name", () => {
  synced("ab");
  writeAt(0, "X");
  calls.renamed(join(root, "file"), join(root, "other"), tick());
  calls.synced(FILE, tick());
  expect(outcomes(9)).toEqual(new Set(["Xb none", "none Xb"]));
  calls.synced(FOLDER, tick());
  expect(outcomes(9)).toEqual(new Set(["none Xb"]));
});

test("a record that lacks a call is noticed", () => {
  synced("ab");
  expect(incompleteness(calls)).toBe("file is gone, and was never removed");
  writeFileSync(join(root, "file"), "ac");
  expect(incompleteness(calls)).toBe("file holds what was never written");
  writeFileSync(join(root, "file"), "ab");
  expect(incompleteness(calls)).toBeUndefined();
  mkdirSync(join(root, "more"));
  expect(incompleteness(calls)).toBe("more is there, and was never made");
});

test("cuts are made after each n-th call alone", () => {
  synced("ab");
  for (let i = 0; i < 7; i++) writeAt(i, "X");
  const cutsOf = (cutEvery: number): readonly string[] =>
    [...cutStates(calls, { cutEvery, recentMax: 0 })].map(({ description }) => description.split(" (")[0] ?? "");
  const all = new Set(cutsOf(1));
  expect(all.size).toBeGreaterThan(7);
  expect(new Set(cutsOf(3))).toEqual(new Set([...all].filter((_, i) => (i + 1) % 3 === 0)));
});
