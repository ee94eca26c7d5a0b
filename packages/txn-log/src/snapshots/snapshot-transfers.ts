import { readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { assert, type LevelRange, levelAt } from "@zooid/model/storage";
import type { ExportOptions } from "../apache/export-options.ts";
import type { ImportOptions } from "../apache/import-options.ts";
import { syncDirectoryOf } from "../disk/sync-path.ts";
import type { TestBreak } from "../disk/test-break.ts";
import { epochsUpTo } from "../log/log-book.ts";
import type { SqliteTxnLog } from "../log/sqlite-txn-log.ts";
import type { EpochRange, LogPosition } from "../log/txn-log.ts";
import type { LiveTree } from "../state/live-tree.ts";
import type { SqliteStateStore } from "../state/sqlite-state-store.ts";
import type { PlacedState, SnapshotExport, SnapshotReceiver, StateMeta } from "../state/state-store.ts";
import { StoreError } from "../store/store-error.ts";
import { openChunk } from "./snapshot-format.ts";
import type { SnapshotReceiveData } from "./snapshot-receive-thread.ts";
import { openSnapshotReceiver, type ThreadSnapshotReceiver } from "./snapshot-receiver.ts";
import type { SnapshotForm } from "./snapshot-send-thread.ts";
import { openSnapshotSource, type ThreadSnapshotSource } from "./snapshot-source.ts";

export interface TransferParts {
  readonly log: SqliteTxnLog;
  readonly state: SqliteStateStore;
  readonly directory: string;
  readonly holdMs: number;
  /** The feature levels that this server knows. */
  readonly levels: LevelRange;
  readonly testBreak: TestBreak | undefined;
}

/**
 * The states that come and go, and what stands still for them.
 *
 * ```
 *  sending     state file checkpointed up to its newest mark ─▶ stands still ─▶ read ─▶ resumes          log held until disposed
 *  receiving   old state file stands still ─▶ new one built ─▶ install names it ─▶ adopted ─▶ resumes
 * ```
 *
 * While a state is received nothing may be checkpointed into the old one: the install takes away
 * the log that it would be checkpointed from.
 */
export class SnapshotTransfers {
  readonly #parts: TransferParts;
  readonly #sources = new Set<ThreadSnapshotSource>();
  #receiving: { readonly still: Disposable; receiver: ThreadSnapshotReceiver | undefined } | undefined;
  /** The sources that are being made ready. */
  readonly #opening = new Set<Promise<unknown>>();
  #isClosed = false;
  /** The rebuild of the state file in progress. Never rejects. */
  #rebuilding: Promise<void> | undefined;
  #lastNumber = 0;

  constructor(parts: TransferParts) {
    this.#parts = parts;
  }

  open(): Promise<ThreadSnapshotSource> {
    return this.#awaited(this.#open("own"));
  }

  /** As {@link open}, in Apache's form. */
  async export(options: ExportOptions): Promise<SnapshotExport> {
    const source = await this.#awaited(this.#open(options));
    const { content, position } = source;
    assert(content !== undefined, "a snapshot of Apache's says what it has");
    let index = 0;
    return {
      position,
      ...content,
      next: async () => {
        const chunk = await source.next();
        return chunk === undefined
          ? undefined
          : openChunk(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length), index++);
      },
      [Symbol.asyncDispose]: () => source[Symbol.asyncDispose](),
    };
  }

  receive(position: LogPosition, epochs: readonly EpochRange[] | undefined): Promise<SnapshotReceiver> {
    const { ensembleId } = this.#parts.log.durable.identity;
    const { lowest, highest } = this.#parts.levels;
    return this.#awaited(this.#receive({ position, epochs, ensembleId, levels: { lowest, highest } }));
  }

  /**
   * Makes ready to build a state from a snapshot of Apache's, to become that of this log's next
   * epochs.
   */
  import({ sessions = "drop", epochMin = 0, epochGap = 2, at }: ImportOptions = {}): Promise<SnapshotReceiver> {
    const { promise, currentEpoch, identity, levelRaise, commitHint } = this.#parts.log.durable;
    const level = levelAt(levelRaise, commitHint);
    return this.#awaited(
      this.#receive({
        // The state takes an epoch of its own before.
        epochMin: Math.max(epochMin, Math.max(promise.epoch, currentEpoch) + 2),
        epochGap,
        at,
        sessions,
        ensembleId: identity.ensembleId,
        level,
      }),
    );
  }

  async #open(form: SnapshotForm): Promise<ThreadSnapshotSource> {
    const { log, state, holdMs } = this.#parts;
    await this.#rebuilding;
    const still = await state.standStill({ isCheckpointed: true });
    const { zxid } = state.applied.applied;
    const held = log.hold(zxid);
    try {
      const source: ThreadSnapshotSource = await openSnapshotSource({
        form,
        stateFile: state.stateFile,
        epochs: epochsUpTo(log.durable.epochs, zxid),
        holdMs,
        read: () => still[Symbol.dispose](),
        disposed: () => {
          held[Symbol.dispose]();
          this.#sources.delete(source);
        },
      });
      this.#sources.add(source);
      if (!this.#isClosed) return source;
      await source[Symbol.asyncDispose]();
      throw new StoreError({ code: "CLOSED" });
    } catch (cause) {
      held[Symbol.dispose]();
      still[Symbol.dispose]();
      throw cause;
    }
  }

  async #receive(expected: SnapshotReceiveData["expected"]): Promise<SnapshotReceiver> {
    const { log, state, directory, testBreak } = this.#parts;
    if (this.#receiving !== undefined) {
      throw new StoreError({
        code: "DEFECT",
        reason: "a state is received while another one is neither adopted nor abandoned",
      });
    }
    // Taken before anything is waited for, so that there is never a second one.
    const received: { still: Disposable; receiver: ThreadSnapshotReceiver | undefined } = {
      still: NOTHING,
      receiver: undefined,
    };
    this.#receiving = received;
    try {
      received.still = await state.standStill({ isCheckpointed: false });
      const name = this.#newName();
      received.receiver = await openSnapshotReceiver({
        name,
        file: join(directory, name),
        expected,
        testBreak,
        isNamed: () => log.isNamed(name),
        abandoned: () => this.#endReceiving(received),
      });
    } catch (cause) {
      this.#endReceiving(received);
      throw cause;
    }
    if (!this.#isClosed) return received.receiver;
    await received.receiver.abandon();
    throw new StoreError({ code: "CLOSED" });
  }

  /**
   * Moves a whole state file, which lies on the same disk, beside the one in force. That one stands
   * still until the new one is adopted or abandoned.
   */
  async place(source: string): Promise<PlacedState> {
    const { log, state, directory } = this.#parts;
    if (this.#receiving !== undefined) throw new StoreError({ code: "DEFECT", reason: "a state is received already" });
    const placed: { still: Disposable; receiver: undefined } = { still: NOTHING, receiver: undefined };
    this.#receiving = placed;
    try {
      placed.still = await state.standStill({ isCheckpointed: false });
      const name = this.#newName();
      const file = join(directory, name);
      renameSync(source, file);
      syncDirectoryOf(file);
      return {
        stateFile: name,
        abandon: () => {
          if (!log.isNamed(name)) rmSync(file, { force: true });
          this.#endReceiving(placed);
        },
      };
    } catch (cause) {
      this.#endReceiving(placed);
      throw cause;
    }
  }

  /**
   * Rebuilds the state file from the tree in memory. It waits for transfers that are being made
   * ready, and later ones wait for it: a source must find the file unchanged since its position was
   * taken.
   */
  async rebuild(tree: LiveTree): Promise<void> {
    while (this.#opening.size > 0) await Promise.allSettled(this.#opening);
    if (this.#isClosed || this.#rebuilding !== undefined) throw new StoreError({ code: "CLOSED" });
    const rebuilt = this.#parts.state.rebuild(tree, () => this.#isClosed);
    this.#rebuilding = rebuilt.catch(() => {});
    try {
      await rebuilt;
    } finally {
      this.#rebuilding = undefined;
    }
  }

  /** Whether a state is read to be sent to a member, or copied. */
  get isSending(): boolean {
    return this.#sources.size > 0;
  }

  /** Nothing new is begun any more. */
  stop(): void {
    this.#isClosed = true;
  }

  /** The file that the log names is the state from now on. */
  adopt(): StateMeta {
    const { log, state, directory } = this.#parts;
    const file = join(directory, log.durable.stateFile);
    if (file === state.stateFile) return state.applied;
    for (const source of this.#sources) source.end("another state was adopted");
    const meta = state.adopt(file);
    const received = this.#receiving;
    if (received !== undefined) this.#endReceiving(received);
    return meta;
  }

  async close(): Promise<void> {
    this.stop();
    await this.#rebuilding;
    await Promise.all([...this.#sources].map((source) => source[Symbol.asyncDispose]()));
    await Promise.allSettled(this.#opening);
    await this.#receiving?.receiver?.abandon();
  }

  /** A store is not closed, and its directory not free, before this has ended. */
  async #awaited<T>(opening: Promise<T>): Promise<T> {
    this.#opening.add(opening);
    try {
      return await opening;
    } finally {
      this.#opening.delete(opening);
    }
  }

  #endReceiving(received: { readonly still: Disposable }): void {
    if (this.#receiving === received) this.#receiving = undefined;
    received.still[Symbol.dispose]();
  }

  /** A name that no state file has or had while this store is open. */
  #newName(): string {
    const names = [this.#parts.log.durable.stateFile, ...readdirSync(this.#parts.directory)];
    for (const name of names)
      this.#lastNumber = Math.max(this.#lastNumber, Number(/^state-(\d+)\.db/.exec(name)?.[1] ?? 0));
    this.#lastNumber++;
    return `state-${this.#lastNumber}.db`;
  }
}

const NOTHING: Disposable = { [Symbol.dispose]: () => {} };
