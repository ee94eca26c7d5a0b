import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeSmallBackup } from "@zooid/backup/testing/small-backup";
import { afterEach, beforeEach, expect, test } from "vitest";
import { exitStatusOf } from "../process/exit-status.ts";
import { exportData } from "./export.ts";
import { parseOfflineCommand } from "./offline-command.ts";
import { restore } from "./restore.ts";
import { sourceArchive } from "./source-directory.ts";

let folder = "";
let target = "";
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "zooid-source-"));
  target = join(folder, "backup");
  mkdirSync(target);
  await makeSmallBackup(target);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** The status and the sentence of a command that fails. */
async function failureOf(...argv: readonly string[]): Promise<readonly unknown[]> {
  const command = parseOfflineCommand(argv, () => expect.unreachable());
  const output = { print: () => {}, warn: () => {} };
  try {
    if (command?.kind === "restore") await restore(command, output);
    else if (command?.kind === "export") await exportData(command, output);
    return [0];
  } catch (error) {
    return [exitStatusOf(error), error instanceof Error ? error.message : error];
  }
}

test("a source that does not exist is named as in other commands of a backup", async () => {
  const none = join(folder, "none");
  const missing = [4, `${none} does not exist: no directory is there`];
  expect(await failureOf("restore", "--from", none, "--data", join(folder, "new"))).toEqual(missing);
  expect(await failureOf("restore", "--from", none, "--plan")).toEqual(missing);
  expect(await failureOf("export", "--from", none, "--apache", join(folder, "new"))).toEqual(missing);
});

test("nothing is made in the source, by a link neither", async () => {
  symlinkSync(target, join(folder, "link"));
  for (const name of ["backup/new", "backup/log/new", "link/far/new"]) {
    const place = join(folder, name);
    const refused = [6, `${place} lies in ${target}, which it would be made from`];
    expect(await failureOf("restore", "--from", target, "--data", place)).toEqual(refused);
    expect(await failureOf("restore", "--from", target, "--data", join(folder, "new"), "--log", place)).toEqual(
      refused,
    );
    expect(await failureOf("export", "--from", target, "--apache", place)).toEqual(refused);
    expect(existsSync(place)).toBe(false);
  }
  expect(sourceArchive(target, [`${target}-new`, join(folder, "..new")])).toBe(target);
});
