import type { Chain, Zxid } from "@zooid/model";
import type {
  DurableLog,
  EntryRun,
  EpochPromise,
  HistoryInstall,
  LogConfigs,
  LogPosition,
  LogStats,
  StoreLog,
} from "../log/txn-log.ts";
import type { AppendBatch, RecordingHandler } from "./append-batches.ts";

/**
 * A log for tests that wait for each step. With its handler, promises reject when the log fails.
 */
export class PromisedLog {
  readonly log: StoreLog;
  readonly #handler: RecordingHandler | undefined;

  constructor(log: StoreLog, handler?: RecordingHandler) {
    this.log = log;
    this.#handler = handler;
  }

  get durable(): DurableLog {
    return this.log.durable;
  }

  append({ generation, committed, marks, ...run }: AppendBatch): void {
    this.log.append(run, generation, committed, marks);
  }

  setPromise(promise: EpochPromise): Promise<void> {
    return this.#promise((done) => this.log.setPromise(promise, done));
  }

  setCurrentEpoch(epoch: number): Promise<void> {
    return this.#promise((done) => this.log.setCurrentEpoch(epoch, done));
  }

  setConfigs(configs: LogConfigs): Promise<void> {
    return this.#promise((done) => this.log.setConfigs(configs, done));
  }

  setEnsembleId(ensembleId: string): Promise<void> {
    return this.#promise((done) => this.log.setEnsembleId(ensembleId, done));
  }

  /** @returns the new end */
  async cut(to: Zxid): Promise<LogPosition> {
    await this.#promise<void>((done) => this.log.cut(to, done));
    return this.log.durable.tail;
  }

  beginStage(after: LogPosition): Promise<void> {
    return this.#promise((done) => this.log.beginStage(after, done));
  }

  stage(bytes: Uint8Array, start: number, end: number): Promise<void> {
    return this.#promise((done) => this.log.stage({ bytes, start, end }, done));
  }

  dropStage(): Promise<void> {
    return this.#promise((done) => this.log.dropStage(done));
  }

  /** @returns the new end */
  async installHistory(install: HistoryInstall): Promise<LogPosition> {
    await this.#promise<void>((done) => this.log.installHistory(install, done));
    return this.log.durable.tail;
  }

  async read(after: Zxid, bytesMax: number): Promise<EntryRun> {
    const result = await this.#promise<EntryRun | "below-floor" | "damaged">((done) =>
      this.log.read(after, bytesMax, done),
    );
    if (typeof result !== "string") return result;
    throw Object.assign(new Error(`nothing is read: ${result}`), { code: result });
  }

  chainAt(zxid: Zxid): Promise<Chain | undefined> {
    return this.#promise((done) => this.log.chainAt(zxid, done));
  }

  allowPurge(upTo: Zxid): void {
    this.log.allowPurge(upTo);
  }

  hold(after: Zxid): Disposable {
    return this.log.hold(after);
  }

  stats(): LogStats {
    return this.log.stats();
  }

  #promise<T>(ask: (done: (value: T) => void) => void): Promise<T> {
    return this.#handler === undefined ? new Promise((resolve) => ask(resolve)) : this.#handler.promise(ask);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.log[Symbol.asyncDispose]();
  }
}

const LOGS = new WeakMap<StoreLog, PromisedLog>();

/** The log of a store, with promises. */
export function promised(log: StoreLog, handler?: RecordingHandler): PromisedLog {
  if (handler !== undefined) return new PromisedLog(log, handler);
  const known = LOGS.get(log) ?? new PromisedLog(log);
  LOGS.set(log, known);
  return known;
}
