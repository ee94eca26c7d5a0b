import { rmSync } from "node:fs";
import { extname } from "node:path";
import { MessageChannel, type MessagePort, Worker } from "node:worker_threads";
import { isSamePlace, type UploadSettings } from "@zooid/backup";
import type { ReplayResult } from "./replay-check.ts";
import type { ReplayThreadData } from "./replay-thread.ts";

export interface ReplayChecksOptions {
  readonly settings: UploadSettings;
  /** A folder of its own, on a disk that may have the data. */
  readonly scratch: string;
  readonly noted: (result: ReplayResult) => void;
}

export interface ReplayStatus {
  /** When a base and the files behind it last led to the next base, in ms since 1970. */
  readonly replayedMs: number | undefined;
  /** The result of the last comparison, where it found another state. */
  readonly differs: (ReplayResult & { readonly kind: "differs" }) | undefined;
}

const HEAP_MIB = 192;
const CLOSE_MS = 3_000;

/**
 * Compares each new base of a backup with the base before it and the files of the log in between,
 * in a thread of low priority of its own, which ends with each comparison.
 */
export class ReplayChecks implements AsyncDisposable {
  readonly #options: ReplayChecksOptions;
  #settings: UploadSettings;
  #thread: { readonly port: MessagePort; readonly ended: Promise<void>; readonly worker: Worker } | undefined;
  /** A base came during a comparison. */
  #isDue = false;
  #pauseCount = 0;
  #status: ReplayStatus = { replayedMs: undefined, differs: undefined };

  constructor(options: ReplayChecksOptions) {
    this.#options = options;
    this.#settings = options.settings;
    // What a process that was killed has left.
    rmSync(options.scratch, { recursive: true, force: true });
  }

  get status(): ReplayStatus {
    return this.#status;
  }

  /** Later comparisons read with other settings; one of another target is given up. */
  change(settings: UploadSettings): void {
    const isElsewhere = !isSamePlace(this.#settings, settings);
    this.#settings = settings;
    if (!isElsewhere) return;
    this.#status = { replayedMs: undefined, differs: undefined };
    void this.pause().then((pause) => pause[Symbol.dispose]());
  }

  /** The backup has another base. */
  begin(): void {
    if (this.#pauseCount > 0) return;
    if (this.#thread === undefined) this.#start();
    else this.#isDue = true;
  }

  /** Ends a comparison that is under way; none begins until the answer is disposed of. */
  async pause(): Promise<Disposable> {
    this.#pauseCount++;
    this.#isDue = false;
    await this.#end();
    return { [Symbol.dispose]: () => void this.#pauseCount-- };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.pause();
  }

  #start(): void {
    const { scratch } = this.#options;
    const settings = this.#settings;
    const { port1, port2 } = new MessageChannel();
    const workerData: ReplayThreadData = { settings, scratch, port: port2 };
    const extension = extname(import.meta.url);
    const name = "replay-thread";
    const worker = new Worker(new URL(`./${name}${extension}`, import.meta.url), {
      workerData,
      transferList: [port2],
      execArgv: extension === ".ts" ? ["--conditions=@zooid/source"] : [],
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB },
    });
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    let hasAnswered = false;
    const answer = (result: ReplayResult): void => {
      if (!hasAnswered && this.#pauseCount === 0) this.#receive(result);
      hasAnswered = true;
    };
    port1.on("message", answer);
    worker.on("error", (error) => answer({ kind: "skipped", reason: error.message }));
    worker.once("exit", () => {
      port1.close();
      this.#thread = undefined;
      resolve();
      if (!this.#isDue) return;
      this.#isDue = false;
      this.begin();
    });
    port1.unref();
    worker.unref();
    this.#thread = { port: port1, ended, worker };
  }

  async #end(): Promise<void> {
    if (this.#thread === undefined) return;
    const { ended, port, worker } = this.#thread;
    worker.ref();
    const late = setTimeout(() => void worker.terminate(), CLOSE_MS);
    port.postMessage("end");
    await ended;
    clearTimeout(late);
    rmSync(this.#options.scratch, { recursive: true, force: true });
  }

  #receive(result: ReplayResult): void {
    if (result.kind === "equal") this.#status = { replayedMs: Date.now(), differs: undefined };
    else if (result.kind === "differs") this.#status = { ...this.#status, differs: result };
    this.#options.noted(result);
  }
}
