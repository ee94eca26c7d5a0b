import { setImmediate } from "node:timers/promises";
import { MessageChannel, type MessagePort, receiveMessageOnPort, type Worker } from "node:worker_threads";
import { assert } from "@zooid/model/storage";
import { storeErrorOf } from "../disk/database.ts";
import type { TestBreak } from "../disk/test-break.ts";
import { StoreError } from "../store/store-error.ts";
import { startWorker } from "../threads/start-worker.ts";
import { DATA_WRITES_MAX } from "./checkpoint-plan.ts";
import type { LiveTree } from "./live-tree.ts";
import { loadStateFile, readStateMeta, StateFile } from "./state-file.ts";
import type { CheckpointReport, RebuildStep, StateCommand, StateReport, StateThreadData } from "./state-messages.ts";
import { StateSlices } from "./state-slices.ts";
import type { CheckpointMark, StateMeta, StateSink, StateStats, StateStore } from "./state-store.ts";

export interface SqliteStateOptions {
  readonly stateFile: string;
  /** The directory of the log's segments. Their readers share `leases` with the log's thread. */
  readonly logDirectory: string;
  readonly leases: SharedArrayBuffer;
  readonly decoderModule: string;
  readonly checkpointBytes: number;
  readonly checkpointMs: number;
  readonly testBreak: TestBreak | undefined;
  /** Everything up to here is called committed. */
  readonly marked: (mark: CheckpointMark) => void;
  /** A checkpoint is on the disk. */
  readonly checkpointed: (meta: StateMeta) => void;
  /**
   * Checkpoints wait for room on the disk, for this reason; or, with `undefined`, they have found
   * room.
   */
  readonly roomChanged: (missing: string | undefined) => void;
  /** The state cannot be brought forward any more; the process must end. */
  readonly failed: (error: Error) => void;
}

const STATE_HEAP_MIB = 48;
/** Number of marks at which the thread starts at the latest. Until then they wait in its port. */
const WAITING_MARKS_MAX = 256;

/**
 * Opens the state file once as its thread will, which rolls back what a crash left and finds what
 * is damaged. The thread itself starts at its first work, so that it does not load its modules
 * while the server starts.
 */
export function openSqliteState(options: SqliteStateOptions): SqliteStateStore {
  const { stateFile, testBreak } = options;
  try {
    const file = new StateFile(stateFile, { testBreak });
    file.close();
    return new SqliteStateStore(options, file.meta);
  } catch (cause) {
    throw storeErrorOf(cause, stateFile);
  }
}

/** The state store as its user's thread sees it. */
export class SqliteStateStore implements StateStore {
  readonly #options: SqliteStateOptions;
  readonly #port: MessagePort;
  readonly #threadPort: MessagePort;
  #worker: Worker | undefined;
  /** When the thread starts for marks alone. */
  #startTimer: NodeJS.Timeout | undefined;
  #stateFile: string;
  #applied: StateMeta;
  #dead: Error | undefined;
  #closing: Promise<void> | undefined;
  #lagBytes = 0;
  /** Bytes of the lag that arose while the file stood still. No write waits for them. */
  #excusedBytes = 0;
  #lagMarks = 0;
  /** The users that need the file to stand still, and the answer that it does. */
  #stillCount = 0;
  #standing: PromiseWithResolvers<void> | undefined;
  #freed: PromiseWithResolvers<void> | undefined;
  /** Files that the thread does not yet know are the state. */
  #adopting = 0;
  #isFull = false;
  #lastMark: CheckpointMark | undefined;
  /** Data writes sent with each mark that is not checkpointed yet, and with all of these marks. */
  #dataWriteCounts: number[] = [];
  #dataWriteTotal = 0;
  #nextId = 1;
  #rebuildStep: PromiseWithResolvers<void> | undefined;
  readonly #flushes = new Map<number, { readonly resolve: () => void; readonly reject: (error: Error) => void }>();
  #totals = { checkpointCount: 0, checkpointMsTotal: 0, checkpointMsLast: 0, checkpointedEntries: 0, writtenNodes: 0 };

  constructor(options: SqliteStateOptions, meta: StateMeta) {
    const { port1, port2 } = new MessageChannel();
    this.#options = options;
    this.#port = port1;
    this.#threadPort = port2;
    this.#stateFile = options.stateFile;
    this.#applied = meta;
    port1.on("message", (report: StateReport) => this.#receive(report));
  }

  get applied(): StateMeta {
    return this.#applied;
  }

  /** The file in force. */
  get stateFile(): string {
    return this.#stateFile;
  }

  get lagBytes(): number {
    return this.#lagBytes - this.#excusedBytes;
  }

  load(sink: StateSink): StateMeta {
    return loadStateFile(this.#stateFile, sink);
  }

  advance(mark: CheckpointMark): void {
    if (this.#dead !== undefined) return;
    assert(mark.zxid > (this.#lastMark?.zxid ?? -1), "marks rise");
    this.#lastMark = mark;
    this.#lagBytes += mark.bytes;
    if (this.#stillCount > 0) this.#excusedBytes += mark.bytes;
    this.#lagMarks++;
    this.#options.marked(mark);
    this.#sendMark(mark);
    if (this.#worker === undefined) this.#startForMarks();
  }

  /**
   * Resolves once nothing is checkpointed any more: for a caller that reads the file, with
   * `isCheckpointed` after everything marked so far is in it, or that is about to replace it. The
   * file stands still until all callers have disposed of the answer. Readers that come while it
   * does share its position. Once `checkpointBytes` were marked since, which would have been
   * checkpointed, they wait.
   */
  async standStill({ isCheckpointed }: { readonly isCheckpointed: boolean }): Promise<Disposable> {
    if (this.#dead !== undefined) throw this.#dead;
    while (isCheckpointed && this.#freed !== undefined && this.#excusedBytes >= this.#options.checkpointBytes) {
      await this.#freed.promise;
    }
    if (this.#dead !== undefined) throw this.#dead;
    this.#stillCount++;
    if (this.#standing === undefined) {
      this.#standing = Promise.withResolvers<void>();
      this.#freed = Promise.withResolvers<void>();
      this.#send({ kind: "stand-still", isCheckpointed });
    }
    await this.#standing.promise;
    let isHeld = true;
    return {
      [Symbol.dispose]: () => {
        if (isHeld) this.#resume();
        isHeld = false;
      },
    };
  }

  /**
   * Another file is the state from now on; the thread removes the old one. What was marked belongs
   * to another history.
   */
  adopt(stateFile: string): StateMeta {
    if (this.#dead !== undefined) throw this.#dead;
    const meta = readStateMeta(stateFile);
    this.#adopting++;
    this.#stateFile = stateFile;
    this.#applied = meta;
    this.#lagBytes = 0;
    this.#excusedBytes = 0;
    this.#lagMarks = 0;
    this.#dataWriteCounts = [];
    this.#dataWriteTotal = 0;
    this.#lastMark = undefined;
    this.#send({ kind: "adopt", stateFile });
    return meta;
  }

  /**
   * Rebuilds the state file from the tree in memory, in slices between which all other work
   * continues, and puts it in the place of the old one. Nothing is checkpointed meanwhile. Rejects
   * when that cannot be done, and then the old file is in force as before.
   *
   * @param isEnded asked between slices: whether to give up
   */
  async rebuild(tree: LiveTree, isEnded: () => boolean): Promise<void> {
    using _still = await this.standStill({ isCheckpointed: false });
    await this.#rebuild({ kind: "begin" });
    try {
      const capture = await unlessPartly(() => tree.capture(), isEnded);
      const slices = new StateSlices(capture);
      for (let slice = slices.next(); slice !== undefined; slice = slices.next()) {
        await this.#rebuild({ kind: "slice", slice });
        if (isEnded()) throw new StoreError({ code: "CLOSED" });
      }
      const to = await unlessPartly(() => tree.position(), isEnded);
      await this.#rebuild({
        kind: "end",
        from: capture.applied,
        nextNodeId: capture.nextNode,
        level: capture.level,
        to,
      });
    } catch (cause) {
      if (this.#dead === undefined) await this.#rebuild({ kind: "abandon" });
      throw cause;
    }
  }

  async #rebuild(step: RebuildStep): Promise<void> {
    if (this.#dead !== undefined) throw this.#dead;
    assert(this.#rebuildStep === undefined, "a state is rebuilt step by step");
    const answer = Promise.withResolvers<void>();
    this.#rebuildStep = answer;
    this.#send({ kind: "rebuild", step });
    try {
      await answer.promise;
    } finally {
      this.#rebuildStep = undefined;
    }
  }

  async flush(): Promise<StateMeta> {
    if (this.#dead !== undefined) throw this.#dead;
    const id = this.#nextId++;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#flushes.set(id, { resolve, reject });
    this.#send({ kind: "flush", id });
    await promise;
    return this.#applied;
  }

  stats(): StateStats {
    return { lagBytes: this.#lagBytes, lagMarks: this.#lagMarks, ...this.#totals, isFull: this.#isFull };
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    clearTimeout(this.#startTimer);
    const worker = this.#worker;
    if (worker !== undefined) {
      const { promise, resolve } = Promise.withResolvers<void>();
      if (worker.threadId === -1) resolve();
      else worker.once("exit", () => resolve());
      this.#send({ kind: "close" });
      await promise;
    }
    this.#dead ??= new StoreError({ code: "CLOSED" });
    this.#rejectAll(this.#dead);
    this.#port.close();
  }

  #receive(report: StateReport): void {
    if (this.#dead !== undefined) return;
    switch (report.kind) {
      case "checkpointed":
        return this.#checkpointed(report.checkpoint);
      case "flushed":
        this.#flushes.get(report.id)?.resolve();
        this.#flushes.delete(report.id);
        return;
      case "standing":
        this.#standing?.resolve();
        return;
      case "adopted":
        this.#adopting--;
        return;
      case "rebuilt":
        this.#rebuildStep?.resolve();
        return;
      case "not-rebuilt":
        this.#rebuildStep?.reject(new StoreError(report.detail));
        return;
      case "room-changed":
        this.#isFull = report.missing !== undefined;
        return this.#options.roomChanged(report.missing);
      case "failed":
        return this.#fail(new StoreError(report.detail));
    }
  }

  #checkpointed(checkpoint: CheckpointReport): void {
    const { checkpointCount, checkpointMsTotal, checkpointedEntries, writtenNodes } = this.#totals;
    this.#totals = {
      checkpointCount: checkpointCount + 1,
      checkpointMsTotal: checkpointMsTotal + checkpoint.ms,
      checkpointMsLast: checkpoint.ms,
      checkpointedEntries: checkpointedEntries + checkpoint.entries,
      writtenNodes: writtenNodes + checkpoint.nodes,
    };
    // Of a file that is the state no more.
    if (this.#adopting > 0) return;
    this.#applied = checkpoint.meta;
    this.#lagBytes -= checkpoint.bytes;
    this.#excusedBytes = Math.min(this.#excusedBytes, this.#lagBytes);
    this.#lagMarks -= checkpoint.marks;
    for (const count of this.#dataWriteCounts.splice(0, checkpoint.marks)) this.#dataWriteTotal -= count;
    this.#options.checkpointed(checkpoint.meta);
  }

  /** The thread has ended, for whatever reason. What it reported before that counts first. */
  #ended(status: number): void {
    if (this.#closing !== undefined) return;
    for (let next = receiveMessageOnPort(this.#port); next !== undefined; next = receiveMessageOnPort(this.#port)) {
      this.#receive(next.message as StateReport);
    }
    this.#fail(new StoreError({ code: "DEFECT", reason: `the state thread ended with status ${status}` }));
  }

  #fail(error: Error): void {
    if (this.#dead !== undefined) return;
    this.#dead = error;
    this.#rejectAll(error);
    this.#options.failed(error);
  }

  #rejectAll(error: Error): void {
    for (const { reject } of this.#flushes.values()) reject(error);
    this.#flushes.clear();
    this.#rebuildStep?.reject(error);
    this.#standing?.promise.catch(() => {});
    this.#standing?.reject(error);
    this.#freed?.resolve();
  }

  #resume(): void {
    this.#stillCount--;
    if (this.#stillCount > 0) return;
    this.#standing = undefined;
    this.#freed?.resolve();
    this.#freed = undefined;
    if (this.#dead === undefined) this.#send({ kind: "resume" });
  }

  /**
   * Starts the thread at the lag at which a running one checkpoints: after `checkpointBytes`, or
   * `checkpointMs` after the first mark.
   */
  #startForMarks(): void {
    const { checkpointBytes, checkpointMs } = this.#options;
    if (this.#lagBytes >= checkpointBytes || this.#lagMarks >= WAITING_MARKS_MAX) this.#start();
    else this.#startTimer ??= setTimeout(() => void this.flush().catch(() => {}), checkpointMs);
  }

  /**
   * Sends the mark without its data writes if too many wait already: the checkpoint then reads all
   * entries.
   */
  #sendMark({ dataWrites, ...mark }: CheckpointMark): void {
    const count = (dataWrites?.length ?? 0) / 2;
    if (dataWrites === undefined || this.#dataWriteTotal + count > DATA_WRITES_MAX) {
      this.#dataWriteCounts.push(0);
      this.#port.postMessage({ kind: "mark", mark } satisfies StateCommand);
      return;
    }
    this.#dataWriteCounts.push(count);
    this.#dataWriteTotal += count;
    this.#port.postMessage({ kind: "mark", mark: { ...mark, dataWrites } } satisfies StateCommand, [dataWrites.buffer]);
  }

  #send(command: StateCommand): void {
    this.#port.postMessage(command);
    if (this.#worker === undefined) this.#start();
  }

  #start(): void {
    clearTimeout(this.#startTimer);
    const { stateFile, logDirectory, leases, decoderModule, checkpointBytes, checkpointMs, testBreak } = this.#options;
    const log = { logDirectory, leases };
    const port = this.#threadPort;
    const data: StateThreadData = { stateFile, ...log, decoderModule, checkpointBytes, checkpointMs, testBreak, port };
    const worker = startWorker({ name: "state/state-thread", data, transfer: [port], heapMib: STATE_HEAP_MIB });
    worker.on("error", (cause) => {
      this.#fail(new StoreError({ code: "DEFECT", reason: `the state thread ended: ${String(cause)}` }, { cause }));
    });
    worker.once("exit", (status) => this.#ended(status));
    this.#worker = worker;
  }
}

/** Waits until no transaction is applied in part. */
async function unlessPartly<T>(take: () => T | undefined, isEnded: () => boolean): Promise<T> {
  for (let taken = take(); ; taken = take()) {
    if (taken !== undefined) return taken;
    await setImmediate();
    if (isEnded()) throw new StoreError({ code: "CLOSED" });
  }
}
