import { extname } from "node:path";
import { MessageChannel, type MessagePort, Worker } from "node:worker_threads";
import type { Zxid } from "@zooid/model";
import type { BackupPurge, UploadEvent } from "./backup-uploader.ts";
import { NO_FACTS, type SharedFacts } from "./shared-facts.ts";
import type { UploadCommand, UploadReport, UploadSettings, UploadThreadData } from "./upload-messages.ts";

export interface BackupUploadsOptions {
  readonly settings: UploadSettings;
  /** The folder of the server's archive. */
  readonly archive: string;
  /** This server, in words for the others: the same after a restart. */
  readonly holder: string;
  /** Asked before each pass; undefined while it is not known. */
  readonly ensembleId: () => string | undefined;
  /** Writes all transactions into the archive's files. */
  readonly flush: () => Promise<void>;
  /** The same, and copies the whole state there. */
  readonly takeBase: () => Promise<void>;
  readonly noted: (event: BackupEvent) => void;
  /** Time from one pass to the next. Default 5 s. */
  readonly passMs?: number;
  /** Time without a renewal after which another server takes over. Default 60 s. */
  readonly leaseMs?: number;
}

export type BackupEvent =
  | UploadEvent
  /** A pass failed; it is tried again, and the next failure for the same reason is not noted. */
  | { readonly kind: "failed"; readonly reason: string }
  /** A pass after a failed one did all that it had to. */
  | { readonly kind: "works" };

export interface BackupStatus extends SharedFacts {
  readonly target: string;
  /** Whether this server uploads; undefined before its first pass. */
  readonly isHolder: boolean | undefined;
  /** The server that uploads. */
  readonly holder: string | undefined;
  /** Why the last pass failed. */
  readonly fault: string | undefined;
  /** Bases that were asked for, and how many of these are done, or have failed. */
  readonly askedCount: number;
  readonly doneCount: number;
}

/** A pass that a thread is asked for, until it has answered. */
interface Pass {
  readonly command: UploadCommand & { readonly kind: "pass" };
  readonly done: PromiseWithResolvers<void>;
}

const CHANGED = "the settings of the backup were changed meanwhile";
const PASS_MS = 5_000;
const LEASE_MS = 60_000;
/** After failures, passes are this far apart at most. */
const RETRY_MS_MAX = 60_000;
const HEAP_MIB = 96;
const CLOSE_MS = 3_000;

/**
 * Keeps a backup up to date with a server's archive, in a thread of low priority of its own. No
 * write waits for it, and a target that is away is tried again.
 */
export class BackupUploads implements AsyncDisposable {
  readonly #options: BackupUploadsOptions;
  #settings: UploadSettings;
  /** The thread ends, and another one begins with other settings. */
  #isChanging = false;
  #thread: { readonly worker: Worker; readonly port: MessagePort } | undefined;
  #timer: NodeJS.Timeout | undefined;
  #nextId = 1;
  readonly #passes = new Map<number, Pass>();
  readonly #purges = new Map<number, PromiseWithResolvers<BackupPurge>>();
  #failures = 0;
  #isClosed = false;
  #facts: SharedFacts = NO_FACTS;
  #isHolder: boolean | undefined;
  #holder: string | undefined;
  #fault: string | undefined;
  #askedCount = 0;
  #doneCount = 0;

  constructor(options: BackupUploadsOptions) {
    this.#options = options;
    this.#settings = options.settings;
    this.#schedule();
  }

  get status(): BackupStatus {
    const { target } = this.#settings;
    const counts = { askedCount: this.#askedCount, doneCount: this.#doneCount };
    return { ...this.#facts, target, isHolder: this.#isHolder, holder: this.#holder, fault: this.#fault, ...counts };
  }

  /**
   * Continues with other settings, which may name another target. A pass under way is given up,
   * with its lease, and made again; a purge under way fails.
   */
  change(settings: UploadSettings): void {
    const isElsewhere = !isSamePlace(this.#settings, settings);
    this.#settings = settings;
    if (isElsewhere) {
      this.#facts = NO_FACTS;
      this.#isHolder = undefined;
      this.#holder = undefined;
      this.#fault = undefined;
    }
    this.#failures = 0;
    if (this.#thread === undefined || this.#isChanging || this.#isClosed) return;
    this.#isChanging = true;
    this.#thread.port.postMessage({ kind: "close" } satisfies UploadCommand);
  }

  /** As {@link now}, without waiting: it is done when the status has counted it. */
  begin(): BackupStatus {
    void this.#force();
    return this.status;
  }

  /**
   * Takes a base now and uploads it with everything before it.
   *
   * @returns when it was read back; where another server uploads, nothing was done
   * @throws Error with what failed
   */
  async now(): Promise<BackupStatus> {
    await this.#force();
    if (this.#fault !== undefined) throw new Error(this.#fault);
    return this.status;
  }

  /**
   * Uploads what the archive has, as each pass does.
   *
   * @throws Error with what failed
   */
  async upload(): Promise<BackupStatus> {
    await this.#pass(false);
    if (this.#fault !== undefined) throw new Error(this.#fault);
    return this.status;
  }

  /**
   * Removes what the backup has of transactions up to a zxid, but for its newest base.
   *
   * @param planned where the base would stand that is taken before: nothing is removed, and all is
   *   counted
   * @throws Error with what failed
   */
  async purge(through: Zxid, planned?: Zxid): Promise<BackupPurge> {
    const ensembleId = this.#options.ensembleId();
    if (ensembleId === undefined || this.#isClosed) throw new Error("the id of the ensemble is not known yet");
    const id = this.#nextId++;
    const purge = Promise.withResolvers<BackupPurge>();
    if (this.#isChanging) throw new Error(CHANGED);
    this.#purges.set(id, purge);
    this.#send({ kind: "purge", id, ensembleId, through, planned });
    return await purge.promise;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearTimeout(this.#timer);
    if (this.#thread === undefined) return;
    const { worker, port } = this.#thread;
    const exited = new Promise<void>((resolve) => {
      if (worker.threadId === -1) resolve();
      else worker.once("exit", () => resolve());
    });
    worker.ref();
    const late = setTimeout(() => void worker.terminate(), CLOSE_MS);
    port.postMessage({ kind: "close" } satisfies UploadCommand);
    await exited;
    clearTimeout(late);
    port.close();
  }

  #schedule(): void {
    if (this.#isClosed) return;
    const { passMs = PASS_MS } = this.#options;
    const waitMs = Math.min(RETRY_MS_MAX, passMs * 2 ** Math.min(this.#failures, 10));
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#pass(false), Math.max(passMs, waitMs)).unref();
  }

  async #force(): Promise<void> {
    this.#askedCount++;
    await this.#pass(true);
    this.#doneCount++;
  }

  async #pass(isForced: boolean): Promise<void> {
    const ensembleId = this.#options.ensembleId();
    if (ensembleId !== undefined && !this.#isClosed) {
      const id = this.#nextId++;
      const command: Pass["command"] = { kind: "pass", id, ensembleId, isForced };
      const done = Promise.withResolvers<void>();
      this.#passes.set(id, { command, done });
      // The thread that comes next is asked for it.
      if (!this.#isChanging) this.#send(command);
      await done.promise;
    }
    if (this.#passes.size === 0) this.#schedule();
  }

  #send(command: UploadCommand): void {
    this.#thread ??= this.#start();
    this.#thread.port.postMessage(command);
  }

  #start(): { readonly worker: Worker; readonly port: MessagePort } {
    const { archive, holder, leaseMs = LEASE_MS } = this.#options;
    const settings = this.#settings;
    const { port1, port2 } = new MessageChannel();
    const workerData: UploadThreadData = { archive, holder, leaseMs, settings, port: port2 };
    const extension = extname(import.meta.url);
    const name = "upload-thread";
    const worker = new Worker(new URL(`./${name}${extension}`, import.meta.url), {
      workerData,
      transferList: [port2],
      execArgv: extension === ".ts" ? ["--conditions=@zooid/source"] : [],
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB },
    });
    port1.on("message", (report: UploadReport) => this.#receive(report));
    worker.on("error", (error) => this.#fail(error.message));
    worker.once("exit", (status) => this.#exited(status));
    port1.unref();
    worker.unref();
    return { worker, port: port1 };
  }

  #receive(report: UploadReport): void {
    // What a thread says that was given up may be about another target.
    if (this.#isChanging) return;
    switch (report.kind) {
      case "passed": {
        const { facts, holder, isHolder } = report.result;
        this.#facts = facts;
        this.#holder = holder;
        this.#isHolder = isHolder;
        if (this.#fault !== undefined) this.#options.noted({ kind: "works" });
        this.#fault = undefined;
        this.#failures = 0;
        return this.#settle(report.id);
      }
      case "purged":
        this.#purges.get(report.id)?.resolve(report.result);
        this.#purges.delete(report.id);
        return;
      case "failed":
        if (this.#endPurge(report.id, report.reason)) return;
        this.#fail(report.reason);
        return this.#settle(report.id);
      case "noted":
        return this.#options.noted(report.event);
      case "write-archive":
        void this.#writeArchive(report.withBase);
    }
  }

  async #writeArchive(withBase: boolean): Promise<void> {
    const { flush, takeBase } = this.#options;
    const asking = this.#thread;
    const fault = await (withBase ? takeBase() : flush()).then(
      () => undefined,
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    );
    if (!this.#isClosed && asking === this.#thread) this.#send({ kind: "archive-written", fault });
  }

  #fail(reason: string): void {
    if (this.#isClosed) return;
    this.#failures++;
    if (this.#fault !== reason) this.#options.noted({ kind: "failed", reason });
    this.#fault = reason;
  }

  /** The next pass starts another thread. */
  #exited(status: number): void {
    this.#thread?.port.close();
    this.#thread = undefined;
    if (this.#isChanging && !this.#isClosed) {
      this.#isChanging = false;
      for (const id of [...this.#purges.keys()]) this.#endPurge(id, CHANGED);
      for (const { command } of this.#passes.values()) this.#send(command);
      if (this.#passes.size === 0) void this.#pass(false);
      return;
    }
    if (!this.#isClosed && this.#passes.size > 0) this.#fail(this.#fault ?? `its thread ended with status ${status}`);
    for (const id of [...this.#passes.keys()]) this.#settle(id);
    for (const id of [...this.#purges.keys()]) this.#endPurge(id, `its thread ended with status ${status}`);
  }

  /** @returns whether it was a purge that failed */
  #endPurge(id: number, reason: string): boolean {
    this.#purges.get(id)?.reject(new Error(reason));
    return this.#purges.delete(id);
  }

  #settle(id: number): void {
    this.#passes.get(id)?.done.resolve();
    this.#passes.delete(id);
  }
}

/** Whether both name the same objects; another key may open them. */
export function isSamePlace(one: UploadSettings, other: UploadSettings): boolean {
  return one.target === other.target && one.endpoint === other.endpoint && one.region === other.region;
}
