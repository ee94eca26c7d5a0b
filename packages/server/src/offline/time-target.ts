import { formatZxid, newTxnHeader, type Zxid } from "@zooid/model";
import { ArchiveFile, type ListedFile } from "@zooid/txn-log/sqlite";
import { TxnReader } from "@zooid/wire/txn";
import { OfflineError } from "./offline-error.ts";

/** A file of an archive, and the times of its entries. */
export interface TimedFile extends Pick<ListedFile, "after" | "end"> {
  /** Read where a time lies between its first and its last one. */
  readonly file: string;
  readonly firstMs: number;
  readonly lastMs: number;
}

/** @throws StoreError for a damaged file */
export function timedFiles(files: readonly ListedFile[]): readonly TimedFile[] {
  return files.map(({ file, after, end }) => {
    using archive = new ArchiveFile(file);
    const { firstMs, lastMs } = archive.footer;
    return { file, after, end, firstMs, lastMs };
  });
}

/** Whether a file has to be read for a time. */
export function isReadFor({ firstMs, lastMs }: Pick<TimedFile, "firstMs" | "lastMs">, timeMs: number): boolean {
  return firstMs <= timeMs && timeMs < lastMs;
}

/**
 * The last transaction before the first one that is stamped later.
 *
 * @param files in the order of a listing
 * @throws OfflineError where a clock went back across that time: then two moments are meant by it
 */
export function zxidAtTime(files: readonly TimedFile[], timeMs: number): Zxid {
  const [decoder, header] = [new TxnReader(), newTxnHeader()];
  let before: Zxid | undefined;
  let hasPassed = false;
  let lastEarlier: Zxid | undefined;
  for (const timed of files) {
    const { file, after, end, firstMs, lastMs } = timed;
    before ??= after;
    if (isReadFor(timed, timeMs)) {
      using archive = new ArchiveFile(file);
      archive.walk(after, (zxid, bytes, start, stop) => {
        decoder.open(bytes, start, stop, header);
        if (header.timeMs <= timeMs) {
          lastEarlier = zxid;
          if (!hasPassed) before = zxid;
        } else hasPassed = true;
      });
    } else if (lastMs <= timeMs) {
      lastEarlier = end;
      if (!hasPassed) before = end;
    } else if (firstMs > timeMs) {
      hasPassed = true;
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
