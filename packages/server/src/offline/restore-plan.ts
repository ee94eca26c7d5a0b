import { formatZxid, newTxnHeader, type Zxid } from "@zooid/model";
import { type LogPosition, StoreError } from "@zooid/txn-log";
import {
  ArchiveFile,
  type BaseManifest,
  basesFolderOf,
  type ListedBase,
  type ListedFile,
  listArchive,
  listBases,
  logFolderOf,
  readBase,
  readManifest,
} from "@zooid/txn-log/sqlite";
import { TxnReader } from "@zooid/wire/txn";
import { OfflineError } from "./offline-error.ts";

/** A moment: the state with everything up to a zxid, or with everything stamped up to a time. */
export type RestoreTarget = { readonly zxid: Zxid } | { readonly timeMs: number };

/** What a state of the past is made from. */
export interface RestorePlan {
  readonly base: ListedBase;
  readonly manifest: BaseManifest;
  /** Files of the log that continue the base, oldest first; the last one may go further. */
  readonly files: readonly ListedFile[];
  /** The last transaction of the state; the base's where no file is needed. */
  readonly zxid: Zxid;
  /** The damage of each newer base, for which this one and more files stand in. */
  readonly damage: readonly StoreError[];
}

/** A base, and the files that continue it without a gap. */
interface Run {
  readonly base: ListedBase;
  readonly manifest: BaseManifest;
  readonly files: readonly ListedFile[];
  readonly end: Zxid;
}

/**
 * Chooses what a state is made from: the newest whole base that is no later, and the files behind
 * it. Names, manifests and footers are read; for a time the transactions near it are, and a base
 * where there is an older one.
 *
 * @param archive its folder, with `base` and `log`
 * @param target undefined for the newest moment
 * @throws OfflineError with what the archive has, StoreError for a damaged file that is needed
 */
export function planRestore(archive: string, target?: RestoreTarget): RestorePlan {
  const bases = listBases(basesFolderOf(archive));
  const [first] = bases;
  if (first === undefined) throw new OfflineError([`${archive} has no base, a copy of the whole state, in base/`]);
  const files = listArchive(logFolderOf(archive));
  const zxid = target === undefined ? undefined : "zxid" in target ? target.zxid : zxidAt(files, target.timeMs);
  if (zxid !== undefined && zxid < first.zxid) {
    throw new OfflineError([
      `${formatZxid(zxid)} lies before ${formatZxid(first.zxid)}, the first state in ${archive}`,
    ]);
  }
  const { run, damage } = newestRun(
    bases.filter((each) => zxid === undefined || each.zxid <= zxid),
    files,
    zxid,
  );
  if (zxid === undefined) return { ...run, zxid: run.end, damage };
  if (zxid <= run.end) {
    const needed = run.files.filter((_, i) => (run.files[i - 1]?.end ?? run.base.zxid) < zxid);
    return { ...run, files: needed, zxid, damage };
  }
  const end = formatZxid(run.end);
  const gap = files.some(({ after }) => after > run.end) ? "there is a gap behind it" : "nothing follows it";
  throw new OfflineError([
    `${archive} has every transaction from its base at ${formatZxid(run.base.zxid)} up to ${end}, and not up to ${formatZxid(zxid)}: ${gap}`,
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
      const run = runOf(base, base === bases[0] ? readManifest(base) : checkedManifest(base), files);
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

function runOf(base: ListedBase, manifest: BaseManifest, files: readonly ListedFile[]): Run {
  const continued: ListedFile[] = [];
  let end: LogPosition = manifest.position;
  // Where files overlap, one of them continues the chain.
  for (const file of files) {
    if (file.end <= end.zxid || file.after > end.zxid) continue;
    using archive = new ArchiveFile(file.file);
    const { after, end: next } = archive.footer;
    const isNext = after.zxid === end.zxid ? after.chain === end.chain : archive.chainAt(end.zxid) === end.chain;
    if (!isNext) continue;
    continued.push(file);
    end = next;
  }
  return { base, manifest, files: continued, end: end.zxid };
}

/**
 * The transaction that a moment of an archive means.
 *
 * @throws OfflineError as {@link planRestore}
 */
export function zxidOf(archive: string, target: RestoreTarget): Zxid {
  return "zxid" in target ? target.zxid : zxidAt(listArchive(logFolderOf(archive)), target.timeMs);
}

/**
 * The last transaction before the first one that is stamped later.
 *
 * @throws OfflineError where a clock went back across that time: then two moments are meant by it
 */
function zxidAt(files: readonly ListedFile[], timeMs: number): Zxid {
  const [decoder, header] = [new TxnReader(), newTxnHeader()];
  let before: Zxid | undefined;
  let hasPassed = false;
  let lastEarlier: Zxid | undefined;
  for (const { file, after, end } of files) {
    using archive = new ArchiveFile(file);
    before ??= after;
    const { firstMs, lastMs } = archive.footer;
    if (lastMs <= timeMs) {
      lastEarlier = end;
      if (!hasPassed) before = end;
    } else if (firstMs > timeMs) {
      hasPassed = true;
    } else {
      archive.walk(after, (zxid, bytes, start, stop) => {
        decoder.open(bytes, start, stop, header);
        if (header.timeMs <= timeMs) {
          lastEarlier = zxid;
          if (!hasPassed) before = zxid;
        } else hasPassed = true;
      });
    }
  }
  if (before === undefined) throw new OfflineError(["there are no transactions in the archive to find a time in"]);
  if (lastEarlier === undefined && hasPassed) {
    throw new OfflineError([`all transactions in the archive are later than ${new Date(timeMs).toISOString()}`]);
  }
  if (hasPassed && lastEarlier !== undefined && lastEarlier > before) {
    const moment = new Date(timeMs).toISOString();
    throw new OfflineError([
      `a clock went back across ${moment}: --to ${formatZxid(before)} is the first time that it was so late, --to ${formatZxid(lastEarlier)} the last`,
    ]);
  }
  return before;
}
