import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type BackupBase,
  type BackupFile,
  type BackupListing,
  type BackupTarget,
  listBackup,
  missingRanges,
  planRetention,
  readBackupFooter,
  readBackupManifest,
  verifyBackup,
} from "@zooid/backup";
import { OfflineError, StoreError } from "@zooid/embedded-server";
import { counted, formatZxid } from "@zooid/model";
import { interruptible } from "./interruptible.ts";
import type { BackupCommand } from "./offline-command.ts";
import type { Output } from "./recover.ts";
import { openNamedTarget } from "./target-options.ts";

/**
 * `zooid-server backup`: says what is in a backup, checks all of it, or removes what is old.
 *
 * @returns whether nothing is wrong
 * @throws BackupError where the target cannot be used
 */
export function backup(command: BackupCommand, output: Output): Promise<boolean> {
  const left = command.act === "prune" ? "the next prune removes the rest" : "nothing was changed";
  return interruptible(left, async (signal) => {
    const target = openNamedTarget(command.target, signal);
    switch (command.act) {
      case "list":
        return await list(target, output);
      case "verify":
        return await verify(target, output);
      case "prune":
        return await prune(target, command, output);
    }
  });
}

async function list(target: BackupTarget, { print, warn }: Output): Promise<boolean> {
  const listing = await listBackup(target);
  for (const base of listing.bases) {
    const taken = await takenOf(target, base);
    if (taken instanceof StoreError) warn(taken.message);
    else print(`base  ${formatZxid(base.zxid)}  taken ${isoTime(taken.takenMs)}  ${taken.text}`);
  }
  const { files } = listing;
  const [first, last] = [files[0], files.at(-1)];
  if (first !== undefined && last !== undefined) {
    const until = await readBackupFooter(target, last).catch((error: unknown) => asDamage(error));
    const time = until instanceof StoreError ? "" : `, until ${isoTime(until.lastMs)}`;
    print(`log   after ${formatZxid(first.after)} up to ${formatZxid(last.end)}${time}: ${size(files)}`);
  }
  for (const { after, end } of missingRanges(listing))
    print(`gap   after ${formatZxid(after)} up to ${formatZxid(end)}`);
  for (const { zxid } of listing.unfinished) print(`part  of a base at ${formatZxid(zxid)}, without its manifest`);
  if (listing.bases.length === 0) throw new OfflineError([`${target.name} has no base: nothing can be restored`]);
  return true;
}

async function verify(target: BackupTarget, { print, warn }: Output): Promise<boolean> {
  const scratch = mkdtempSync(join(tmpdir(), "zooid-verify-"));
  try {
    const { baseCount, fileCount, bytes, end, problems } = await verifyBackup(target, scratch);
    for (const problem of problems) warn(problem);
    const reach = end === undefined ? "" : `; the newest state is at ${formatZxid(end)}`;
    print(
      `read ${counted(baseCount, "base")} and ${counted(fileCount, "file")} of the log, ${mebibytes(bytes)}, ` +
        `with ${counted(problems.length, "problem")}${reach}`,
    );
    return problems.length === 0;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

async function prune(
  target: BackupTarget,
  { beforeMs = 0, isPlan }: Pick<BackupCommand, "beforeMs" | "isPlan">,
  { print, warn }: Output,
): Promise<boolean> {
  const listing = await listBackup(target);
  const taken = await takenMsOf(target, listing, warn);
  const names = planRetention(listing, taken, beforeMs);
  const first = listing.bases.findLast(({ zxid }) => (taken.get(zxid) ?? Number.POSITIVE_INFINITY) <= beforeMs);
  if (first === undefined) {
    throw new OfflineError([
      `${target.name} has no base that was taken by ${isoTime(beforeMs)}: each state from then on needs all that is there`,
    ]);
  }
  for (const name of names) {
    if (isPlan) print(name);
    else await target.remove(name);
  }
  const verb = isPlan ? "would be removed" : "removed";
  print(`${counted(names.length, "object")} ${verb}; the first state is at ${formatZxid(first.zxid)}`);
  return true;
}

async function takenMsOf(
  target: BackupTarget,
  { bases }: BackupListing,
  warn: (text: string) => void,
): Promise<ReadonlyMap<number, number | undefined>> {
  const taken = new Map<number, number | undefined>();
  for (const base of bases) {
    const found = await takenOf(target, base);
    if (found instanceof StoreError) warn(found.message);
    taken.set(base.zxid, found instanceof StoreError ? undefined : found.takenMs);
  }
  return taken;
}

async function takenOf(
  target: BackupTarget,
  { zxid }: BackupBase,
): Promise<{ readonly takenMs: number; readonly text: string } | StoreError> {
  try {
    const { takenMs, nodeCount, ensembleId, parts } = await readBackupManifest(target, zxid);
    const bytes = parts.reduce((sum, part) => sum + part.bytes, 0);
    const ensemble = ensembleId === "" ? "" : `, ensemble ${ensembleId.replace(/[^\x20-\x7e]/g, "?")}`;
    return { takenMs, text: `${counted(nodeCount, "znode")}, ${mebibytes(bytes)}${ensemble}` };
  } catch (error) {
    return asDamage(error);
  }
}

function asDamage(error: unknown): StoreError {
  if (error instanceof StoreError) return error;
  throw error;
}

function size(files: readonly BackupFile[]): string {
  return `${counted(files.length, "file")}, ${mebibytes(files.reduce((sum, { bytes }) => sum + bytes, 0))}`;
}

function mebibytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
}

/** A time that somebody wrote may be none. */
function isoTime(ms: number): string {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? "at no time" : date.toISOString();
}
