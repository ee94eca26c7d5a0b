import { setTimeout as pause } from "node:timers/promises";
import { workerData } from "node:worker_threads";
import { lowerPriority } from "@zooid/txn-log/archive";
import type { BackupTarget, ObjectTail, TargetObject } from "../targets/backup-target.ts";
import { BackupUploader } from "./backup-uploader.ts";
import { openUploadTarget } from "./open-upload-target.ts";
import { Pace } from "./pace.ts";
import type { UploadCommand, UploadReport, UploadSettings, UploadThreadData } from "./upload-messages.ts";

/** Below the server's threads and above none of the system's. */
const NICE = 10;
/** Time for the lease to be freed. */
const CLOSE_MS = 2_000;

/**
 * Opens the target again before each pass: the file with its key may have been replaced.
 */
class ReopenedTarget implements BackupTarget {
  readonly name: string;
  readonly #settings: UploadSettings;
  #signal: AbortSignal;
  #opened: BackupTarget | undefined;

  constructor(settings: UploadSettings, signal: AbortSignal) {
    this.name = settings.target;
    this.#settings = settings;
    this.#signal = signal;
  }

  reopen(signal: AbortSignal): void {
    this.#signal = signal;
    this.#opened = undefined;
  }

  put(name: string, bytes: Uint8Array): Promise<void> {
    return this.#target().put(name, bytes);
  }

  get(name: string, bytesMax: number): Promise<Buffer | undefined> {
    return this.#target().get(name, bytesMax);
  }

  tail(name: string, bytesMax: number): Promise<ObjectTail | undefined> {
    return this.#target().tail(name, bytesMax);
  }

  list(prefix: string, after?: string): Promise<readonly TargetObject[]> {
    return this.#target().list(prefix, after);
  }

  remove(name: string): Promise<void> {
    return this.#target().remove(name);
  }

  #target(): BackupTarget {
    this.#signal.throwIfAborted();
    this.#opened ??= openUploadTarget(this.#settings, this.#signal);
    return this.#opened;
  }
}

/** Does one pass at a time, as the server's thread asks for it. */
class UploadThread {
  readonly #data: UploadThreadData;
  readonly #ended = new AbortController();
  readonly #target: ReopenedTarget;
  readonly #uploader: BackupUploader;
  #written: PromiseWithResolvers<void> | undefined;
  #passing: Promise<void> = Promise.resolve();

  constructor(data: UploadThreadData) {
    this.#data = data;
    const { archive, holder, leaseMs, settings } = data;
    const { signal } = this.#ended;
    this.#target = new ReopenedTarget(settings, signal);
    const steadyMs = (): number => performance.now();
    this.#uploader = new BackupUploader({
      target: this.#target,
      archive,
      holder,
      leaseMs,
      baseEveryMs: settings.baseEveryMs,
      retainMs: settings.retainMs,
      pace: new Pace(settings.bytesPerSecond, steadyMs, (ms) => pause(ms, undefined, { signal })),
      flush: () => this.#writeArchive(false),
      takeBase: () => this.#writeArchive(true),
      noted: (event) => this.#report({ kind: "noted", event }),
      wallMs: Date.now,
      steadyMs,
    });
    data.port.on("message", (command: UploadCommand) => this.#receive(command));
  }

  #receive(command: UploadCommand): void {
    switch (command.kind) {
      case "pass":
        this.#passing = this.#passing.then(() => this.#pass(command));
        return;
      case "purge":
        this.#passing = this.#passing.then(() => this.#purge(command));
        return;
      case "archive-written":
        if (command.fault === undefined) this.#written?.resolve();
        else this.#written?.reject(new Error(`the state cannot be copied into the archive: ${command.fault}`));
        return;
      case "close":
        void this.#close();
    }
  }

  async #pass({ id, ensembleId, isForced }: UploadCommand & { readonly kind: "pass" }): Promise<void> {
    this.#target.reopen(this.#ended.signal);
    try {
      this.#report({ kind: "passed", id, result: await this.#uploader.pass({ ensembleId, isForced }) });
    } catch (error) {
      this.#report({ kind: "failed", id, reason: error instanceof Error ? error.message : String(error) });
    }
  }

  async #purge({ id, ...order }: UploadCommand & { readonly kind: "purge" }): Promise<void> {
    this.#target.reopen(this.#ended.signal);
    try {
      this.#report({ kind: "purged", id, result: await this.#uploader.purge(order) });
    } catch (error) {
      this.#report({ kind: "failed", id, reason: error instanceof Error ? error.message : String(error) });
    }
  }

  #writeArchive(withBase: boolean): Promise<void> {
    this.#written = Promise.withResolvers<void>();
    this.#report({ kind: "write-archive", withBase });
    return this.#written.promise;
  }

  async #close(): Promise<void> {
    const passing = this.#passing;
    this.#written?.reject(new Error("the server stops"));
    this.#ended.abort(new Error("the server stops"));
    await passing;
    // Another server continues at once then; where the target is away, after a while.
    this.#target.reopen(AbortSignal.timeout(CLOSE_MS));
    await this.#uploader.close().catch(() => {});
    this.#data.port.close();
  }

  #report(report: UploadReport): void {
    this.#data.port.postMessage(report);
  }
}

lowerPriority(NICE);
new UploadThread(workerData as UploadThreadData);
