import { copyFileSync, readdirSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ArchiveFile } from "@zooid/txn-log/archive";
import { baseOf, fileBehind, otherChainAt, rewriteFooter } from "@zooid/txn-log/testing/archive-pieces";
import { TemporaryDirectory } from "@zooid/txn-log/testing/temporary-directory";
import { afterEach, beforeEach, expect, test } from "vitest";
import { DirectoryTarget } from "../targets/directory-target.ts";
import { copyToBackup, makeSmallBackup } from "../testing/small-backup.ts";
import { verifyBackup } from "./verify-backup.ts";

let place: TemporaryDirectory;
let directory: string;
beforeEach(async () => {
  place = new TemporaryDirectory();
  directory = place.path;
  await makeSmallBackup(directory);
});
afterEach(() => place[Symbol.dispose]());

async function problems(): Promise<readonly string[]> {
  return (await verifyBackup(new DirectoryTarget(directory), join(directory, "scratch"))).problems;
}

/** All files of the backup: three of the log, and two of each base. */
function files(): readonly string[] {
  const base = readdirSync(join(directory, "base")).flatMap((zxid) => [
    `base/${zxid}/0000`,
    `base/${zxid}/manifest.json`,
  ]);
  return [...readdirSync(join(directory, "log")).map((name) => `log/${name}`), ...base];
}

test("a whole backup has no problems", async () => {
  const check = await verifyBackup(new DirectoryTarget(directory), join(directory, "scratch"));
  expect(check).toMatchObject({ baseCount: 2, fileCount: 3, problems: [], end: 2 ** 32 + 5 });
  expect(files()).toHaveLength(7);
});

test("a file with one flipped bit is named", async () => {
  for (const file of files()) {
    const path = join(directory, file);
    const bytes = readFileSync(path);
    for (let at = 0; at < bytes.length; at += Math.ceil(bytes.length / 9)) {
      const flipped = Buffer.from(bytes);
      flipped[at] = (flipped[at] ?? 0) ^ (1 << (at % 8));
      writeFileSync(path, flipped);
      const found = await problems();
      expect(
        found.some((problem) => problem.includes(file)),
        `${file}, byte ${at}: ${found.join("; ")}`,
      ).toBe(true);
    }
    writeFileSync(path, bytes);
  }
  expect(await problems()).toEqual([]);
});

test("each file that is cut is named", async () => {
  for (const file of files()) {
    const path = join(directory, file);
    const bytes = readFileSync(path);
    for (const length of [0, 1, bytes.length >> 1, bytes.length - 1]) {
      truncateSync(path, length);
      expect(
        (await problems()).some((problem) => problem.includes(file)),
        `${file} of ${length} bytes`,
      ).toBe(true);
      writeFileSync(path, bytes);
    }
  }
});

test("each file that is removed is missed, but the first and the last of the log", async () => {
  const kept = new Set([files()[0], files()[2]]);
  for (const file of files()) {
    const bytes = readFileSync(join(directory, file));
    rmSync(join(directory, file));
    const found = await problems();
    const [, missed = file] = /^log\/0*([0-9a-f]+)-/.exec(file) ?? [];
    if (!kept.has(file))
      expect(
        found.some((problem) => problem.includes(missed)),
        `${file}: ${found}`,
      ).toBe(true);
    writeFileSync(join(directory, file), bytes);
  }
});

test("two files that changed places are named", async () => {
  const [first = "", second = "", , base1 = "", manifest1 = "", base2 = "", manifest2 = ""] = files();
  for (const [one, other] of [
    [first, second],
    [manifest1, manifest2],
  ] as const) {
    swap(one, other);
    const found = await problems();
    expect(found.filter((problem) => problem.includes(one) || problem.includes(other)).length).toBeGreaterThan(1);
    swap(one, other);
  }
  // The parts of two states may be the same.
  writeFileSync(join(directory, base2), "another state");
  copyFileSync(join(directory, base2), join(directory, base1));
  expect((await problems()).filter((problem) => problem.includes("/0000"))).toHaveLength(2);
});

function swap(one: string, other: string): void {
  const [from, to, aside] = [join(directory, one), join(directory, other), join(directory, "aside")];
  renameSync(from, aside);
  renameSync(to, from);
  renameSync(aside, to);
}

test("a base of another history than the files is named, and a file of another ensemble", async () => {
  const [first = "", , last = ""] = files();
  rewriteFooter(join(directory, first), () => ({ ensembleId: "e1" }));
  using opened = new ArchiveFile(join(directory, last));
  const { end } = opened.footer;
  const archive = join(directory, "other");
  fileBehind(archive, end, [6000]);
  await baseOf(archive, otherChainAt(end), 6500);
  copyToBackup(archive, directory);
  rewriteFooter(join(directory, last), () => ({ ensembleId: "e2" }));
  const found = await problems();
  expect(found).toHaveLength(2);
  expect(found[0]).toContain(`${last} is of ensemble e2, others of e1`);
  expect(found[1]).toContain("is of another history than the files of the log there");
});

test("files of others are named, and nothing else happens to them", async () => {
  writeFileSync(join(directory, "log/notes.txt"), "x");
  expect(await problems()).toEqual([`${directory}/log/notes.txt is no file of a backup`]);
});
