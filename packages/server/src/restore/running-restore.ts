import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { extname, join } from "node:path";
import { Worker } from "node:worker_threads";
import type { UploadSettings } from "@zooid/backup";
import { type Chain, counted, formatZxid, type LogPosition, type Zxid } from "@zooid/model";
import type { RestoredState, RestoreEnd } from "@zooid/zab";
import type { Driver } from "../driver/driver.ts";
import type { RestoreTarget } from "../offline/restore-plan.ts";
import type { LogFields } from "../operators/log-fields.ts";
import { RESTORING_FOLDER, type RestoredFile, type Storage } from "../storage/storage.ts";
import type { RestoreReport, RestoreSource, RestoreThreadData } from "./restore-messages.ts";

/** The running server, as a restore needs it. */
export interface RestoringServer {
  /** The settings in force. */
  backup(): UploadSettings | undefined;
  readonly dataDir: string | undefined;
  driver(): Driver;
  storage(): Storage;
  warn(text: string, fields: LogFields): void;
  info(text: string, fields: LogFields): void;
}

export interface RestoreRequest {
  readonly moment: RestoreTarget;
  readonly isPlan: boolean;
  readonly keepsSessions: boolean;
}

/** How far the last restore that was asked for is. */
export type RestoreStatus =
  | { readonly phase: "none" }
  /** The backup is read, and the state made. */
  | { readonly phase: "making" }
  | { readonly phase: "planned"; readonly source: RestoreSource }
  /** The next epoch begins. */
  | { readonly phase: "restoring"; readonly source: RestoreSource }
  | { readonly phase: "restored"; readonly source: RestoreSource; readonly at: Zxid }
  | { readonly phase: "failed"; readonly problem: string };

type Made = Extract<RestoreReport, { kind: "made" }>;

const HEAP_MIB = 4096;
const CHAIN_BYTES = 8;

/**
 * Restores a state of the past while the server and its ensemble run: a thread makes the state from
 * the backup, then the leader begins the next epoch with it. One at a time.
 */
export class RunningRestore {
  readonly #server: RestoringServer;
  #status: RestoreStatus = { phase: "none" };
  #worker: Worker | undefined;

  constructor(server: RestoringServer) {
    this.#server = server;
  }

  get status(): RestoreStatus {
    return this.#status;
  }

  get isUnderWay(): boolean {
    return this.#status.phase === "making" || this.#status.phase === "restoring";
  }

  /** Why nothing can be restored now; undefined: it can. Only where this server leads. */
  obstacle(): string | undefined {
    const { dataDir } = this.#server;
    if (this.#server.backup() === undefined || dataDir === undefined) return NO_TARGET;
    if (this.#server.driver().replica.zab.members.isChanging)
      return "a change of the ensemble's configuration is under way";
    return undefined;
  }

  /** @param ended whether the state was restored; not called for a plan */
  begin(request: RestoreRequest, ended: (isRestored: boolean) => void): void {
    this.#status = { phase: "making" };
    void this.#run(request, ended).catch((error: unknown) =>
      this.#fail(error instanceof Error ? error.message : String(error), ended),
    );
  }

  /** The server stops. */
  async stop(): Promise<void> {
    await this.#worker?.terminate();
  }

  async #run({ moment, isPlan, keepsSessions }: RestoreRequest, ended: (isRestored: boolean) => void): Promise<void> {
    const { dataDir, storage } = this.#server;
    const settings = this.#server.backup();
    if (settings === undefined || dataDir === undefined) throw new Error(NO_TARGET);
    const { ensembleId } = storage().log.durable.identity;
    const folder = join(dataDir, RESTORING_FOLDER);
    const report = await this.#made({ settings, moment, isPlan, folder, ensembleId });
    switch (report.kind) {
      case "failed":
        return isPlan ? this.#refuse(report.problem) : this.#fail(report.problem, ended);
      case "planned":
        this.#status = { phase: "planned", source: report.source };
        return;
      case "made":
        return this.#restore(report, { folder, ensembleId, keepsSessions, ended });
    }
  }

  #made(data: RestoreThreadData): Promise<RestoreReport> {
    const extension = extname(import.meta.url);
    const { promise, resolve, reject } = Promise.withResolvers<RestoreReport>();
    const name = "restore-thread";
    const worker = new Worker(new URL(`./${name}${extension}`, import.meta.url), {
      workerData: data,
      execArgv: extension === ".ts" ? ["--conditions=@zooid/source"] : [],
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB },
    });
    this.#worker = worker;
    worker.on("message", resolve);
    worker.on("error", reject);
    worker.once("exit", (status) => {
      this.#worker = undefined;
      reject(new Error(`the thread that makes the state ended with status ${status}`));
    });
    worker.unref();
    return promise;
  }

  async #restore(
    { source, nodeCount, stateFile, warnings }: Made,
    {
      folder,
      ensembleId,
      keepsSessions,
      ended,
    }: {
      readonly folder: string;
      readonly ensembleId: string;
      readonly keepsSessions: boolean;
      readonly ended: (isRestored: boolean) => void;
    },
  ): Promise<void> {
    const { driver, warn } = this.#server;
    for (const text of warnings) warn(text, { event: "restoring" });
    this.#status = { phase: "restoring", source };
    warn(
      `the state of ${formatZxid(source.zxid)} with ${counted(nodeCount, "znode")} replaces all data of the ensemble; all clients are disconnected`,
      { event: "restoring" },
    );
    const state = new StateToRestore(this.#server, { stateFile, ensembleId, keepsSessions });
    const restored: RestoredState = {
      standAt: (zxid, _epochs, done) => state.standAt(zxid, done),
      ended: (end) => {
        state.release();
        rmSync(folder, { recursive: true, force: true });
        this.#ended(end, source, ended);
      },
    };
    if (await driver().restore(restored)) return;
    rmSync(folder, { recursive: true, force: true });
    this.#fail(
      "this server does not lead any more, the configuration of the ensemble changes, or writes in flight were not committed in time",
      ended,
    );
  }

  #ended(end: RestoreEnd, source: RestoreSource, ended: (isRestored: boolean) => void): void {
    switch (end.kind) {
      case "restored":
        this.#status = { phase: "restored", source, at: end.zxid };
        this.#server.info(`the state of ${formatZxid(source.zxid)} is restored, at ${formatZxid(end.zxid)}`, {
          event: "restored",
        });
        return ended(true);
      case "given-up":
        return this.#fail(`no quorum promised the next epoch, or the state could not be placed (${end.detail})`, ended);
      case "undecided":
        return this.#fail(
          `this server has the state, and lost its quorum before others had it: the next leader continues with it or without it; look whether epoch ${end.epoch - 1} is in the zxids`,
          ended,
        );
    }
  }

  #fail(problem: string, ended: (isRestored: boolean) => void): void {
    this.#refuse(problem);
    ended(false);
  }

  #refuse(problem: string): void {
    this.#status = { phase: "failed", problem };
    this.#server.warn(`nothing is restored: ${problem}`, { event: "restore-failed" });
  }
}

export const NO_TARGET = "this server has no backup to restore from: zooid.backup.target is not set";

type MadeState = Omit<RestoredFile, "position">;

/** A state in a file, until the log names it or it is given up. */
class StateToRestore {
  readonly #server: RestoringServer;
  readonly #made: MadeState;
  #release: (() => void) | undefined;
  #isReleased = false;

  constructor(server: RestoringServer, made: MadeState) {
    this.#server = server;
    this.#made = made;
  }

  /** Archives all earlier writes first, so that the restore can be undone. */
  standAt(zxid: Zxid, done: Parameters<RestoredState["standAt"]>[2]): void {
    this.#standAt(zxid).then(done, (error: unknown) =>
      done({ failed: error instanceof Error ? error.message : String(error) }),
    );
  }

  async #standAt(zxid: Zxid): Promise<{ readonly stateFile: string; readonly position: LogPosition }> {
    const { driver, storage } = this.#server;
    driver().checkpoint();
    const position = { zxid, chain: BigInt(`0x${randomBytes(CHAIN_BYTES).toString("hex")}`) as Chain };
    const placed = await storage().placeRestored({ ...this.#made, position });
    // The role has ended meanwhile: nothing installs it any more.
    if (this.#isReleased) placed.abandon();
    this.#release = placed.abandon;
    return { stateFile: placed.stateFile, position };
  }

  release(): void {
    this.#isReleased = true;
    this.#release?.();
  }
}
