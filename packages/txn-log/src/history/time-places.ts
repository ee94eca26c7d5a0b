import {
  counterOf,
  epochOf,
  laterOf,
  newTxnHeader,
  type TimeFault,
  type TxnDecoder,
  type Zxid,
} from "@zooid/model/storage";
import { ArchiveFile } from "../archive/archive-file.ts";
import type { ListedFile } from "../archive/archive-folder.ts";
import { StoreError } from "../store/store-error.ts";

/** The earliest and the latest time that the entries of a file are stamped with. */
export interface FileTimes {
  readonly firstMs: number;
  readonly lastMs: number;
}

/** A file of an archive, and the times of its entries, or why they cannot be read. */
export interface TimedFile extends Pick<ListedFile, "after" | "end"> {
  /** Read where a time lies between its first and its last one. */
  readonly file: string;
  readonly times: FileTimes | StoreError;
}

/** The transaction that a time stands for, or why it stands for none. */
export type TimePlace =
  | {
      readonly kind: "zxid";
      /** The last one before the first that is stamped later. */
      readonly zxid: Zxid;
      /** Damage elsewhere: a clock that went back there across the time is not seen. */
      readonly unread: readonly StoreError[];
    }
  /** There is no transaction. */
  | { readonly kind: "none" }
  | TimeFault;

export function timedFiles(files: readonly ListedFile[]): readonly TimedFile[] {
  return files.map((listed) => ({ file: listed.file, after: listed.after, end: listed.end, times: timesOf(listed) }));
}

/** The times of a file, or its damage. */
export function timesOf({ file }: Pick<ListedFile, "file">): FileTimes | StoreError {
  try {
    using archive = new ArchiveFile(file);
    const { firstMs, lastMs } = archive.footer;
    return { firstMs, lastMs };
  } catch (error) {
    if (error instanceof StoreError) return error;
    throw error;
  }
}

/** Whether a file has to be read for a time. */
export function isReadFor({ firstMs, lastMs }: FileTimes, timeMs: number): boolean {
  return firstMs <= timeMs && timeMs < lastMs;
}

/**
 * Finds the transaction that a time stands for. Damage is an error only where that transaction may
 * be in the damaged file.
 *
 * @param files in the order of a listing
 * @throws StoreError for a damaged file that is needed
 */
export function placeOfTime(files: readonly TimedFile[], askedMs: number, decoder: TxnDecoder): TimePlace {
  const search = new TimeSearch(askedMs, decoder);
  for (const file of files) search.take(file);
  return search.end();
}

/** Transactions that no whole file has. */
interface Unknown {
  readonly after: Zxid;
  readonly end: Zxid;
  readonly damage: StoreError | undefined;
}

class TimeSearch {
  readonly #askedMs: number;
  readonly #decoder: TxnDecoder;
  readonly #header = newTxnHeader();
  readonly #unread: StoreError[] = [];
  /** Where the files begin, and the time of the first of them that can be read. */
  #begin: Zxid | undefined;
  #beginMs: number | undefined;
  #reached: Zxid | undefined;
  #newestMs = 0;
  /** The last transaction that is not stamped later, before the first one that is. */
  #first: Zxid | undefined;
  /** The last one of all that is not stamped later. */
  #last: Zxid | undefined;
  #hasPassed = false;
  /**
   * The range that is missing right behind the first: the time lies in it where a later one
   * follows.
   */
  #unknown: Unknown | undefined;
  /** The range that is missing where the time lies. */
  #missed: Unknown | undefined;

  constructor(askedMs: number, decoder: TxnDecoder) {
    this.#askedMs = askedMs;
    this.#decoder = decoder;
  }

  take({ after, end, file, times }: TimedFile): void {
    this.#begin ??= after;
    const reached = this.#reached;
    if (reached !== undefined && after > reached && !mayBeRestored(after, reached))
      this.#miss({ after: reached, end: after, damage: undefined });
    // Where files overlap, one may have what another one lacks.
    if (this.#unknown !== undefined && this.#unknown.after >= after && !(times instanceof StoreError))
      this.#unknown = undefined;
    this.#reached = laterOf(end, reached ?? end);
    if (times instanceof StoreError) return this.#missFile({ after, end, damage: times });
    this.#beginMs ??= times.firstMs;
    this.#newestMs = Math.max(this.#newestMs, times.lastMs);
    if (isReadFor(times, this.#askedMs)) this.#read({ after, end, file });
    else if (times.lastMs <= this.#askedMs) this.#notLater(end);
    else this.#later();
  }

  end(): TimePlace {
    const [askedMs, first, last] = [this.#askedMs, this.#first, this.#last];
    const missed = this.#missed ?? (this.#hasPassed ? undefined : this.#unknown);
    if (missed?.damage !== undefined) throw missed.damage;
    if (missed !== undefined) return { kind: "gap", askedMs, after: missed.after, end: missed.end };
    if (this.#begin === undefined) return { kind: "none" };
    if (first === undefined) return { kind: "before", askedMs, zxid: this.#begin, timeMs: this.#beginMs ?? 0 };
    if (this.#newestMs < askedMs) return { kind: "behind", askedMs, zxid: first, timeMs: this.#newestMs };
    if (last !== undefined && last > first) return { kind: "twice", askedMs, first, last };
    return { kind: "zxid", zxid: first, unread: this.#unread };
  }

  #read({ after, end, file }: Pick<TimedFile, "after" | "end" | "file">): void {
    let last = after;
    try {
      using archive = new ArchiveFile(file);
      archive.walk(after, (zxid, bytes, start, stop) => {
        this.#decoder.open(bytes, start, stop, this.#header);
        if (this.#header.timeMs <= this.#askedMs) this.#notLater(zxid);
        else this.#later();
        last = zxid;
      });
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      this.#missFile({ after: last, end, damage: error });
    }
  }

  #notLater(zxid: Zxid): void {
    this.#unknown = undefined;
    this.#last = laterOf(zxid, this.#last ?? zxid);
    if (!this.#hasPassed) this.#first = zxid;
  }

  #later(): void {
    if (this.#hasPassed) return;
    this.#hasPassed = true;
    this.#missed = this.#unknown;
  }

  #missFile(unknown: Unknown & { readonly damage: StoreError }): void {
    this.#unread.push(unknown.damage);
    this.#miss(unknown);
  }

  #miss(unknown: Unknown): void {
    this.#unknown ??= unknown;
  }
}

/**
 * Whether a file may begin at a restored state, which has a zxid of its own at the begin of an
 * epoch: nothing is missing before it.
 */
function mayBeRestored(after: Zxid, reached: Zxid): boolean {
  return counterOf(after) <= 1 && epochOf(after) > epochOf(reached);
}
