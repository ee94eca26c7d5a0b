import {
  type Chain,
  type EpochPromise,
  type EpochRange,
  type HistoryInstall,
  type LogConfigs,
  type LoggedRun,
  type LogPosition,
  laterOf,
  levelOfHistory,
  type ReadResult,
  type RunMarks,
  type TxnLog,
  ZXID_NONE,
  type Zxid,
} from "@zooid/model";
import { type DurableLog, type MemoryLogImage, MemoryTxnLog } from "@zooid/txn-log";
import type { Prng } from "./prng.ts";
import type { Scheduler } from "./scheduler.ts";
import type { StateImage } from "./state-image.ts";

/** The content of a server's disk. */
export interface DiskImage {
  readonly log: MemoryLogImage;
  /** State files by name: the one that the log names, and perhaps one that is being received. */
  readonly states: ReadonlyMap<string, StateImage>;
}

/** As a start of a real server finds it, before anything is changed. */
export function levelOf(image: Pick<DiskImage, "log" | "states"> | undefined): number {
  if (image === undefined) return 0;
  const { levelRaise, tail, stateFile } = image.log.log;
  const state = image.states.get(stateFile);
  const level = Math.max(levelRaise.level, state?.level ?? 1);
  return levelOfHistory({ ...levelRaise, level }, laterOf(tail.zxid, state?.position.zxid ?? ZXID_NONE));
}

export interface DiskOptions {
  /** How long a sync takes, in virtual milliseconds. */
  readonly syncMsMin: number;
  readonly syncMsMax: number;
}

export interface DiskHandler {
  /** A batch is about to be appended. */
  appending?(run: LoggedRun): void;
  appended(generation: number, zxid: Zxid): void;
  /** Runs a step of the core. */
  input(step: () => void): void;
  failed(error: Error): void;
  /** A write waits for room, or has found room. */
  roomChanged(isFull: boolean): void;
}

/**
 * A server's disk: nothing is durable before its sync has ended, and a sync takes time. A crash
 * keeps what was synced and a prefix of what was not.
 */
export class Disk implements TxnLog {
  readonly log: MemoryTxnLog;
  readonly #scheduler: Scheduler;
  readonly #random: Prng;
  readonly #handler: DiskHandler;
  readonly #states: Map<string, StateImage>;
  /** The kind of each write that is not durable yet: a crash drops a stage completely. */
  #pending: ("append" | "stage" | "row")[] = [];
  /** Called back for the write that has just become durable. */
  #completed: (() => void) | undefined;
  #doneCount = 0;
  #isSyncing = false;
  #installs = 0;
  #isDead = false;
  /** While syncs are held: how many writes may still become durable. */
  #credit: number | undefined;
  options: DiskOptions;

  constructor(parts: {
    readonly sid: number;
    readonly image: DiskImage | undefined;
    readonly scheduler: Scheduler;
    readonly random: Prng;
    readonly options: DiskOptions;
    readonly handler: DiskHandler;
    readonly takeEpoch?: boolean;
  }) {
    this.#scheduler = parts.scheduler;
    this.#random = parts.random;
    this.#handler = parts.handler;
    this.options = parts.options;
    this.#states = new Map(parts.image?.states);
    this.log = new MemoryTxnLog({
      sid: parts.sid,
      takeEpoch: parts.takeEpoch === true,
      ...(parts.image === undefined
        ? { diskId: parts.random.fork("id").next().toString(16) }
        : { image: parts.image.log }),
      handler: {
        appended: ({ generation, zxid }) => parts.handler.appended(generation, zxid),
        completed: (step) => {
          this.#completed = step;
        },
        roomChanged: (missing) => parts.handler.roomChanged(missing !== undefined),
        failed: (error) => parts.handler.failed(error),
        warned: () => {},
      },
    });
    for (const name of this.#states.keys()) if (name !== this.log.durable.stateFile) this.#states.delete(name);
  }

  get durable(): DurableLog {
    return this.log.durable;
  }

  /** The present content, all pending writes left out. */
  get image(): DiskImage {
    return { log: this.log.image(), states: this.#states };
  }

  /** The state that the log continues; undefined for the empty one. */
  get state(): StateImage | undefined {
    return this.#states.get(this.log.durable.stateFile);
  }

  /** Replaces the state file; the log up to there may be purged. */
  keepState(state: StateImage): void {
    this.#states.set(this.log.durable.stateFile, state);
    this.log.allowPurge(state.position.zxid);
  }

  putState(name: string, state: StateImage): void {
    this.#states.set(name, state);
  }

  /** Ends as in a crash: a prefix of the unsynced writes survives. */
  crash(keep: number = this.#random.below(this.log.pendingCount + 1)): DiskImage {
    this.#isDead = true;
    return { log: this.log.crash(keep), states: new Map(this.#states) };
  }

  /** The numbers of unsynced writes that a crash can keep with different outcomes. */
  get keepCounts(): readonly number[] {
    return this.#pending.flatMap((kind, i) => (kind === "stage" ? [] : [i + 1]));
  }

  /** How many writes have become durable. */
  get doneCount(): number {
    return this.#doneCount;
  }

  /** From now on a write becomes durable only by {@link letThrough}. */
  hold(): void {
    this.#credit = 0;
  }

  /**
   * While syncs are held, lets `count` further writes become durable, now or when they are made.
   */
  letThrough(count: number): void {
    if (this.#credit !== undefined) this.#credit += count;
    this.#sync();
  }

  release(): void {
    this.#credit = undefined;
    this.#sync();
  }

  /** Every sync from now on fails. */
  fail(): void {
    this.log.fail();
  }

  /** The disk is full: nothing becomes durable until {@link makeRoom}. */
  fill(): void {
    this.log.fill();
  }

  makeRoom(): void {
    this.log.makeRoom();
    this.#sync();
  }

  /** Whether a history install is being written. */
  get isInstalling(): boolean {
    return this.#installs > 0;
  }

  append(run: LoggedRun, generation: number, committed: Zxid, marks?: RunMarks): void {
    this.#handler.appending?.(run);
    this.log.append(run, generation, committed, marks);
    this.#written("append");
  }

  setPromise(promise: EpochPromise, done: () => void): void {
    this.log.setPromise(promise, done);
    this.#written("row");
  }

  setCurrentEpoch(epoch: number, done: () => void): void {
    this.log.setCurrentEpoch(epoch, done);
    this.#written("row");
  }

  setConfigs(configs: LogConfigs, done: () => void): void {
    this.log.setConfigs(configs, done);
    this.#written("row");
  }

  setEnsembleId(ensembleId: string, done: () => void): void {
    this.log.setEnsembleId(ensembleId, done);
    this.#written("row");
  }

  beginStage(after: LogPosition, done: () => void): void {
    this.log.beginStage(after, done);
    this.#written("stage");
  }

  stage(run: LoggedRun, done: () => void): void {
    this.log.stage(run, done);
    this.#written("stage");
  }

  dropStage(done: () => void): void {
    this.log.dropStage(done);
    this.#written("stage");
  }

  installHistory(install: HistoryInstall, done: () => void): void {
    this.#installs++;
    this.log.installHistory(install, () => {
      this.#installs--;
      done();
    });
    this.#written("row");
  }

  read(after: Zxid, bytesMax: number, done: (result: ReadResult) => void): void {
    this.#scheduler.after(this.#delay(), () => {
      if (this.#isDead) return;
      const result = after < this.log.durable.floor.zxid ? "below-floor" : this.log.readNow(after, bytesMax);
      this.#handler.input(() => done(result));
    });
  }

  chainAt(zxid: Zxid, done: (chain: Chain | undefined) => void): void {
    this.#scheduler.after(this.#delay(), () => {
      if (this.#isDead) return;
      const chain = this.log.chainNow(zxid);
      this.#handler.input(() => done(chain));
    });
  }

  epochsThrough(zxid: Zxid): readonly EpochRange[] {
    return this.log.durable.epochs.filter(({ epoch }) => epoch <= Math.floor(zxid / 2 ** 32));
  }

  #written(kind: "append" | "stage" | "row"): void {
    this.#pending.push(kind);
    this.#sync();
  }

  /** One sync at a time; writes made meanwhile wait for the next one. */
  #sync(): void {
    if (this.#isSyncing || this.#isDead || this.log.pendingCount === 0 || this.#credit === 0) return;
    this.#isSyncing = true;
    const count = this.log.pendingCount;
    this.#scheduler.after(this.#delay(), () => {
      this.#isSyncing = false;
      if (this.#isDead) return;
      for (let i = 0; i < count && !this.#isDead && this.#credit !== 0; i++) {
        const write = this.log.syncNext();
        // Without room the sync continues when there is some.
        if (write === undefined) return;
        if (this.#credit !== undefined) this.#credit--;
        this.#pending.shift();
        this.#doneCount++;
        const completed = this.#completed;
        this.#completed = undefined;
        if (completed !== undefined) this.#handler.input(completed);
      }
      this.#sync();
    });
  }

  #delay(): number {
    const { syncMsMin, syncMsMax } = this.options;
    return syncMsMin + (this.#random.next() / 2 ** 32) * (syncMsMax - syncMsMin);
  }
}
