import { rmSync } from "node:fs";
import {
  type BackupBase,
  BackupError,
  type BackupFile,
  type BackupListing,
  type BackupTarget,
  eachOf,
  fetchFile,
  listBackup,
  readBackupFooter,
  readBackupManifest,
} from "@zooid/backup";
import { formatZxid, type Zxid } from "@zooid/model";
import { StoreError } from "@zooid/txn-log";
import { archiveFileName, type BaseManifest } from "@zooid/txn-log/archive";
import { type FileTimes, isReadFor, logFolderOf, type TimedFile } from "@zooid/txn-log/sqlite";
import { OfflineError } from "../offline-error.ts";
import { beforeFirst, checkNothingBehind, type RestoreTarget } from "../restore-plan.ts";
import { type FoundTime, findTime } from "../time-target.ts";

/**
 * The objects that a state is made from, by the names and manifests of a backup; nothing is
 * fetched.
 */
export interface BackupChoice {
  readonly manifest: BaseManifest;
  /** Files behind the base, up to the moment. Some may overlap. */
  readonly files: readonly BackupFile[];
  /** The moment; undefined: the newest one. */
  readonly zxid: Zxid | undefined;
  /** The zxid that a state must reach at least: the moment, or the newest base. */
  readonly reach: Zxid;
  /** Older bases, newest first, for which more files would be needed. */
  readonly older: readonly BackupBase[];
  /** How far the files lead, by their names. */
  readonly end: Zxid;
  /** All files that the backup has. */
  readonly listed: readonly BackupFile[];
}

export interface ChoiceOptions {
  readonly target: BackupTarget;
  readonly moment: RestoreTarget | undefined;
  /** Gets the files in which a time is looked for. */
  readonly staging: string;
  warn(text: string): void;
}

/**
 * @throws BackupError, OfflineError with what the backup has, StoreError for a damaged file that is
 *   needed
 */
export async function chooseFromBackup(options: ChoiceOptions): Promise<BackupChoice> {
  const { target, moment } = options;
  const listing = await listBackup(target);
  const [first] = listing.bases;
  if (first === undefined) throw new BackupError({ code: "NO_BACKUP", target: target.name, reason: reasonIn(listing) });
  const zxid = moment === undefined ? undefined : await zxidOf(options, listing.files, moment);
  if (zxid !== undefined && zxid < first.zxid) throw new OfflineError([beforeFirst(zxid, first.zxid, target.name)]);
  const bases = listing.bases.filter((base) => zxid === undefined || base.zxid <= zxid).toReversed();
  const reach = zxid ?? bases[0]?.zxid ?? first.zxid;
  return choiceOf(options, { listed: listing.files, older: bases, reach, zxid });
}

/** The same, for a backup whose newest base turned out to be damaged. */
export function chooseOlder(options: ChoiceOptions, choice: BackupChoice): Promise<BackupChoice> {
  return choiceOf(options, choice);
}

type Candidates = Pick<BackupChoice, "listed" | "older" | "reach" | "zxid">;

async function choiceOf({ target, warn }: ChoiceOptions, candidates: Candidates): Promise<BackupChoice> {
  const { listed, older: bases, zxid } = candidates;
  let damage: StoreError | undefined;
  for (const [i, { zxid: at }] of bases.entries()) {
    const manifest = await readBackupManifest(target, at).catch((error: unknown) => {
      if (!(error instanceof StoreError && error.code === "DAMAGED")) throw error;
      damage ??= error;
      warn(error.message);
      return undefined;
    });
    if (manifest === undefined) continue;
    const behind = listed.filter(({ after, end }) => end > at && (zxid === undefined || after < zxid));
    const end = endOf(at, behind);
    if (candidates.reach > end) throw damage ?? new OfflineError([reachFault(target.name, at, end, candidates)]);
    if (zxid === undefined) checkNothingBehind(target.name, end, behind);
    const files = behind.filter(({ after }) => after <= end);
    return { ...candidates, manifest, files, end, older: bases.slice(i + 1) };
  }
  throw damage ?? new Error("there is a base");
}

/** How far files lead behind a base, by their names. */
function endOf(base: Zxid, behind: readonly BackupFile[]): Zxid {
  let end = base;
  for (const file of [...behind].sort((a, b) => a.after - b.after))
    if (file.after <= end && file.end > end) end = file.end;
  return end;
}

/** Why files do not lead to the moment. */
function reachFault(name: string, base: Zxid, end: Zxid, { listed, reach }: Candidates): string {
  const gap = listed.some(({ after }) => after > end) ? "there is a gap behind it" : "nothing follows it";
  return `${name} has every transaction from its base at ${formatZxid(base)} up to ${formatZxid(end)}, and not up to ${formatZxid(reach)}: ${gap}`;
}

async function zxidOf(options: ChoiceOptions, files: readonly BackupFile[], moment: RestoreTarget): Promise<Zxid> {
  if ("zxid" in moment) return moment.zxid;
  const { zxid, warnings } = await foundTime(options, files, moment.timeMs);
  for (const text of warnings) options.warn(text);
  return zxid;
}

/** Footers say which files have a time; those files are fetched. */
async function foundTime(
  { target, staging }: ChoiceOptions,
  files: readonly BackupFile[],
  timeMs: number,
): Promise<FoundTime> {
  const timed: TimedFile[] = [];
  await eachOf([...files.entries()], async ([i, file]) => {
    const { after, end } = file;
    const copy = `${logFolderOf(staging)}/${archiveFileName(after, end)}`;
    const times = await timesOf(target, file, { staging, timeMs }).catch((error: unknown) => {
      if (!(error instanceof StoreError)) throw error;
      // Only whole copies are used.
      rmSync(copy, { force: true });
      return error;
    });
    timed[i] = { file: copy, after, end, times };
  });
  return findTime(timed, timeMs);
}

async function timesOf(
  target: BackupTarget,
  file: BackupFile,
  { staging, timeMs }: { readonly staging: string; readonly timeMs: number },
): Promise<FileTimes> {
  const { firstMs, lastMs } = await readBackupFooter(target, file);
  if (isReadFor({ firstMs, lastMs }, timeMs)) await fetchFile(target, file, staging);
  return { firstMs, lastMs };
}

function reasonIn({ files, unfinished }: BackupListing): string {
  if (unfinished.length > 0) return "it has no base with a manifest, which is written last";
  return files.length === 0 ? "it is empty" : "it has no base, a copy of the whole state";
}
