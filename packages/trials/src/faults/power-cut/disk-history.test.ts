import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Random } from "@zooid/conformance/internal/random";
import { afterEach, beforeEach, expect, test } from "vitest";
import { DiskHistory } from "./disk-history.ts";

const KIND = { opened: 2, wrote: 4, resized: 5, synced: 6, renamed: 7 } as const;
const ROOT = "/data";
const FILE = 3;
const FOLDER = 4;

let folder: string;
let clock: bigint;
let log: Buffer[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "disk-history-"));
  clock = 0n;
  log = [];
});
afterEach(() => rmSync(folder, { recursive: true }));

interface Fields {
  readonly fd?: number;
  readonly offset?: number;
  readonly path?: string;
  readonly bytes?: string;
}

/**
 * Appends a record that takes from one tick of the clock to the next, and returns when it ended.
 */
function did(kind: keyof typeof KIND, { fd = FILE, offset = 0, path = "", bytes = "" }: Fields = {}): bigint {
  const head = Buffer.alloc(44);
  head.writeUInt32LE(40 + path.length + bytes.length, 0);
  head.writeUInt8(KIND[kind], 4);
  head.writeUInt8(1, 5);
  head.writeInt32LE(fd, 8);
  head.writeBigInt64LE(BigInt(offset), 12);
  head.writeBigUInt64LE(++clock, 20);
  head.writeBigUInt64LE(++clock, 28);
  head.writeUInt32LE(path.length, 36);
  head.writeUInt32LE(bytes.length, 40);
  log.push(head, Buffer.from(path), Buffer.from(bytes));
  return clock;
}

/**
 * The contents of a file on every disk that a cut at a moment may leave; "missing" where it has no
 * name.
 */
function outcomes(moment: bigint, name = "file"): ReadonlySet<string> {
  writeFileSync(join(folder, "record"), Buffer.concat(log));
  const history = new DiskHistory(join(folder, "record"), ROOT);
  const seen = new Set<string>();
  for (let seed = 0; seed < 60; seed++) {
    const image = mkdtempSync(join(folder, "image-"));
    history.restore(image, { moment, random: new Random(seed) });
    const file = join(image, name);
    seen.add(existsSync(file) ? readFileSync(file, "latin1").replaceAll("\0", ".") : "missing");
  }
  return seen;
}

function openAndSyncNames(): void {
  did("opened", { path: `${ROOT}/file` });
  did("opened", { fd: FOLDER, path: ROOT });
  did("synced", { fd: FOLDER });
}

test("what was synced is always there", () => {
  openAndSyncNames();
  did("wrote", { bytes: "old" });
  const synced = did("synced");
  expect(outcomes(synced)).toEqual(new Set(["old"]));
});

test("what was not synced may be there or not, in any combination", () => {
  openAndSyncNames();
  did("wrote", { bytes: "ab" });
  did("synced");
  did("wrote", { bytes: "X" });
  const written = did("wrote", { offset: 1, bytes: "Y" });
  expect(outcomes(written)).toEqual(new Set(["ab", "Xb", "aY", "XY"]));
});

test("a sync covers nothing before it has ended", () => {
  openAndSyncNames();
  did("wrote", { bytes: "ab" });
  const synced = did("synced");
  expect(outcomes(synced - 1n)).toEqual(new Set(["", "ab"]));
});

test("a long write may be torn between blocks", () => {
  openAndSyncNames();
  const written = did("wrote", { bytes: `${"a".repeat(512)}${"b".repeat(512)}` });
  const seen = outcomes(written);
  expect(seen).toContain("a".repeat(512));
  expect(seen).toContain(`${".".repeat(512)}${"b".repeat(512)}`);
});

test("a name lasts only once its folder was synced", () => {
  did("opened", { path: `${ROOT}/file` });
  did("wrote", { bytes: "a" });
  const synced = did("synced");
  expect(outcomes(synced)).toEqual(new Set(["missing", "a"]));
});

test("a rename that was not synced leaves the file under one of its names", () => {
  openAndSyncNames();
  did("wrote", { bytes: "a" });
  did("synced");
  const renamed = did("renamed", { path: `${ROOT}/file`, bytes: `${ROOT}/other` });
  expect(outcomes(renamed)).toEqual(new Set(["missing", "a"]));
  expect(outcomes(renamed, "other")).toEqual(new Set(["missing", "a"]));
});
