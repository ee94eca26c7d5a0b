import { formatZxid, newTxnHeader, type Zxid } from "@zooid/model";
import type { LogPosition } from "@zooid/txn-log";
import {
  ArchiveFile,
  type BaseManifest,
  basesFolderOf,
  type ListedBase,
  type ListedFile,
  listArchive,
  listBases,
  logFolderOf,
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
}

/** A base, and the files that continue it without a gap. */
interface Run {
  readonly base: ListedBase;
  readonly manifest: BaseManifest;
  readonly files: readonly ListedFile[];
  readonly end: Zxid;
}

/**
 * Chooses what a state is made from: the newest base that is no later, and the files behind it.
 * Only names, manifests and footers are read; for a time the transactions near it are.
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
  const base = bases.findLast((each) => zxid === undefined || each.zxid <= zxid) ?? first;
  const run = runOf(base, files);
  if (zxid === undefined) return { ...run, zxid: run.end };
  if (zxid <= run.end) {
    return { ...run, files: run.files.filter((_, i) => (run.files[i - 1]?.end ?? base.zxid) < zxid), zxid };
  }
  const end = formatZxid(run.end);
  const gap = files.some(({ after }) => after > run.end) ? "there is a gap behind it" : "nothing follows it";
  throw new OfflineError([
    `${archive} has every transaction from its base at ${formatZxid(base.zxid)} up to ${end}, and not up to ${formatZxid(zxid)}: ${gap}`,
  ]);
}

function runOf(base: ListedBase, files: readonly ListedFile[]): Run {
  const manifest = readManifest(base);
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
