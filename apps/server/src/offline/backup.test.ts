import { mkdirSync, mkdtempSync, readdirSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BackupError } from "@zooid/backup";
import { makeSmallBackup } from "@zooid/backup/testing/small-backup";
import { ConfigError, OfflineError } from "@zooid/embedded-server";
import { afterEach, beforeEach, expect, test } from "vitest";
import { exitStatusOf } from "../process/exit-status.ts";
import { backup } from "./backup.ts";
import { parseOfflineCommand } from "./offline-command.ts";

let folder = "";
let target = "";
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "zooid-backup-"));
  target = join(folder, "backup");
  mkdirSync(target);
  await makeSmallBackup(target);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** The printed lines, and whether nothing is wrong. */
async function run(...argv: readonly string[]): Promise<readonly (string | boolean)[]> {
  const lines: string[] = [];
  const isWell = await runInto(lines, argv);
  return [...lines, isWell];
}

/** The printed lines, and the status and the sentence of the failure. */
async function failed(...argv: readonly string[]): Promise<readonly unknown[]> {
  const lines: string[] = [];
  return await runInto(lines, argv).then(
    () => expect.unreachable("it fails"),
    (error: Error) => [...lines, exitStatusOf(error), error.message],
  );
}

function runInto(lines: string[], argv: readonly string[]): Promise<boolean> {
  const command = parseOfflineCommand(["backup", ...argv], () => expect.unreachable());
  if (command?.kind !== "backup") expect.unreachable("it is a command for a backup");
  return backup(command, { print: (line) => lines.push(line), warn: (line) => lines.push(line) });
}

test("a list has bases, the range of the log, and what is no whole base", async () => {
  mkdirSync(join(target, "base/0000000200000000"));
  writeFileSync(join(target, "base/0000000200000000/0000"), "x");
  expect(await run("list", target)).toEqual([
    "base  0x100000002  taken 1970-01-01T00:00:02.500Z  4 znodes, 0.0 MiB",
    "base  0x100000004  taken 1970-01-01T00:00:04.500Z  4 znodes, 0.0 MiB",
    "log   after 0x0 up to 0x100000005, until 1970-01-01T00:00:05.000Z: 3 files, 0.0 MiB",
    "part  of a base at 0x200000000, without its manifest",
    true,
  ]);
});

test("a list names gaps, and a backup without a base", async () => {
  const [, second = ""] = readdirSync(join(target, "log"));
  rmSync(join(target, "log", second));
  rmSync(join(target, "base"), { recursive: true });
  expect(await failed("list", target)).toEqual([
    expect.stringMatching(/^log {3}after 0x0 up to 0x100000005, .*: 2 files/),
    "gap   after 0x100000002 up to 0x100000004",
    6,
    `${target} has no base: nothing can be restored`,
  ]);
  rmSync(join(target, "log"), { recursive: true });
  expect(await failed("list", target)).toEqual([6, `${target} has no base: nothing can be restored`]);
});

test("a check of a whole backup says how far it goes", async () => {
  expect(await run("verify", target)).toEqual([
    "read 2 bases and 3 files of the log, 0.0 MiB, with 0 problems; the newest state is at 0x100000005",
    true,
  ]);
});

test("a check names what is damaged", async () => {
  const [first = ""] = readdirSync(join(target, "log"));
  truncateSync(join(target, "log", first), 30);
  expect(await run("verify", target)).toEqual([
    `${target}/log/${first} is damaged at its first bytes: a file of 30 bytes`,
    "read 2 bases and 3 files of the log, 0.0 MiB, with 1 problem; the newest state is at 0x100000005",
    false,
  ]);
});

test("a prune removes what no state from a time on needs, and its plan names it", async () => {
  const time = "1970-01-01T00:00:04.600Z";
  const plan = await run("prune", target, "--before", time, "--plan");
  expect(plan.slice(0, -2)).toEqual([
    "base/0000000100000002/manifest.json",
    "base/0000000100000002/0000",
    ...readdirSync(join(target, "log"))
      .slice(0, 2)
      .map((name) => `log/${name}`),
  ]);
  expect(plan.at(-2)).toBe("4 objects would be removed; the first state is at 0x100000004");
  expect(readdirSync(join(target, "log"))).toHaveLength(3);
  expect(await run("prune", target, "--before", time)).toEqual([
    "4 objects removed; the first state is at 0x100000004",
    true,
  ]);
  expect([readdirSync(join(target, "base")), readdirSync(join(target, "log")).length]).toEqual([
    ["0000000100000004"],
    1,
  ]);
  expect((await run("verify", target)).at(-1)).toBe(true);
});

test("a prune before the first base removes nothing", async () => {
  await expect(run("prune", target, "--before", "1970-01-01T00:00:01Z")).rejects.toThrow(OfflineError);
});

test("a target that is not there is named", async () => {
  const missing = join(folder, "none");
  for (const act of ["list", "verify"]) await expect(run(act, missing)).rejects.toThrow(BackupError);
});

test.each<readonly [problem: RegExp, argv: readonly string[]]>([
  [/takes list, verify or prune, and a target: .*found none$/, []],
  [/found show, \/t$/, ["show", "/t"]],
  [/found list, \/t, \/u$/, ["list", "/t", "/u"]],
  [/prune takes --before TIME/, ["prune", "/t"]],
  [/--before takes a time, found 0x5/, ["prune", "/t", "--before", "0x5"]],
  [/--before and --plan go with prune/, ["verify", "/t", "--plan"]],
  [/--endpoint, --region and --credentials are for a target like s3/, ["list", "/t", "--region", "r"]],
  [/the bucket in "s3:\/\/X" is no bucket's name/, ["list", "s3://X"]],
  [/a target is a directory or s3/, ["list", "gs://x/y"]],
  [/unknown option --fore/, ["list", "/t", "--fore"]],
])("%s", async (problem, argv) => {
  const refused = run(...argv);
  await expect(refused).rejects.toThrow(ConfigError);
  await expect(refused).rejects.toThrow(problem);
});

test("a key that cannot be read is named, and never shown", async () => {
  const key = join(folder, "key");
  await expect(run("list", "s3://bucket", "--credentials", key)).rejects.toThrow(`${key} cannot be read: ENOENT`);
  writeFileSync(key, "secretAccessKey=canary");
  const refused = run("list", "s3://bucket", "--credentials", key);
  await expect(refused).rejects.toThrow(`${key} has no key for s3://bucket: there is no access key id`);
});
