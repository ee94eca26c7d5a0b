import { MessageChannel, type MessagePort, type Worker } from "node:worker_threads";
import type { Zxid } from "@zooid/model";
import type { CheckpointMark } from "../state-store.ts";
import { startWorker } from "../threads/start-worker.ts";
import type { ArchiveCommand, ArchiveFiles, ArchiveReport, ArchiveThreadData } from "./archive-messages.ts";

/** The committed entries of the last days, in files of their own. */
export interface ArchiveOptions {
  /** Made, readable by its owner only, if it does not exist. */
  readonly folder: string;
  /** Files whose last entry is older are removed. */
  readonly retainMs: number;
  /** The oldest files are removed while all of them have more bytes. Default: no limit. */
  readonly retainBytes?: number;
  /**
   * Log that is kept for entries which are in no file yet, in bytes. With more of it the log is let
   * go of, and the archive has a gap. Default 1 GiB.
   */
  readonly lagBytesMax?: number;
  /** Default 8 MiB of entries, or 10 s. */
  readonly fileBytes?: number;
  readonly fileMs?: number;
  /** What operators should know. */
  readonly noted: (event: ArchiveEvent) => void;
}

export type ArchiveEvent =
  /** Entries after the first zxid and up to the second one are in no file. */
  | { readonly kind: "gap"; readonly after: Zxid; readonly end: Zxid }
  /** A file could not be written. It is tried again. */
  | { readonly kind: "unable"; readonly reason: string }
  /** Writing works again. */
  | { readonly kind: "able" };

export interface ArchiveStatus {
  /** The last entry in a file; undefined until this process has written one. */
  readonly end: Zxid | undefined;
  readonly files: ArchiveFiles;
  /** Log bytes that are in no file yet. */
  readonly lagBytes: number;
  /** Since the open. */
  readonly gapCount: number;
  /** Why the last file could not be written; undefined where it was. */
  readonly unable: string | undefined;
}

const LAG_BYTES_MAX: number = 1024 * 1024 * 1024;
const FILE_BYTES: number = 8 * 1024 * 1024;
const FILE_MS = 10_000;
const HEAP_MIB = 96;

export interface ArchiveParts {
  readonly options: ArchiveOptions;
  readonly logDirectory: string;
  readonly leases: SharedArrayBuffer;
  readonly decoderModule: string;
  /** Where the archive ends, as far as the log still has what follows. */
  readonly after: Zxid;
  /** Keeps the log behind a zxid. */
  readonly hold: (after: Zxid) => Disposable;
}

/** The archive as the store's thread sees it. Its own thread starts with the first mark. */
export class Archive {
  readonly #parts: ArchiveParts;
  #thread: { readonly worker: Worker; readonly port: MessagePort } | undefined;
  /** Undefined while the archive lags too far behind, or the disk has little room. */
  #hold: Disposable | undefined;
  /** Marks in no file yet, with the log's bytes up to each since the one before. */
  #marks: { readonly zxid: Zxid; readonly bytes: number }[] = [];
  #lagBytes = 0;
  #isLow = false;
  #end: Zxid | undefined;
  #files: ArchiveFiles = { count: 0, bytes: 0 };
  #gapCount = 0;
  #unable: string | undefined;
  #nextId = 1;
  readonly #flushes = new Map<number, () => void>();
  #closing: Promise<void> | undefined;

  constructor(parts: ArchiveParts) {
    this.#parts = parts;
    this.#hold = parts.hold(parts.after);
  }

  get status(): ArchiveStatus {
    const lagBytes = this.#lagBytes;
    return { end: this.#end, files: this.#files, lagBytes, gapCount: this.#gapCount, unable: this.#unable };
  }

  /** Everything up to here is committed and durable. */
  advance({ zxid, bytes, digestHigh, digestLow }: CheckpointMark): void {
    if (this.#closing !== undefined) return;
    this.#marks.push({ zxid, bytes });
    this.#lagBytes += bytes;
    const { lagBytesMax = LAG_BYTES_MAX } = this.#parts.options;
    if (this.#lagBytes > lagBytesMax) this.#endHold();
    this.#send({ kind: "mark", mark: { zxid, digestHigh, digestLow } });
  }

  /** While the disk has little room, the log is kept for nothing but what needs it. */
  setLow(isLow: boolean): void {
    this.#isLow = isLow;
    if (isLow) this.#endHold();
    else if (this.#hold === undefined) this.#keep(this.#end ?? this.#parts.after);
  }

  /** Another state was adopted: the log continues that one. */
  adopted(floor: Zxid): void {
    this.#marks = [];
    this.#lagBytes = 0;
    this.#keep(floor);
    if (this.#thread !== undefined) this.#send({ kind: "restart" });
  }

  /** Ends the file that is being written. @returns when everything that was marked is in files */
  async flush(): Promise<ArchiveStatus> {
    if (this.#thread !== undefined && this.#closing === undefined) {
      const id = this.#nextId++;
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#flushes.set(id, resolve);
      this.#send({ kind: "flush", id });
      await promise;
    }
    return this.status;
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    if (this.#thread !== undefined) {
      const { worker, port } = this.#thread;
      const { promise, resolve } = Promise.withResolvers<void>();
      if (worker.threadId === -1) resolve();
      else worker.once("exit", () => resolve());
      worker.ref();
      port.postMessage({ kind: "close" } satisfies ArchiveCommand);
      await promise;
      port.close();
    }
    this.#settle();
    this.#hold?.[Symbol.dispose]();
  }

  #send(command: ArchiveCommand): void {
    this.#thread ??= this.#start();
    this.#thread.port.postMessage(command);
  }

  #start(): { readonly worker: Worker; readonly port: MessagePort } {
    const { options, logDirectory, leases, decoderModule } = this.#parts;
    const { port1, port2 } = new MessageChannel();
    const data: ArchiveThreadData = {
      folder: options.folder,
      logDirectory,
      leases,
      port: port2,
      decoderModule,
      fileBytes: options.fileBytes ?? FILE_BYTES,
      fileMs: options.fileMs ?? FILE_MS,
      retainMs: options.retainMs,
      retainBytes: options.retainBytes ?? Number.POSITIVE_INFINITY,
    };
    const worker = startWorker({ name: "archive/archive-thread", data, transfer: [port2], heapMib: HEAP_MIB });
    port1.on("message", (report: ArchiveReport) => this.#receive(report));
    worker.on("error", (error) => this.#fail(error.message));
    port1.unref();
    worker.unref();
    return { worker, port: port1 };
  }

  #receive(report: ArchiveReport): void {
    switch (report.kind) {
      case "archived": {
        const { zxid } = report.end;
        this.#end = zxid;
        this.#files = report.files;
        const behind = this.#marks.findIndex((mark) => mark.zxid > zxid);
        const done = this.#marks.splice(0, behind === -1 ? this.#marks.length : behind);
        for (const { bytes } of done) this.#lagBytes -= bytes;
        this.#keep(zxid);
        if (this.#unable !== undefined) this.#parts.options.noted({ kind: "able" });
        this.#unable = undefined;
        return;
      }
      case "gap":
        this.#gapCount++;
        return this.#parts.options.noted({ kind: "gap", after: report.after, end: report.end });
      case "flushed":
        this.#flushes.get(report.id)?.();
        this.#flushes.delete(report.id);
        return;
      case "unable":
        return this.#fail(report.reason);
    }
  }

  #fail(reason: string): void {
    if (this.#unable === undefined) this.#parts.options.noted({ kind: "unable", reason });
    this.#unable = reason;
  }

  #keep(after: Zxid): void {
    const before = this.#hold;
    this.#hold = this.#isLow || this.#closing !== undefined ? undefined : this.#parts.hold(after);
    // In this order, so that the log is never let go of in between.
    before?.[Symbol.dispose]();
  }

  #endHold(): void {
    this.#hold?.[Symbol.dispose]();
    this.#hold = undefined;
  }

  #settle(): void {
    for (const resolve of this.#flushes.values()) resolve();
    this.#flushes.clear();
  }
}
