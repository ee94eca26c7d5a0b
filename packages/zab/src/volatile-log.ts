import {
  assert,
  CHAIN_NONE,
  type Chain,
  copyRange,
  counterOf,
  type EntryRun,
  type EpochPromise,
  type EpochRange,
  epochOf,
  FRAME_HEADER_BYTES,
  frameLength,
  frameZxid,
  type HistoryInstall,
  type LogConfigs,
  type LoggedRun,
  type LogPosition,
  type LogState,
  type RunMarks,
  type TxnLog,
  unkeyedHash32,
  ZXID_NONE,
  type Zxid,
} from "@zooid/model";

interface Entry {
  readonly zxid: Zxid;
  readonly chain: Chain;
  /** The whole frame. */
  readonly frame: Uint8Array;
}

/**
 * A log in memory, for demonstrations and tests of a peer alone: entries are as durable as the
 * process. A server keeps its log with `@zooid/txn-log`.
 */
export class VolatileLog implements TxnLog {
  durable: LogState;
  readonly #later: (step: () => void) => void;
  readonly #appended: (generation: number, zxid: Zxid) => void;
  #entries: Entry[] = [];
  #stage: { readonly after: LogPosition; entries: Entry[] } | undefined;

  /**
   * @param later runs a step after the present call has returned, and steps in the order of the
   * calls
   * @param appended an append has completed: call {@link ZabPeer.synced}
   */
  constructor(sid: number, later: (step: () => void) => void, appended: (generation: number, zxid: Zxid) => void) {
    const start = { zxid: ZXID_NONE, chain: CHAIN_NONE };
    this.durable = {
      identity: { ensembleId: "", sid, bootCount: 1, diskId: "" },
      promise: { epoch: 0, sid: 0, incarnation: 0 },
      currentEpoch: 0,
      tail: start,
      floor: start,
      commitHint: ZXID_NONE,
      epochs: [],
      amnesiac: false,
      committedConfig: undefined,
      lastSeenConfig: undefined,
    };
    this.#later = later;
    this.#appended = appended;
  }

  append(run: LoggedRun, generation: number, committed: Zxid, marks: RunMarks = {}): void {
    const entries = this.#cut(run, this.#entries.at(-1) ?? this.durable.tail);
    this.#later(() => {
      this.#entries.push(...entries);
      this.#change({
        commitHint: Math.max(this.durable.commitHint, committed) as Zxid,
        ...marks,
      });
      this.#appended(generation, this.durable.tail.zxid);
    });
  }

  setPromise(promise: EpochPromise, done: () => void): void {
    this.#write({ promise }, done);
  }

  setCurrentEpoch(currentEpoch: number, done: () => void): void {
    this.#write({ currentEpoch }, done);
  }

  setEnsembleId(ensembleId: string, done: () => void): void {
    this.#write({ identity: { ...this.durable.identity, ensembleId } }, done);
  }

  setConfigs(configs: LogConfigs, done: () => void): void {
    const { committed = this.durable.committedConfig, lastSeen = this.durable.lastSeenConfig } = configs;
    this.#write({ committedConfig: committed, lastSeenConfig: lastSeen }, done);
  }

  beginStage(after: LogPosition, done: () => void): void {
    this.#stage = { after, entries: [] };
    this.#later(done);
  }

  stage(run: LoggedRun, done: () => void): void {
    const stage = this.#stage;
    assert(stage !== undefined, "entries were staged without a stage");
    stage.entries.push(...this.#cut(run, stage.entries.at(-1) ?? stage.after));
    this.#later(done);
  }

  dropStage(done: () => void): void {
    this.#stage = undefined;
    this.#later(done);
  }

  installHistory(install: HistoryInstall, done: () => void): void {
    const { epoch, tail, committed, ensembleId, lastSeenConfig, committedConfig, levelRaise } = install;
    const stage = this.#stage;
    assert(stage !== undefined, "a history is installed from a stage");
    this.#stage = undefined;
    this.#later(() => {
      this.#entries = [...this.#entries.filter(({ zxid }) => zxid <= stage.after.zxid), ...stage.entries];
      this.#change({
        currentEpoch: epoch,
        commitHint: Math.max(this.durable.commitHint, committed) as Zxid,
        amnesiac: false,
        ...(lastSeenConfig === undefined ? {} : { lastSeenConfig }),
        ...(committedConfig === undefined ? {} : { committedConfig }),
        ...(levelRaise === undefined ? {} : { levelRaise }),
        ...(ensembleId === undefined ? {} : { identity: { ...this.durable.identity, ensembleId } }),
      });
      assert(this.durable.tail.zxid === tail, "the installed history ends where the leader named its end");
      done();
    });
  }

  read(after: Zxid, bytesMax: number, done: (result: EntryRun) => void): void {
    this.#later(() => {
      const from = this.#positionOf(after);
      assert(from !== undefined, "a log is read after an entry that it holds");
      const run: Entry[] = [];
      let size = 0;
      for (const entry of this.#entries) {
        if (entry.zxid <= after) continue;
        if (run.length > 0 && size + entry.frame.length > bytesMax) break;
        run.push(entry);
        size += entry.frame.length;
      }
      const bytes = new Uint8Array(size);
      let at = 0;
      for (const { frame } of run) {
        bytes.set(frame, at);
        at += frame.length;
      }
      done({ bytes, after: from, last: run.at(-1) ?? from, count: run.length });
    });
  }

  chainAt(zxid: Zxid, done: (chain: Chain | undefined) => void): void {
    this.#later(() => done(this.#positionOf(zxid)?.chain));
  }

  #positionOf(zxid: Zxid): LogPosition | undefined {
    if (zxid === ZXID_NONE) return this.durable.floor;
    return this.#entries.find((entry) => entry.zxid === zxid);
  }

  #write(change: Partial<LogState>, done: () => void): void {
    this.#later(() => {
      this.#change(change);
      done();
    });
  }

  #change(change: Partial<LogState>): void {
    const last = this.#entries.at(-1);
    const tail = last === undefined ? this.durable.floor : { zxid: last.zxid, chain: last.chain };
    this.durable = { ...this.durable, ...change, tail, epochs: epochsOf(this.#entries) };
  }

  #cut({ bytes, start, end }: LoggedRun, from: LogPosition): Entry[] {
    const entries: Entry[] = [];
    let { chain } = from;
    for (let at = start; at < end; ) {
      const next = at + FRAME_HEADER_BYTES + frameLength(bytes, at);
      chain = BigInt(unkeyedHash32(bytes, at, next, Number(chain & 0xffff_ffffn)) >>> 0) as Chain;
      entries.push({ zxid: frameZxid(bytes, at), chain, frame: copyRange(bytes, at, next) });
      at = next;
    }
    return entries;
  }
}

function epochsOf(entries: readonly Entry[]): readonly EpochRange[] {
  const epochs = new Map<number, EpochRange>();
  for (const { zxid } of entries) {
    const epoch = epochOf(zxid);
    const first = epochs.get(epoch)?.first ?? counterOf(zxid);
    epochs.set(epoch, { epoch, first, last: counterOf(zxid) });
  }
  return [...epochs.values()];
}
