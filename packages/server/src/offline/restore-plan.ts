import { earlierOf, formatZxid, laterOf, type Zxid } from "@zooid/model";
import { type LogPosition, StoreError } from "@zooid/txn-log";
import {
  ArchiveFile,
  type ArchiveFooter,
  type BaseManifest,
  basesFolderOf,
  type ListedBase,
  type ListedFile,
  listArchive,
  listBases,
  logFolderOf,
  readBase,
  readManifest,
  timedFiles,
} from "@zooid/txn-log/sqlite";
import { OfflineError } from "./offline-error.ts";
import { type FoundTime, findTime } from "./time-target.ts";

/** A moment: the state with everything up to a zxid, or with everything stamped up to a time. */
export type RestoreTarget = { readonly zxid: Zxid } | { readonly timeMs: number };

/** The files that a state of the past is made from. */
export interface RestorePlan {
  readonly base: ListedBase;
  readonly manifest: BaseManifest;
  /** Files of the log that continue the base, oldest first; the last one may go further. */
  readonly files: readonly ListedFile[];
  /** The last transaction of the state; the base's where no file is needed. */
  readonly zxid: Zxid;
  /** A sentence for each damaged base and file for which others stand in. */
  readonly warnings: readonly string[];
}

/** A base, and the files that continue it without a gap. */
interface Run {
  readonly base: ListedBase;
  readonly manifest: BaseManifest;
  readonly files: readonly ListedFile[];
  readonly end: Zxid;
  /** The first damaged file on the way; where it was needed, the run ends before it. */
  readonly fileDamage: StoreError | undefined;
}

/**
 * Chooses what a state is made from: the newest whole base that is no later, and the files behind
 * it. Names, manifests and footers are read; for a time the transactions near it are, and a base
 * where there is an older one.
 *
 * @param archive its folder, with `base` and `log`
 * @param target undefined for the newest moment
 * @param name of the archive in sentences, where the folder has a copy of it
 * @throws OfflineError with what the archive has, StoreError for a damaged file that is needed
 */
export function planRestore(archive: string, target?: RestoreTarget, name: string = archive): RestorePlan {
  const bases = listBases(basesFolderOf(archive));
  const [first] = bases;
  if (first === undefined) throw new OfflineError([noBase(name)]);
  const files = listArchive(logFolderOf(archive));
  const { zxid, warnings: unread } = target === undefined ? NEWEST : momentIn(files, target);
  if (zxid !== undefined && zxid < first.zxid) {
    throw new OfflineError([beforeFirst(zxid, first.zxid, name)]);
  }
  const { run, damage } = newestRun(
    bases.filter((each) => zxid === undefined || each.zxid <= zxid),
    files,
    zxid,
  );
  const { base, manifest } = run;
  const warnings = [
    ...unread,
    ...damage.map(({ message }) => `${message}; an older base and more files are used instead`),
  ];
  if (zxid === undefined) {
    if (run.fileDamage !== undefined && files.some((file) => file.end > run.end)) throw run.fileDamage;
    checkNothingBehind(name, run.end, files);
    return { base, manifest, files: run.files, zxid: run.end, warnings };
  }
  if (zxid <= run.end) {
    const needed = run.files.filter((_, i) => (run.files[i - 1]?.end ?? run.base.zxid) < zxid);
    return { base, manifest, files: needed, zxid, warnings };
  }
  if (run.fileDamage !== undefined) throw run.fileDamage;
  const end = formatZxid(run.end);
  const gap = files.some(({ after }) => after > run.end) ? "there is a gap behind it" : "nothing follows it";
  throw new OfflineError([
    `${name} has every transaction from its base at ${formatZxid(run.base.zxid)} up to ${end}, and not up to ${formatZxid(zxid)}: ${gap}`,
  ]);
}

const NEWEST: { readonly zxid: undefined; readonly warnings: readonly string[] } = { zxid: undefined, warnings: [] };

function momentIn(files: readonly ListedFile[], target: RestoreTarget): FoundTime {
  return "zxid" in target ? { zxid: target.zxid, warnings: [] } : findTime(timedFiles(files), target.timeMs);
}

export function noBase(name: string): string {
  return `${name} has no base, a copy of the whole state, in base/`;
}

export function beforeFirst(zxid: Zxid, first: Zxid, name: string): string {
  return `${formatZxid(zxid)} lies before ${formatZxid(first)}, the first state in ${name}`;
}

/**
 * Refuses to leave out what the newest base and the files that continue it do not reach.
 *
 * @param end of the newest state that can be made
 * @throws OfflineError with the gap, and the moment that can be restored
 */
export function checkNothingBehind(name: string, end: Zxid, files: readonly Pick<ListedFile, "after" | "end">[]): void {
  const behind = files.filter((file) => file.end > end);
  if (behind.length === 0) return;
  const next = behind.map(({ after }) => after).reduce(earlierOf);
  const last = formatZxid(behind.map((file) => file.end).reduce(laterOf));
  const gap =
    next > end
      ? `has no transactions after ${formatZxid(end)} and up to ${formatZxid(next)}`
      : `has another history behind ${formatZxid(end)}`;
  throw new OfflineError([
    `${name} ${gap}, and no base behind that, so its last state, at ${last}, cannot be restored: --to ${formatZxid(end)} takes the last one before`,
  ]);
}

/**
 * The run of the newest base that is whole. Where newer ones are damaged, it reaches as far as they
 * would.
 *
 * @param bases at least one, oldest first
 * @param target undefined for the newest moment
 * @throws StoreError with the newest base's damage, where no older one does
 */
function newestRun(
  bases: readonly ListedBase[],
  files: readonly ListedFile[],
  target: Zxid | undefined,
): { readonly run: Run; readonly damage: readonly StoreError[] } {
  const damage: StoreError[] = [];
  for (const base of bases.toReversed()) {
    try {
      // The oldest one is read when it is used.
      const run = runOf(base, base === bases[0] ? readManifest(base) : checkedManifest(base), files, target);
      if (damage.length === 0 || run.end >= (target ?? bases.at(-1)?.zxid ?? 0)) return { run, damage };
    } catch (error) {
      if (!(error instanceof StoreError && error.code === "DAMAGED")) throw error;
      damage.push(error);
    }
  }
  throw damage[0] ?? new Error("there is a base");
}

/** The manifest of a base whose parts are whole. */
function checkedManifest(base: ListedBase): BaseManifest {
  const manifest = readManifest(base);
  const chunks = readBase(base, manifest);
  while (chunks.next().done !== true);
  return manifest;
}

/** @param target files behind it are not read, so that their damage refuses no earlier moment */
function runOf(base: ListedBase, manifest: BaseManifest, files: readonly ListedFile[], target: Zxid | undefined): Run {
  const continued: ListedFile[] = [];
  let end: LogPosition = manifest.position;
  let fileDamage: StoreError | undefined;
  // Where files overlap, one of them continues the chain.
  for (const file of files) {
    if (target !== undefined && end.zxid >= target) break;
    if (file.end <= end.zxid || file.after > end.zxid) continue;
    try {
      const next = continuationOf(file, end);
      if (next === undefined) continue;
      continued.push(file);
      end = next;
    } catch (error) {
      if (!(error instanceof StoreError && error.code === "DAMAGED")) throw error;
      fileDamage ??= error;
    }
  }
  return { base, manifest, files: continued, end: end.zxid, fileDamage };
}

/**
 * Where a file ends; undefined where its chain is another one.
 *
 * @throws StoreError `DAMAGED`
 */
function continuationOf(file: ListedFile, end: LogPosition): LogPosition | undefined {
  using archive = new ArchiveFile(file.file);
  const { after, end: next } = archive.footer;
  checkName(file, archive.footer);
  const isNext = after.zxid === end.zxid ? after.chain === end.chain : archive.chainAt(end.zxid) === end.chain;
  return isNext ? next : undefined;
}

/** @throws StoreError `DAMAGED` for a file that is another one than its name says */
function checkName({ file, after, end }: ListedFile, footer: ArchiveFooter): void {
  if (footer.after.zxid === after && footer.end.zxid === end) return;
  const found = `it has the transactions after ${formatZxid(footer.after.zxid)} up to ${formatZxid(footer.end.zxid)}`;
  throw new StoreError({ code: "DAMAGED", file, place: "its name", found });
}

/**
 * The transaction that a moment of an archive means.
 *
 * @throws OfflineError and StoreError as {@link planRestore}
 */
export function findMoment(archive: string, target: RestoreTarget): FoundTime {
  return momentIn(listArchive(logFolderOf(archive)), target);
}
