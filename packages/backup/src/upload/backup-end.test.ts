import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { counterOf } from "@zooid/model";
import { StoreError } from "@zooid/txn-log";
import { rewriteFooter } from "@zooid/txn-log/testing/archive-pieces";
import { TemporaryDirectory } from "@zooid/txn-log/testing/temporary-directory";
import { afterEach, beforeEach, expect, test } from "vitest";
import { BackupError } from "../backup-error.ts";
import { listBackup } from "../contents/backup-listing.ts";
import type { BackupTarget } from "../targets/backup-target.ts";
import { DirectoryTarget } from "../targets/directory-target.ts";
import { makeSmallBackup } from "../testing/small-backup.ts";
import { passing, readBackupEnd } from "./backup-end.ts";

/** Files up to 2, 4 and 5, and bases at 2 and 4. */
let place: TemporaryDirectory;
let target: BackupTarget;
beforeEach(async () => {
  place = new TemporaryDirectory();
  target = new DirectoryTarget(place.path);
  await makeSmallBackup(place.path);
});
afterEach(() => place[Symbol.dispose]());

const files = (): readonly string[] =>
  readdirSync(join(place.path, "log"))
    .sort()
    .map((name) => join(place.path, "log", name));
const manifests = (): readonly string[] =>
  readdirSync(join(place.path, "base"))
    .sort()
    .map((name) => join(place.path, "base", name, "manifest.json"));

async function ended(ensembleId = "") {
  const damaged: StoreError[] = [];
  const { end, base, bases, takenMs, endEnsembleId } = await readBackupEnd(
    target,
    await listBackup(target),
    ensembleId,
    (error) => damaged.push(error),
  );
  return {
    end: end && counterOf(end.zxid),
    base: base && counterOf(base.zxid),
    bases: bases.map(({ zxid }) => counterOf(zxid)),
    takenMs: [...takenMs].map(([zxid, ms]) => [counterOf(zxid as never), ms]),
    endEnsembleId,
    damaged: damaged.length,
  };
}

const WHOLE = {
  end: 5,
  base: 4,
  bases: [2, 4],
  takenMs: [
    [2, 2500],
    [4, 4500],
  ],
  endEnsembleId: "",
  damaged: 0,
};

function spoil(file: string | undefined): void {
  const bytes = readFileSync(file ?? "");
  bytes[bytes.length - 3] = (bytes[bytes.length - 3] ?? 0) ^ 1;
  writeFileSync(file ?? "", bytes);
}

test("the end is that of the newest file, and each base has its place and its time", async () => {
  expect(await ended()).toEqual(WHOLE);
});

test("files at the end that are damaged are passed over, and those before the newest whole one are not read", async () => {
  spoil(files()[0]);
  expect(await ended()).toEqual(WHOLE);
  spoil(files()[2]);
  expect(await ended()).toEqual({ ...WHOLE, end: 4, damaged: 1 });
  spoil(files()[1]);
  expect(await ended()).toEqual({ ...WHOLE, end: undefined, damaged: 3 });
});

test("bases that are damaged are passed over", async () => {
  spoil(manifests()[1]);
  expect(await ended()).toEqual({ ...WHOLE, base: 2, bases: [2], takenMs: [[2, 2500]], damaged: 1 });
  spoil(manifests()[0]);
  expect(await ended()).toEqual({ ...WHOLE, base: undefined, bases: [], takenMs: [], damaged: 2 });
});

test("an empty backup has no end", async () => {
  for (const folder of ["log", "base"]) rmSync(join(place.path, folder), { recursive: true });
  expect(await ended("abc")).toEqual({ ...WHOLE, end: undefined, base: undefined, bases: [], takenMs: [] });
});

test.each([
  ["", "", undefined],
  ["", "abc", undefined],
  ["abc", "abc", undefined],
  ["abc", "def", { expected: "ensemble def", found: "ensemble abc" }],
  ["abc", "", { expected: "a server alone", found: "ensemble abc" }],
  ["ab\u001b[c", "", { expected: "a server alone", found: "ensemble ab?[c" }],
])("a file of the ensemble %j may be continued by %j", async (found, own, foreign) => {
  rewriteFooter(files()[2] ?? "", () => ({ ensembleId: found }));
  if (foreign === undefined) {
    expect(await ended(own)).toEqual({ ...WHOLE, endEnsembleId: found });
  } else {
    const error = await ended(own).catch((cause: unknown) => cause);
    expect(error).toBeInstanceOf(BackupError);
    expect(error).toMatchObject({ detail: { code: "FOREIGN", ...foreign } });
  }
});

test("what is damage is passed over, and nothing else", async () => {
  const found: unknown[] = [];
  const damage = new StoreError({ code: "DAMAGED", file: "f", place: "p", found: "x" });
  const others = [
    new StoreError({ code: "CLOSED" }),
    new BackupError({ code: "FULL", target: "t", reason: "r" }),
    new Error("x"),
  ];
  expect(
    await passing(
      async () => 7,
      (error) => found.push(error),
    ),
  ).toBe(7);
  expect(
    await passing(
      () => Promise.reject(damage),
      (error) => found.push(error),
    ),
  ).toBeUndefined();
  expect(found).toEqual([damage]);
  for (const error of others) {
    await expect(
      passing(
        () => Promise.reject(error),
        (one) => found.push(one),
      ),
    ).rejects.toBe(error);
  }
  expect(found).toHaveLength(1);
});
