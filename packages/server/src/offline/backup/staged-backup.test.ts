import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { BackupError, type BackupTarget, openTarget } from "@zooid/backup";
import { makeSmallBackup } from "@zooid/backup/testing/small-backup";
import { composeZxid, counterOf } from "@zooid/model";
import { StoreError } from "@zooid/txn-log";
import { TemporaryDirectory } from "@zooid/txn-log/testing/temporary-directory";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { RestoreTarget } from "../restore-plan.ts";
import { type StageOptions, withStagedBackup } from "./staged-backup.ts";

/** Files up to 2, 4 and 5, and bases at 2 and 4. */
let place: TemporaryDirectory;
let directory: string;
let target: BackupTarget;
let objects: readonly string[];
beforeEach(async () => {
  place = new TemporaryDirectory();
  directory = join(place.path, "backup");
  await makeSmallBackup(directory);
  rmSync(join(directory, "archive-of-server"), { recursive: true });
  target = openTarget({ target: directory });
  objects = readdirSync(directory, { recursive: true, encoding: "utf8" }).sort();
});
afterEach(() => place[Symbol.dispose]());

const at = (counter: number): RestoreTarget => ({ zxid: composeZxid(1, counter) });

/** The object of a name such as `file 2`, `base 1` or `manifest 1`. */
function objectOf(name: string): string {
  const [kind, number] = name.split(" ");
  const ends = kind === "file" ? /^log\/[^/]+$/ : kind === "base" ? /\/0000$/ : /\/manifest\.json$/;
  const found = objects.filter((each) => ends.test(each))[Number(number) - 1];
  if (found === undefined) throw new Error(`there is no ${name} in ${objects.join(", ")}`);
  return found;
}

/** Flips a bit of an object; `no file 2` removes it. */
function damage(fault: string): void {
  const file = join(directory, objectOf(fault.replace("no ", "")));
  if (fault.startsWith("no ")) return rmSync(file);
  const bytes = readFileSync(file);
  bytes[3] = (bytes[3] ?? 0) ^ 1;
  writeFileSync(file, bytes);
}

interface Staged {
  /** The last transaction, the base, and the files of the log that are used. */
  readonly plan: readonly [zxid: number, base: number, files: number];
  readonly warnings: number;
}

/** The staged files; nothing is left behind. */
async function stage(
  moment?: RestoreTarget,
  options: Partial<StageOptions> = {},
  from: BackupTarget = target,
): Promise<Staged> {
  const warnings: string[] = [];
  const dataDir = join(place.path, "new", "data");
  try {
    const plan = await withStagedBackup(
      { target: from, moment, directories: { dataDir }, warn: (text) => warnings.push(text), ...options },
      async ({ zxid, base, files }) => {
        for (const { file } of files) expect(existsSync(file)).toBe(true);
        return [counterOf(zxid), counterOf(base.zxid), files.length] as const;
      },
    );
    return { plan, warnings: warnings.length };
  } finally {
    expect(readdirSync(place.path, { recursive: true }).filter((name) => String(name).includes("fetched"))).toEqual([]);
  }
}

const rows: readonly (readonly [moment: number | undefined, faults: readonly string[], expected: Staged | string])[] = [
  [undefined, [], { plan: [5, 4, 1], warnings: 0 }],
  [5, [], { plan: [5, 4, 1], warnings: 0 }],
  [4, [], { plan: [4, 4, 0], warnings: 0 }],
  [3, [], { plan: [3, 2, 1], warnings: 0 }],
  [2, [], { plan: [2, 2, 0], warnings: 0 }],
  // Nothing that is not needed is read.
  [undefined, ["file 1", "file 2", "base 1", "manifest 1"], { plan: [5, 4, 1], warnings: 0 }],
  [3, ["file 1", "file 3", "base 2", "manifest 2"], { plan: [3, 2, 1], warnings: 0 }],
  [4, ["file 3"], { plan: [4, 4, 0], warnings: 0 }],
  // An older base and more files stand in for a damaged one.
  [undefined, ["base 2"], { plan: [5, 2, 2], warnings: 1 }],
  [undefined, ["manifest 2"], { plan: [5, 2, 2], warnings: 1 }],
  [4, ["base 2"], { plan: [4, 2, 1], warnings: 1 }],
  // Nothing stands in for a file: no state of less is made instead.
  [undefined, ["file 3"], "file 3"],
  [5, ["file 3"], "file 3"],
  [3, ["file 2"], "file 2"],
  [undefined, ["base 2", "file 2"], "base 2"],
  [undefined, ["base 2", "file 3"], "base 2"],
  [undefined, ["base 2", "no file 2"], "base 2"],
  [undefined, ["manifest 2", "no file 2"], "manifest 2"],
  [4, ["base 2", "base 1"], "base 1"],
  [2, ["base 1"], "base 1"],
  [2, ["manifest 1"], "manifest 1"],
];

test.each(rows)("moment %s with damage of %j", async (moment, faults, expected) => {
  for (const name of faults) damage(name);
  const staged = stage(moment === undefined ? undefined : at(moment));
  if (typeof expected !== "string") {
    expect(await staged).toEqual(expected);
    return;
  }
  const error = await staged.then(
    () => undefined,
    (cause: unknown) => cause,
  );
  expect(error).toBeInstanceOf(StoreError);
  expect(error).toMatchObject({ code: "DAMAGED", detail: { file: join(directory, objectOf(expected)) } });
});

/** The target, whose reads of one object fail. */
function failingAt(name: string, error: Error): BackupTarget {
  const place = objectOf(name);
  return {
    name: target.name,
    get: (object, bytesMax) => (object === place ? Promise.reject(error) : target.get(object, bytesMax)),
    tail: (object, bytesMax) => (object === place ? Promise.reject(error) : target.tail(object, bytesMax)),
    list: (prefix) => target.list(prefix),
    put: () => Promise.reject(new Error("nothing is written")),
    remove: () => Promise.reject(new Error("nothing is removed")),
  };
}

test.each(["file 3", "base 2", "manifest 2"])(
  "a failure that is no damage ends it, whatever stands in for %s",
  async (name) => {
    for (const error of [
      new BackupError({ code: "UNREACHABLE", target: "it", reason: "no answer" }),
      new StoreError({ code: "NEWER_FORMAT", file: "it", found: 9, known: 1 }),
    ]) {
      await expect(stage(undefined, {}, failingAt(name, error))).rejects.toBe(error);
    }
  },
);

test.each([
  [
    undefined,
    /has no transactions after 0x100000002 and up to 0x100000004.*--to 0x100000002 takes the last one before/,
  ],
  [5, /from its base at 0x100000002 up to 0x100000002, and not up to 0x100000005: there is a gap behind it/],
])("moment %s behind a gap is refused, with what can be restored", async (moment, sentence) => {
  for (const fault of ["no base 2", "no manifest 2", "no file 2"]) damage(fault);
  await expect(stage(moment === undefined ? undefined : at(moment))).rejects.toThrow(sentence);
  expect((await stage(at(2))).plan).toEqual([2, 2, 0]);
});

test("a target that is gone, one without a base, and a moment before the first base are named", async () => {
  await expect(stage(at(1))).rejects.toThrow(/lies before .*, the first state in .*backup/);
  await expect(stage(at(6))).rejects.toThrow(/not up to .*: nothing follows it/);
  rmSync(join(directory, "base"), { recursive: true });
  await expect(stage()).rejects.toMatchObject({ code: "NO_BACKUP" });
  rmSync(directory, { recursive: true });
  await expect(stage()).rejects.toMatchObject({ code: "NO_TARGET" });
});

test("the bytes that were fetched rise to all of them, also where a damaged base is among them", async () => {
  for (const fault of [undefined, "base 2"]) {
    if (fault !== undefined) damage(fault);
    const steps: (readonly [done: number, all: number])[] = [];
    await stage(undefined, { progress: (done, all) => steps.push([done, all]) });
    expect(steps.map(([done]) => done)).toEqual(steps.map(([done]) => done).toSorted((a, b) => a - b));
    expect(steps.at(0)?.[0]).toBeLessThan(steps.at(-1)?.[0] ?? 0);
    expect(new Set(steps.map(([, all]) => all)).size).toBe(1);
    expect(steps.at(-1)?.[0]).toBe(steps.at(-1)?.[1]);
  }
});

test("a signal that was aborted ends it before the next file, and before the copy is used", async () => {
  const signal = AbortSignal.abort(new Error("stopped"));
  const unread = failingAt("file 3", new Error("it is read"));
  await expect(stage(undefined, { signal }, unread)).rejects.toThrow("stopped");
  // No file of the log is needed.
  await expect(stage(at(4), { signal })).rejects.toThrow("stopped");
  const controller = new AbortController();
  const warnings: string[] = [];
  const late = { signal: controller.signal, progress: () => controller.abort(new Error("stopped later")) };
  await expect(stage(undefined, { ...late, warn: (text) => warnings.push(text) })).rejects.toThrow("stopped later");
  expect([warnings, existsSync(join(place.path, "new"))]).toEqual([[], false]);
});

test("an error about the copy is one about the backup, and the folders that were made go", async () => {
  const dataDir = join(place.path, "some", "new", "data");
  const options = { target, moment: undefined, directories: { dataDir }, warn: () => {} };
  const used = withStagedBackup(options, async ({ base }) => {
    expect(dirname(base.folder).startsWith(dirname(dataDir))).toBe(true);
    throw new StoreError({ code: "DAMAGED", file: join(base.folder, "0000"), place: "a chunk", found: "another" });
  });
  await expect(used).rejects.toMatchObject({ detail: { file: join(directory, objectOf("base 2")) } });
  expect(existsSync(join(place.path, "some"))).toBe(false);
  const other = new RangeError("it is the caller's");
  await expect(withStagedBackup(options, () => Promise.reject(other))).rejects.toBe(other);
});
