import { assert, earlierOf, formatZxid, type Zxid } from "@zooid/model/storage";
import type { ExportOptions } from "../apache/export-options.ts";
import type { ImportOptions } from "../apache/import-options.ts";
import type { Archive } from "../archive/archive.ts";
import { type HistoryPurgeParts, purgeHistory, purgeObstacle } from "../archive/history-purge.ts";
import type { HistoryPurge, HistoryPurgeOptions } from "../archive/history-purge-options.ts";
import type { DataDirectories } from "../directory/data-directories.ts";
import type { HistoryQueries } from "../history/history-queries.ts";
import { LogReader } from "../log/log-reader.ts";
import type { SqliteTxnLog } from "../log/sqlite-txn-log.ts";
import type { EpochRange, LogBranching, LogPosition } from "../log/txn-log.ts";
import type { Scrub } from "../scrub/scrub.ts";
import { ReaderLeases } from "../segments/reader-leases.ts";
import type { SnapshotTransfers } from "../snapshots/snapshot-transfers.ts";
import type { SqliteStateStore } from "../state/sqlite-state-store.ts";
import type {
  PlacedState,
  SnapshotExport,
  SnapshotReceiver,
  SnapshotSource,
  StateMeta,
  StateSink,
  StateStore,
} from "../state/state-store.ts";
import type { ReplaySink, Store } from "./store.ts";
import { StoreError } from "./store-error.ts";

const REPLAY_BYTES = 256 * 1024;

/** Passes each call on to the part that has it, and closes the parts in their order. */
export class SqliteStore implements Store {
  readonly log: SqliteTxnLog;
  readonly state: StateStore;
  readonly scrub: Scrub | undefined;
  readonly archive: Archive | undefined;
  readonly history: HistoryQueries | undefined;
  readonly #state: SqliteStateStore;
  readonly #directory: string;
  readonly #transfers: SnapshotTransfers;
  readonly #place: DataDirectories;
  readonly #logDirectory: string;
  readonly #leases: SharedArrayBuffer;
  #closing: Promise<void> | undefined;

  constructor(parts: {
    readonly log: SqliteTxnLog;
    readonly state: SqliteStateStore;
    readonly scrub: Scrub | undefined;
    readonly archive: Archive | undefined;
    readonly history: HistoryQueries | undefined;
    readonly transfers: SnapshotTransfers;
    readonly place: DataDirectories;
    readonly directory: string;
    readonly logDirectory: string;
    readonly leases: SharedArrayBuffer;
  }) {
    this.log = parts.log;
    this.state = parts.state;
    this.scrub = parts.scrub;
    this.archive = parts.archive;
    this.history = parts.history;
    this.#state = parts.state;
    this.#directory = parts.directory;
    this.#transfers = parts.transfers;
    this.#place = parts.place;
    this.#logDirectory = parts.logDirectory;
    this.#leases = parts.leases;
  }

  loadState(sink: StateSink): StateMeta {
    return this.state.load(sink);
  }

  replay(after: LogPosition, sink: ReplaySink, through?: Zxid): LogPosition {
    // The state may know more to be committed than the log's hint says.
    if (through !== undefined && through <= after.zxid) return after;
    using reader = new LogReader(this.#logDirectory, this.#leases);
    const { tail } = this.log.durable;
    let at = after;
    for (;;) {
      const walk = reader.walk(at.zxid, { bytesMax: REPLAY_BYTES, upTo: through }, sink);
      if (walk.after.chain !== at.chain) {
        throw new StoreError({
          code: "DAMAGED",
          file: this.#logDirectory,
          place: `table log, row ${formatZxid(at.zxid)}`,
          found: "the state was of another history",
        });
      }
      if (walk.count === 0) break;
      at = walk.last;
    }
    assert(at.zxid >= earlierOf(through ?? tail.zxid, tail.zxid), "replay comes to where it was to end");
    return at;
  }

  openSnapshot(): Promise<SnapshotSource> {
    return this.#transfers.open();
  }

  receiveSnapshot(position: LogPosition, epochs?: readonly EpochRange[]): Promise<SnapshotReceiver> {
    return this.#transfers.receive(position, epochs);
  }

  placeState(file: string): Promise<PlacedState> {
    return this.#transfers.place(file);
  }

  exportSnapshot(options: ExportOptions = {}): Promise<SnapshotExport> {
    return this.#transfers.export(options);
  }

  importSnapshot(options?: ImportOptions): Promise<SnapshotReceiver> {
    return this.#transfers.import(options);
  }

  adoptState(): StateMeta {
    const before = this.#state.stateFile;
    const meta = this.#transfers.adopt();
    this.scrub?.setStateFile(this.#state.stateFile);
    if (this.#state.stateFile !== before) this.archive?.adopted(meta.applied.zxid);
    return meta;
  }

  purgeHistory(options: HistoryPurgeOptions): Promise<HistoryPurge> {
    const parts = this.#purgeParts();
    if (typeof parts === "string") return Promise.resolve({ kind: "obstacle", reason: parts });
    return purgeHistory(parts, { ...options, isEnded: () => options.isEnded() || this.#closing !== undefined });
  }

  purgeObstacle(through: Zxid): string | undefined {
    const parts = this.#purgeParts();
    return typeof parts === "string" ? parts : purgeObstacle(parts, through);
  }

  /** Or why there is no purge. */
  #purgeParts(): HistoryPurgeParts | string {
    const { archive, log } = this;
    if (archive === undefined) return "this server keeps no history: zooid.history.retainMs is 0";
    if (archive.isLow)
      return "the disk has little room: nothing is added to the history, and no copy of the state is taken";
    const places = { directory: this.#directory, logDirectory: this.#logDirectory };
    const leases = new ReaderLeases(this.#leases);
    return { archive, log, state: this.#state, transfers: this.#transfers, leases, ...places };
  }

  branch(branching: LogBranching): Promise<void> {
    return new Promise((resolve) => this.log.branch(branching, resolve));
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.archive?.stop();
    this.#transfers.stop();
    await this.scrub?.close();
    await this.#transfers.close();
    await this.history?.[Symbol.asyncDispose]();
    await this.archive?.close();
    await this.state[Symbol.asyncDispose]();
    await this.log[Symbol.asyncDispose]();
    this.#place[Symbol.dispose]();
  }
}
