import { newTxnHeader, type TxnDecoder, type Zxid } from "@zooid/model/storage";
import { ArchiveFile } from "./archive-file.ts";
import type { ListedFile } from "./archive-folder.ts";

/** A file of an archive, and the times of its entries. */
export interface TimedFile extends Pick<ListedFile, "after" | "end"> {
  /** Read where a time lies between its first and its last one. */
  readonly file: string;
  readonly firstMs: number;
  readonly lastMs: number;
}

/** The transactions that a time may mean: more than one where a clock went back across it. */
export interface TimePlaces {
  /** The last transaction before the first one that is stamped later. */
  readonly first: Zxid;
  /** The last one that is not stamped later; undefined: all are. */
  readonly last: Zxid | undefined;
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
 * @param files in the order of a listing
 * @returns undefined without files
 * @throws StoreError for a damaged file
 */
export function timePlaces(files: readonly TimedFile[], timeMs: number, decoder: TxnDecoder): TimePlaces | undefined {
  const header = newTxnHeader();
  let first: Zxid | undefined;
  let hasPassed = false;
  let last: Zxid | undefined;
  for (const timed of files) {
    const { file, after, end, lastMs } = timed;
    first ??= after;
    if (isReadFor(timed, timeMs)) {
      using archive = new ArchiveFile(file);
      archive.walk(after, (zxid, bytes, start, stop) => {
        decoder.open(bytes, start, stop, header);
        if (header.timeMs <= timeMs) {
          last = zxid;
          if (!hasPassed) first = zxid;
        } else hasPassed = true;
      });
    } else if (lastMs <= timeMs) {
      last = end;
      if (!hasPassed) first = end;
    } else {
      hasPassed = true;
    }
  }
  return first === undefined ? undefined : { first, last };
}
