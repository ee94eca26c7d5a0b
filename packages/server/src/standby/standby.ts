import { existsSync } from "node:fs";
import { extname, join } from "node:path";
import { MessageChannel, type MessagePort, Worker } from "node:worker_threads";
import type { ArchiveSource } from "@zooid/backup";
import { counted, formatZxid } from "@zooid/model";
import type { BuiltState } from "@zooid/txn-log/sqlite";
import type { LogFields } from "../operators/log-fields.ts";
import type { StandbyCommand, StandbyReport, StandbyThreadData } from "./standby-messages.ts";

/** In the data directory. */
export const STANDBY_FOLDER = "standby";
/** In it: the state. */
const STATE_FILE = "state.db";

export interface StandbyParts {
  readonly source: ArchiveSource;
  readonly dataDir: string;
  /** The state has moved, or is gone. */
  moved(state: BuiltState | undefined): void;
  info(text: string, fields: LogFields): void;
  warn(text: string, fields: LogFields): void;
}

export interface StandbyStatus {
  readonly state: BuiltState | undefined;
  /** Time since it had everything that the archive has; 0 while it has. Undefined: it never had. */
  readonly behindMs: number | undefined;
  readonly lastError: string | undefined;
}

/** A state's file that is another part's, until it is given back or becomes the server's own. */
export interface LentState {
  readonly file: string;
  readonly state: BuiltState;
  /** The file is unchanged, or has become the state of the server's own log. */
  release(): void;
}

const HEAP_MIB = 512;
const CLOSE_MS = 3000;
/** A thread that ended is started again after this. */
const AGAIN_MS = 10_000;

/**
 * The state of a followed Apache ensemble that a member keeps ready beside its own data, while its
 * ensemble serves no clients. A thread of low priority makes it.
 */
export class Standby {
  readonly #parts: StandbyParts;
  #thread: { readonly worker: Worker; readonly port: MessagePort } | undefined;
  #again: NodeJS.Timeout | undefined;
  #state: BuiltState | undefined;
  #isLevel = false;
  #levelMs: number | undefined;
  #fault: string | undefined;
  #isLent = false;
  #isStopped = false;
  #nextId = 1;
  readonly #answers = new Map<number, PromiseWithResolvers<BuiltState | undefined>>();

  constructor(parts: StandbyParts) {
    this.#parts = parts;
    this.#start();
  }

  get status(): StandbyStatus {
    const behindMs = this.#isLevel || this.#levelMs === undefined ? undefined : performance.now() - this.#levelMs;
    return {
      state: this.#state,
      behindMs: this.#isLevel ? 0 : behindMs === undefined ? undefined : Math.round(behindMs),
      lastError: this.#fault,
    };
  }

  /** Looks at the archive soon: an operator waits. */
  look(): void {
    this.#send({ kind: "look" });
  }

  /** Hands the file of the state over; undefined where there is none, or it is lent. */
  async lend(): Promise<LentState | undefined> {
    if (this.#isLent || this.#isStopped) return undefined;
    this.#isLent = true;
    const state = await this.#ask("lend");
    const file = join(this.#parts.dataDir, STANDBY_FOLDER, STATE_FILE);
    if (state === undefined || !existsSync(file)) {
      this.#takeBack();
      return undefined;
    }
    let isGivenBack = false;
    return {
      file,
      state,
      release: () => {
        if (!isGivenBack) this.#takeBack();
        isGivenBack = true;
      },
    };
  }

  /** Removes the state, which begins again with the newest base of the archive. */
  async drop(): Promise<void> {
    if (!this.#isStopped) await this.#ask("drop");
  }

  async stop(): Promise<void> {
    if (this.#isStopped) return;
    this.#isStopped = true;
    clearTimeout(this.#again);
    this.#settle();
    if (this.#thread === undefined) return;
    const { worker, port } = this.#thread;
    const exited = new Promise<void>((resolve) => {
      if (worker.threadId === -1) resolve();
      else worker.once("exit", () => resolve());
    });
    worker.ref();
    const late = setTimeout(() => void worker.terminate(), CLOSE_MS);
    port.postMessage({ kind: "close" } satisfies StandbyCommand);
    await exited;
    clearTimeout(late);
    port.close();
  }

  #takeBack(): void {
    this.#isLent = false;
    if (!this.#isStopped) this.#send({ kind: "take-back" });
  }

  #ask(kind: "lend" | "drop"): Promise<BuiltState | undefined> {
    const id = this.#nextId++;
    const answer = Promise.withResolvers<BuiltState | undefined>();
    this.#answers.set(id, answer);
    this.#send({ kind, id });
    return answer.promise;
  }

  #send(command: StandbyCommand): void {
    if (this.#thread === undefined) this.#settle();
    else this.#thread.port.postMessage(command);
  }

  #start(): void {
    const { source, dataDir } = this.#parts;
    const { port1, port2 } = new MessageChannel();
    const workerData: StandbyThreadData = { source, folder: join(dataDir, STANDBY_FOLDER), port: port2 };
    const extension = extname(import.meta.url);
    const name = "standby-thread";
    const worker = new Worker(new URL(`./${name}${extension}`, import.meta.url), {
      workerData,
      transferList: [port2],
      execArgv: extension === ".ts" ? ["--conditions=@zooid/source"] : [],
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB },
    });
    this.#thread = { worker, port: port1 };
    port1.on("message", (report: StandbyReport) => this.#receive(report));
    worker.on("error", (error) => this.#failed(error.message));
    worker.once("exit", (status) => this.#exited(status));
    port1.unref();
    worker.unref();
  }

  #receive(report: StandbyReport): void {
    switch (report.kind) {
      case "stands":
        return this.#stands(report);
      case "lent":
        this.#answers.get(report.id)?.resolve(report.state);
        this.#answers.delete(report.id);
        return;
      case "dropped":
        this.#answers.get(report.id)?.resolve(undefined);
        this.#answers.delete(report.id);
        return;
      case "warned":
        return this.#parts.warn(report.text, { event: "standby" });
    }
  }

  #stands({ state, isLevel, fault }: Extract<StandbyReport, { kind: "stands" }>): void {
    if (isLevel) this.#levelMs = performance.now();
    if (isLevel && !this.#isLevel && this.#state !== undefined && state !== undefined)
      this.#parts.info(
        `the state of the followed Apache ensemble is ready at ${formatZxid(state.applied.zxid)}, with ${counted(state.nodeCount, "znode")} and ${counted(state.sessionCount, "session")}`,
        { event: "standby" },
      );
    this.#isLevel = isLevel;
    this.#state = state;
    if (fault === undefined) this.#fault = undefined;
    else this.#failed(fault);
    this.#parts.moved(state);
  }

  #failed(reason: string): void {
    if (this.#fault !== reason && !this.#isStopped)
      this.#parts.warn(`the state of the followed Apache ensemble is not brought forward: ${reason}`, {
        event: "standby-failed",
      });
    this.#fault = reason;
  }

  /** A thread that ended leaves the file unchanged. */
  #exited(status: number): void {
    this.#thread?.port.close();
    this.#thread = undefined;
    this.#settle();
    if (this.#isStopped) return;
    this.#isLevel = false;
    this.#failed(this.#fault ?? `its thread ended with status ${status}`);
    this.#again = setTimeout(() => this.#start(), AGAIN_MS);
    this.#again.unref();
  }

  #settle(): void {
    for (const { resolve } of this.#answers.values()) resolve(undefined);
    this.#answers.clear();
  }
}
