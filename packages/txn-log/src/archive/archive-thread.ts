import { laterOf, type TxnDecoder, ZXID_NONE, type Zxid } from "@zooid/model/storage";
import type { Chain } from "../log/chain.ts";
import { LogReader } from "../log/log-reader.ts";
import type { LogPosition } from "../log/txn-log.ts";
import { StoreError } from "../store/store-error.ts";
import { loadThread } from "../threads/loading.ts";
import { lowerPriority } from "../threads/lower-priority.ts";
import { listBases } from "./archive-base.ts";
import { ArchiveFile } from "./archive-file.ts";
import { ArchiveFileWriter, type ArchiveMark } from "./archive-file-writer.ts";
import { basesFolderOf, listArchive, logFolderOf, makeArchiveFolder, retainArchive } from "./archive-folder.ts";
import type { ArchiveCommand, ArchiveLimits, ArchiveReport, ArchiveThreadData } from "./archive-messages.ts";
import { MARKS_MAX } from "./archive-messages.ts";
import { EntryCopy } from "./entry-copy.ts";
import { EntryFeedReader } from "./entry-feed.ts";

/** Below every thread that a client waits for. */
const NICE = 10;
const RETRY_MS = 10_000;
/** A file with this multiple of `fileBytes` ends even if no mark is there. */
const FILES_MAX = 8;
/** Maximum bytes of log that are still archived as the process stops: a second's work. */
const LAST_BYTES_MAX = 64 * 1024 * 1024;

/**
 * Copies committed entries into files of the archive, up to each mark, and removes the files that
 * need not be kept. A file that was begun is in memory until its end: after a crash, or when it
 * cannot be written, its entries are read again from the log, which the driver's thread keeps
 * behind the last file.
 */
class ArchiveThread {
  readonly #data: ArchiveThreadData;
  #limits: ArchiveLimits;
  readonly #decoder: TxnDecoder;
  #log: LogReader | undefined;
  /** Marks that are not in a file, oldest first. */
  #marks: ArchiveMark[] = [];
  /** The last mark whose entries are all in the file that is being written. */
  #last: ArchiveMark | undefined;
  readonly #feed: EntryFeedReader;
  #copier: EntryCopy | undefined;
  #writer: ArchiveFileWriter | undefined;
  #beganMs = 0;
  /** How many of the marks are in the writer. */
  #taken = 0;
  #timer: NodeJS.Timeout | undefined;
  #retryMs = 0;
  /** The end of the gap that was reported last. */
  #gapEnd: Zxid | undefined;
  #begin: Zxid;

  constructor(data: ArchiveThreadData, decoder: TxnDecoder) {
    this.#data = data;
    this.#limits = data;
    this.#begin = data.begin;
    this.#decoder = decoder;
    this.#feed = new EntryFeedReader(data.feed);
    data.port.on("message", (command: ArchiveCommand) => this.#receive(command));
  }

  #receive(command: ArchiveCommand): void {
    switch (command.kind) {
      case "mark":
        this.#add(command.mark);
        return this.#wake();
      case "restart":
        this.#marks = [];
        this.#begin = command.begin;
        this.#gapEnd = command.restoredAt ?? this.#gapEnd;
        return this.#startAgain();
      case "flush":
        this.#try(() => this.#archive({ isFlushed: true }));
        return this.#report({ kind: "flushed", id: command.id });
      case "change":
        this.#limits = command.limits;
        clearTimeout(this.#timer);
        this.#timer = undefined;
        return this.#wake();
      case "close":
        clearTimeout(this.#timer);
        // What is left is copied after the next start.
        if (this.#bytesLeft > LAST_BYTES_MAX) this.#marks.splice(this.#taken);
        this.#try(() => this.#archive({ isFlushed: true }));
        this.#log?.[Symbol.dispose]();
        return this.#data.port.close();
    }
  }

  #add(mark: ArchiveMark): void {
    const isFull = this.#marks.length >= MARKS_MAX && this.#marks.length > this.#taken;
    const replaced = isFull ? this.#marks.pop() : undefined;
    this.#marks.push({ ...mark, bytes: mark.bytes + (replaced?.bytes ?? 0) });
  }

  /** Bytes of the log that are marked and in no file. */
  get #bytesLeft(): number {
    return this.#marks.slice(this.#taken).reduce((sum, { bytes }) => sum + bytes, 0);
  }

  #wake(): void {
    if (performance.now() >= this.#retryMs) this.#try(() => this.#archive({ isFlushed: false }));
    this.#schedule();
  }

  /** Wakes when the file that is being written is old enough, or for a retry. */
  #schedule(): void {
    if (this.#timer !== undefined || this.#marks.length === 0) return;
    const dueMs = Math.max(0, Math.max(this.#retryMs, this.#beganMs + this.#limits.fileMs) - performance.now());
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#wake();
    }, dueMs);
  }

  /** A failure is retried later; no command waits for that. */
  #try(act: () => void): void {
    try {
      act();
      this.#retryMs = 0;
    } catch (cause) {
      this.#startAgain();
      this.#retryMs = performance.now() + RETRY_MS;
      this.#report({ kind: "unable", reason: cause instanceof Error ? cause.message : String(cause) });
    }
  }

  #startAgain(): void {
    this.#writer = undefined;
    this.#last = undefined;
    this.#taken = 0;
  }

  #archive({ isFlushed }: { readonly isFlushed: boolean }): void {
    for (let mark = this.#marks[this.#taken]; mark !== undefined; mark = this.#marks[this.#taken]) {
      const writer = this.#writer ?? this.#beginFile(mark);
      if (writer === undefined) continue;
      this.#copy(writer, mark);
      this.#last = mark;
      this.#taken++;
      if ((this.#writer?.frameBytes ?? 0) >= this.#limits.fileBytes) this.#finish();
    }
    if (isFlushed || performance.now() - this.#beganMs >= this.#limits.fileMs) this.#finish();
  }

  /** @returns undefined if the mark is in a file already */
  #beginFile(mark: ArchiveMark): ArchiveFileWriter | undefined {
    makeArchiveFolder(this.#data.archive);
    this.#log ??= new LogReader(this.#data.logDirectory, this.#data.leases);
    this.#copier ??= new EntryCopy(this.#log, this.#feed);
    const after = this.#continueAfter(this.#log);
    if (mark.zxid <= after.zxid) {
      this.#marks = this.#marks.filter(({ zxid }) => zxid > after.zxid);
      this.#report({ kind: "contained", end: after.zxid });
      return undefined;
    }
    this.#writer = new ArchiveFileWriter(this.#decoder, after);
    this.#beganMs = performance.now();
    return this.#writer;
  }

  /**
   * Where the archive ends, or where the log begins if that is later. Files of another history,
   * which lie in the folder where a log was replaced, are passed over.
   */
  #continueAfter(log: LogReader): LogPosition {
    const floor = log.floor();
    const files = listArchive(logFolderOf(this.#data.archive));
    for (const { file, end } of files.toReversed()) {
      const chain = end < floor.zxid ? undefined : log.chainAt(end);
      // A damaged file is named by a check, and is no reason to copy entries twice.
      if (chain !== undefined && (chainAtEnd(file) ?? chain) === chain) return { zxid: end, chain };
    }
    const after = files.findLast(({ end }) => end < floor.zxid)?.end ?? this.#beginWithoutFiles();
    // Until a file is behind it, each attempt finds it again.
    if (after < floor.zxid && floor.zxid !== this.#gapEnd) {
      this.#gapEnd = floor.zxid;
      this.#report({ kind: "gap", after, end: floor.zxid });
    }
    return floor;
  }

  /** A base that was taken behind the begin stands for what was before it. */
  #beginWithoutFiles(): Zxid {
    return laterOf(this.#begin, listBases(basesFolderOf(this.#data.archive)).at(-1)?.zxid ?? ZXID_NONE);
  }

  /** A mark that is far behind fills files of its own, at whose ends no digest is known. */
  #copy(first: ArchiveFileWriter, { zxid: upTo }: ArchiveMark): void {
    const [log, copier] = [this.#log, this.#copier];
    if (log === undefined || copier === undefined) return;
    for (let writer = first; writer.last < upTo; ) {
      copier.copySome(writer, upTo);
      if (writer.frameBytes < FILES_MAX * this.#limits.fileBytes || writer.last >= upTo) continue;
      const { end } = writer;
      this.#last = { zxid: end.zxid, bytes: 0, digestHigh: 0, digestLow: 0 };
      this.#finish();
      writer = new ArchiveFileWriter(this.#decoder, end);
      this.#writer = writer;
    }
    log.closeSealed();
  }

  #finish(): void {
    const writer = this.#writer;
    const last = this.#last;
    if (writer === undefined || last === undefined) return;
    const { archive } = this.#data;
    this.#copier?.prove(writer);
    const { end, frameBytes: bytes } = writer.finish(logFolderOf(archive), this.#log?.ensembleId() ?? "", last);
    this.#marks.splice(0, this.#taken);
    this.#startAgain();
    const files = retainArchive(archive, { ...this.#limits, nowMs: Date.now() });
    this.#report({ kind: "archived", end, bytes, files });
  }

  #report(report: ArchiveReport): void {
    this.#data.port.postMessage(report);
  }
}

/** Undefined where the file is damaged. */
function chainAtEnd(file: string): Chain | undefined {
  try {
    using opened = new ArchiveFile(file);
    return opened.footer.end.chain;
  } catch (cause) {
    if (cause instanceof StoreError) return undefined;
    throw cause;
  }
}

const data = loadThread<ArchiveThreadData>();
lowerPriority(NICE);
try {
  const { TxnReader } = (await import(data.decoderModule)) as { readonly TxnReader: new () => TxnDecoder };
  new ArchiveThread(data, new TxnReader());
} catch (cause) {
  const reason = cause instanceof StoreError || cause instanceof Error ? cause.message : String(cause);
  data.port.postMessage({ kind: "unable", reason } satisfies ArchiveReport);
  data.port.close();
}
