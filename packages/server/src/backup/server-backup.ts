import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { type BackupPurge, type BackupStatus, BackupUploads, isSamePlace, type UploadSettings } from "@zooid/backup";
import type { Zxid } from "@zooid/model";
import type { Store } from "@zooid/txn-log/sqlite";
import type { Metric } from "../admin/metric.ts";
import { backupFault, backupMetrics } from "./backup-health.ts";
import { type BackupLog, reportBackup, reportReplay } from "./backup-reports.ts";
import { ReplayChecks } from "./replay-checks.ts";

export interface ServerBackupOptions {
  readonly settings: UploadSettings;
  readonly store: Store;
  /** The data directory. */
  readonly directory: string;
  readonly sid: number;
  readonly isAlone: boolean;
  readonly log: BackupLog;
}

/** The backup of a running server: its archive is copied to the target while it serves. */
export class ServerBackup implements AsyncDisposable {
  readonly #uploads: BackupUploads;
  readonly #replays: ReplayChecks;
  #settings: UploadSettings;
  #sinceMs = Date.now();

  constructor({ settings, store, directory, sid, isAlone, log }: ServerBackupOptions) {
    this.#settings = settings;
    this.#uploads = new BackupUploads({
      settings,
      archive: join(directory, "archive"),
      holder: `server ${sid}`,
      // A member learns it from its leader.
      ensembleId: () => {
        const { ensembleId } = store.log.durable.identity;
        return ensembleId === "" && !isAlone ? undefined : ensembleId;
      },
      flush: async () => {
        await store.archive?.flushFiles();
      },
      takeBase: async () => {
        await store.archive?.flush();
        await store.archive?.takeBase();
      },
      noted: (event) => {
        reportBackup(event, this.#settings.target, log);
        if (event.kind === "base") this.#replays.begin();
      },
    });
    this.#replays = new ReplayChecks({
      settings,
      scratch: join(directory, "archive", "replayed"),
      noted: (result) => reportReplay(result, this.#settings.target, log),
    });
  }

  /** Continues with other settings; another target begins like that of a start. */
  change(settings: UploadSettings): void {
    // A reload of other settings leaves a pass alone.
    if (isDeepStrictEqual(this.#settings, settings)) return;
    if (!isSamePlace(this.#settings, settings)) this.#sinceMs = Date.now();
    this.#settings = settings;
    this.#replays.change(settings);
    this.#uploads.change(settings);
  }

  get status(): BackupStatus {
    return this.#uploads.status;
  }

  /** Takes a base now; the status counts those that were asked for and are done. */
  begin(): BackupStatus {
    return this.#uploads.begin();
  }

  /**
   * Uploads what the history has.
   *
   * @throws Error with what failed
   */
  upload(): Promise<BackupStatus> {
    return this.#uploads.upload();
  }

  /**
   * Takes a base, and uploads it with what the history has.
   *
   * @throws Error with what failed
   */
  now(): Promise<BackupStatus> {
    return this.#uploads.now();
  }

  /**
   * Takes a base, uploads it, and removes what the backup has of transactions up to a zxid.
   *
   * @throws Error with what failed
   */
  async purge(through: Zxid): Promise<BackupPurge> {
    await this.#uploads.now();
    return await this.#uploads.purge(through);
  }

  /**
   * The plan of a {@link purge} with a base at a zxid; nothing is changed.
   *
   * @throws Error with what failed
   */
  planPurge(through: Zxid, base: Zxid): Promise<BackupPurge> {
    return this.#uploads.purge(through, base);
  }

  /**
   * Ends a comparison of bases, which would lack what a purge removes, and has copies of it; none
   * begins until the answer is disposed of.
   */
  pauseReplays(): Promise<Disposable> {
    return this.#replays.pause();
  }

  /** Why the backup is too old; undefined while it is not. */
  fault(): string | undefined {
    const age = { status: this.status, baseEveryMs: this.#settings.baseEveryMs, sinceMs: this.#sinceMs };
    return backupFault(age, this.#replays.status, Date.now());
  }

  metrics(): Iterable<Metric> {
    return backupMetrics(this.status, this.#replays.status, Date.now());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#uploads[Symbol.asyncDispose]();
    await this.#replays[Symbol.asyncDispose]();
  }
}
