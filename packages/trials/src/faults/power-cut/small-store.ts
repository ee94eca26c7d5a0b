/**
 * A store that is so small that each of its files is written, rolled and checkpointed within a few
 * calls, and what it promised.
 */
import { composeZxid, ZXID_NONE } from "@zooid/model";
import type { StoreDirectories } from "@zooid/txn-log/internal/directory/inspect-directory";
import type { DurableLog } from "@zooid/txn-log/internal/log/txn-log";
import { openStore, type Store } from "@zooid/txn-log/sqlite";
import { RecordingHandler } from "@zooid/txn-log/testing/append-batches";
import { type PromisedLog, promised } from "@zooid/txn-log/testing/promised-log";
import { loaded, Oracle } from "@zooid/txn-log/testing/state-oracle";
import type { Notes } from "./notes.ts";

export const STORE_TRACK = "store";
export const SID = 1;
export const SEGMENT_BYTES: number = 24 * 1024;
const NEVER = { checkpointBytes: 2 ** 40, checkpointMs: 2 ** 31 - 1 };

/**
 * The durable facts, but for those that a start may change: its count, and the hint, which is
 * behind the known ones.
 */
export function viewOf({ identity, promise, currentEpoch, committedConfig, lastSeenConfig, tail }: DurableLog): string {
  const hex = (bytes: Uint8Array | undefined): string =>
    bytes === undefined ? "none" : Buffer.from(bytes).toString("hex");
  const configs = `configurations ${hex(committedConfig)} and ${hex(lastSeenConfig)}`;
  return `${identity.ensembleId || "no ensemble"}, promise ${promise.epoch}, epoch ${currentEpoch}, ${configs}, end ${tail.zxid}`;
}

/** Does one thing after the other, and writes down what it promises. */
export class SmallStore implements AsyncDisposable {
  readonly store: Store;
  readonly #handler: RecordingHandler;
  readonly #log: PromisedLog;
  readonly #notes: Notes;
  /** Where the transactions come from. */
  oracle: Oracle;

  private constructor(store: Store, handler: RecordingHandler, notes: Notes) {
    this.store = store;
    this.#handler = handler;
    this.#log = promised(store.log, handler);
    this.#notes = notes;
    this.oracle = new Oracle(1, loaded(store));
    this.#notes.state(store.state.applied.applied.zxid, this.oracle);
  }

  static async open(directories: StoreDirectories, notes: Notes): Promise<SmallStore> {
    const handler = new RecordingHandler();
    const sizes = { segmentBytes: SEGMENT_BYTES, logKeepBytes: SEGMENT_BYTES };
    const open = (): Promise<Store> => openStore({ ...directories, sid: SID, handler, ...sizes, ...NEVER });
    const store = await notes.step(STORE_TRACK, open, (opened) => viewOf(opened.log.durable));
    return new SmallStore(store, handler, notes);
  }

  get warnings(): readonly string[] {
    return this.#handler.warnings;
  }

  /** A step of the log, which lasts once it is called back. */
  async step(ask: (log: PromisedLog) => Promise<unknown>): Promise<void> {
    await this.#notes.step(
      STORE_TRACK,
      () => ask(this.#log),
      () => viewOf(this.#log.durable),
    );
  }

  /**
   * Appends a batch of random transactions. Those that are committed once they last may be
   * checkpointed then.
   */
  async append(
    count: number,
    {
      isCommitted = true,
      lastSeenConfig,
    }: { readonly isCommitted?: boolean; readonly lastSeenConfig?: Uint8Array } = {},
  ): Promise<void> {
    const bytes = this.transactions(count);
    const completed = this.#handler.completions.length;
    await this.#notes.step(
      STORE_TRACK,
      async () => {
        const committed = isCommitted ? this.oracle.zxid : ZXID_NONE;
        const run = { generation: 1, bytes, start: 0, end: bytes.length, committed };
        this.#log.append(lastSeenConfig === undefined ? run : { ...run, marks: { lastSeenConfig } });
        // To wait for another call's answer would be a commit more.
        while (this.#handler.completions.length === completed && this.#handler.failures.length === 0)
          await new Promise(setImmediate);
      },
      () => viewOf(this.#log.durable),
    );
    if (!isCommitted) return;
    const { zxid, chain } = this.#log.durable.tail;
    this.store.state.advance({ zxid, chain, digestHigh: 1, digestLow: 2, bytes: bytes.length });
  }

  /** Checkpoints all that is appended so far. */
  async checkpoint(): Promise<void> {
    await this.store.state.flush();
  }

  /** Random transactions in a batch, for this store or for another one. */
  transactions(count: number): Uint8Array {
    for (let i = 0; i < count; i++) {
      this.oracle.step();
      this.#notes.state(this.oracle.zxid, this.oracle);
    }
    const { bytes, end } = this.oracle.encoder.take();
    const batch = Uint8Array.from(bytes.subarray(0, end));
    this.#notes.records(batch);
    return batch;
  }

  /** The next transactions follow those of an oracle, in another epoch. */
  continueFrom(oracle: Oracle, epoch: number): void {
    this.oracle = oracle.copy();
    this.oracle.zxid = composeZxid(epoch, 0);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.store[Symbol.asyncDispose]();
    const [failure] = this.#handler.failures;
    if (failure !== undefined) throw failure;
  }
}
