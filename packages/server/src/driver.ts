import { randomFillSync } from "node:crypto";
import type { Socket } from "node:net";
import {
  type ConnectionRef,
  type ConnectRequest,
  type FrameBatch,
  type ReplySink,
  ZXID_NONE,
  type Zxid,
} from "@zooid/model";
import { type Refusal, Replica, type ReplicaConfig, type ReplicaTools } from "@zooid/replica";
import type { TxnLog } from "@zooid/txn-log";
import { BufferPool, ReplyEncoder } from "@zooid/wire";
import type { ChangeRecorder } from "./change-stream.ts";
import { ClientConnection, type ConnectionHost, type ConnectionLimits } from "./client-connection.ts";
import type { RefusalLog } from "./refusal-log.ts";

export interface DriverConfig {
  readonly replica: ReplicaConfig;
  readonly limits: ConnectionLimits;
  /** A connection that has no session after this time is closed. */
  readonly sessionlessTimeoutMs: number;
  /** Batches handed to the log and not yet durable; what comes meanwhile gathers for the next. */
  readonly batchesInFlightMax: number;
  /** Entries applied in one turn before others get theirs. */
  readonly deliverCountMax: number;
}

/** What the state file may be brought forward to: a zxid with the digest of the tree there. */
export interface StateMark {
  readonly zxid: Zxid;
  readonly digestHigh: number;
  readonly digestLow: number;
  /** Bytes of log since the last mark. */
  readonly bytes: number;
}

export interface DriverHooks {
  readonly refusals: RefusalLog;
  fourLetterWord(word: string, connection: ClientConnection): string | undefined;
  mark(mark: StateMark): void;
  /** Whether the state file lags so far behind that nothing more is to be proposed. */
  isBehind(): boolean;
  /** An invariant is false, or the core threw: the server must stop. */
  defect(error: unknown): void;
}

/** A mark is set at the latest after so many bytes of log or entries. */
const MARK_BYTES = 16 * 1024 * 1024;
const MARK_ENTRIES = 50_000;
const SWEEP_MS = 1000;
/** How soon to look again whether the state file has caught up. */
const BEHIND_RETRY_MS = 20;
const REFUSALS: Readonly<Record<Refusal, string>> = {
  "unreadable-request": "it sent a frame that is no request",
  "unknown-operation": "it asked for an operation that this server does not serve",
  authentication: "its authentication was refused",
  "watch-limit": "it armed more watches than one connection may",
};
/** What compaction may do in one turn. */
const COMPACT_BUDGET = 64;

/**
 * The loop around a replica: what arrives in a turn steps the core, then one batch goes to the log, then each connection is
 * written once. It holds the clock, the sockets' output and the timers; it decides nothing.
 */
export class Driver implements ConnectionHost {
  readonly replica: Replica;
  readonly pool: BufferPool = new BufferPool();
  readonly limits: ConnectionLimits;
  readonly refusals: RefusalLog;
  readonly #config: DriverConfig;
  readonly #hooks: DriverHooks;
  readonly #log: TxnLog;
  readonly #recorder: ChangeRecorder | undefined;
  readonly #connections: (ClientConnection | undefined)[] = [];
  /** Connections without a session, oldest first. */
  readonly #sessionless = new Set<ClientConnection>();
  #dirty: ClientConnection[] = [];
  #resumed: ConnectionRef[] = [];
  #isTurnOpen = false;
  #batchesInFlight = 0;
  #markBytes = 0;
  #markCount = 0;
  #marked: Zxid = ZXID_NONE;
  #expiryTimer: NodeJS.Timeout | undefined;
  #expiryDueMs = Number.POSITIVE_INFINITY;
  #sweepTimer: NodeJS.Timeout | undefined;
  #behindTimer: NodeJS.Timeout | undefined;
  #sessionsRevision = -1;
  #isServing = false;
  #isStopped = false;
  #isHalted = false;
  readonly #secret = new Uint8Array(18);

  constructor(
    config: DriverConfig,
    log: TxnLog,
    tools: ReplicaTools,
    hooks: DriverHooks,
    recorder: ChangeRecorder | undefined,
  ) {
    this.#config = config;
    this.#log = log;
    this.#hooks = hooks;
    this.limits = config.limits;
    this.refusals = hooks.refusals;
    const replies: ReplySink = new ReplyEncoder({
      writer: (to) => {
        const connection = this.#connections[to];
        if (connection === undefined || connection.isClosing) return undefined;
        if (connection.writer.end > config.limits.outputBytesMax) {
          connection.cutOffSlowReader(connection.writer.end);
          return undefined;
        }
        if (!connection.isDirty) this.dirty(connection);
        return connection.writer;
      },
      sentReadOnly: (to) => this.#connections[to]?.sentReadOnly === true,
      close: (to) => this.#connections[to]?.close(),
    });
    this.replica = new Replica(config.replica, tools, {
      replies,
      append: (batch, generation) => this.#append(batch, generation),
      resume: (to) => this.#resumed.push(to),
      refused: (to, refusal) => {
        const connection = this.#connections[to];
        if (connection !== undefined) hooks.refusals.note(refusal, connection.peer, REFUSALS[refusal]);
      },
      ...(recorder === undefined ? {} : { applied: (header, op) => recorder.applied(header, op) }),
    });
    this.#recorder = recorder;
  }

  get isServing(): boolean {
    return this.#isServing;
  }

  get batchesInFlight(): number {
    return this.#batchesInFlight;
  }

  *connections(): IterableIterator<ClientConnection> {
    for (const connection of this.#connections) if (connection !== undefined) yield connection;
  }

  /** Begins to serve as leader of an epoch that is durable. */
  lead(epoch: number, bootCount: number): void {
    this.#setTime();
    this.#marked = this.replica.tree.applied;
    this.replica.lead(epoch, bootCount);
    this.#isServing = true;
    this.#sweepTimer = setInterval(() => this.#sweep(), SWEEP_MS);
    this.#sweepTimer.unref();
    this.#armExpiry();
  }

  accept(socket: Socket, address: string): void {
    this.#setTime();
    const ref = this.replica.accept(address);
    const identity = { ref, address, nowMs: this.replica.nowMs, wallMs: Date.now() };
    const connection = new ClientConnection(socket, identity, this);
    this.#connections[ref] = connection;
    this.#sessionless.add(connection);
  }

  wake(): void {
    if (this.#isTurnOpen) return;
    this.#isTurnOpen = true;
    this.#setTime();
    setImmediate(() => this.#endTurn());
  }

  fourLetterWord(word: string, connection: ClientConnection): string | undefined {
    return this.#hooks.fourLetterWord(word, connection);
  }

  connect(connection: ClientConnection, request: ConnectRequest): boolean {
    if (!this.#isServing) return false;
    this.#sessionless.delete(connection);
    randomFillSync(this.#secret);
    this.#step(() => this.replica.connect(connection.ref, request, this.#secret));
    return true;
  }

  receive(connection: ClientConnection, bytes: Uint8Array, start: number, end: number): boolean {
    if (!this.#isServing) return false;
    try {
      return this.replica.receive(connection.ref, bytes, start, end);
    } catch (error) {
      this.#fail(error);
      return false;
    }
  }

  dirty(connection: ClientConnection): void {
    if (connection.isDirty) return;
    connection.isDirty = true;
    this.#dirty.push(connection);
  }

  closed(connection: ClientConnection): void {
    this.#sessionless.delete(connection);
    connection.writer.clear();
    if (this.#connections[connection.ref] === connection) this.#connections[connection.ref] = undefined;
    this.replica.disconnect(connection.ref);
  }

  /** Everything up to a zxid is durable: the log's completion. */
  appended(generation: number, zxid: Zxid): void {
    this.#batchesInFlight--;
    this.wake();
    this.#step(() => {
      this.replica.synced(generation, zxid);
      this.#deliver();
    });
  }

  /** Serves no more: connections are closed once what they are owed was sent. Resolves when all prepared writes are durable. */
  async stop(): Promise<void> {
    if (this.#isStopped) return;
    this.#isStopped = true;
    this.#isServing = false;
    clearInterval(this.#sweepTimer);
    clearTimeout(this.#expiryTimer);
    await this.#quiet();
    if (this.#isHalted) return;
    for (const connection of this.connections()) {
      connection.close();
      connection.flush();
    }
    this.#mark();
  }

  /** Ends everything at once, after a failure: no more is read, and no more is said. */
  halt(): void {
    this.#isStopped = true;
    this.#isHalted = true;
    this.#isServing = false;
    clearInterval(this.#sweepTimer);
    clearTimeout(this.#expiryTimer);
    clearTimeout(this.#behindTimer);
    for (const connection of this.connections()) connection.cutOff();
  }

  /** Resolves when every write that was read is answered, or never will be. */
  async #quiet(): Promise<void> {
    while (!this.#isHalted && (this.#batchesInFlight > 0 || this.replica.hasPrepared || this.#isTurnOpen)) {
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  #endTurn(): void {
    this.#isTurnOpen = false;
    this.#step(() => {
      this.#resumeReading();
      if (this.#batchesInFlight < this.#config.batchesInFlightMax && !this.#isHeldBack()) this.replica.propose();
    });
    this.#recorder?.flush();
    this.#flush();
    const { revision } = this.replica.sessions;
    if (revision !== this.#sessionsRevision) {
      this.#sessionsRevision = revision;
      this.#armExpiry();
    }
  }

  /** Whether what is prepared waits for the state file: then sockets stand still once enough has gathered, while reads are answered. */
  #isHeldBack(): boolean {
    if (this.#isStopped || !this.replica.hasPrepared || !this.#hooks.isBehind()) return false;
    this.#behindTimer ??= setTimeout(() => {
      this.#behindTimer = undefined;
      this.wake();
    }, BEHIND_RETRY_MS);
    return true;
  }

  #flush(): void {
    const dirty = this.#dirty;
    this.#dirty = [];
    for (const connection of dirty) connection.flush();
  }

  #resumeReading(): void {
    while (this.#resumed.length > 0) {
      const resumed = this.#resumed;
      this.#resumed = [];
      for (const ref of resumed) this.#connections[ref]?.resume();
    }
  }

  #append(batch: FrameBatch, generation: number): void {
    this.#batchesInFlight++;
    this.#markBytes += batch.end;
    this.#markCount += batch.count;
    const { committed } = this.replica.zab;
    this.#log.append({ generation, bytes: batch.bytes, start: 0, end: batch.end, committed });
  }

  #deliver(): void {
    const more = this.replica.deliver(this.#config.deliverCountMax);
    if (this.#markBytes >= MARK_BYTES || this.#markCount >= MARK_ENTRIES) this.#mark();
    if (more) {
      setImmediate(() => {
        this.wake();
        this.#step(() => this.#deliver());
      });
    }
  }

  /** Tells how far the state file may follow. */
  #mark(): void {
    const { tree } = this.replica;
    // What was handed to the log may not have been applied yet: the next mark counts it.
    if (tree.applied <= this.#marked) return;
    this.#marked = tree.applied;
    this.#hooks.mark({
      zxid: tree.applied,
      digestHigh: tree.digestHigh,
      digestLow: tree.digestLow,
      bytes: this.#markBytes,
    });
    this.#markBytes = 0;
    this.#markCount = 0;
  }

  #setTime(): void {
    // Whole milliseconds: a fraction would be an object wherever it is kept.
    this.replica.setTime(Math.floor(performance.now()), Date.now());
  }

  #armExpiry(): void {
    const due = this.replica.nextExpiryMs();
    if (due === undefined || due >= this.#expiryDueMs || this.#isStopped) return;
    clearTimeout(this.#expiryTimer);
    this.#expiryDueMs = due;
    const delay = Math.max(1, Math.ceil(due - performance.now()));
    this.#expiryTimer = setTimeout(() => this.#expire(), delay);
    this.#expiryTimer.unref();
  }

  /**
   * Ends what is due, one bucket a turn, and only after the sockets were read: a server that was stalled must hear what its
   * clients said meanwhile before it declares them gone.
   */
  #expire(): void {
    this.#expiryDueMs = Number.POSITIVE_INFINITY;
    setImmediate(() => {
      setImmediate(() => {
        this.wake();
        this.#step(() => this.replica.expireSessions());
        // The timer may have fired a moment too soon, and this was one bucket of all.
        this.#armExpiry();
      });
    });
  }

  /** Closes connections that never sent a whole connect request in time. */
  #sweep(): void {
    this.wake();
    const oldestMs = performance.now() - this.#config.sessionlessTimeoutMs;
    for (const connection of this.#sessionless) {
      if (connection.acceptedAtMs > oldestMs) break;
      this.refusals.note(
        "handshake",
        connection.peer,
        `no connect request came within ${this.#config.sessionlessTimeoutMs} ms`,
      );
      connection.close();
    }
    this.#step(() => {
      this.replica.tree.compact(COMPACT_BUDGET);
      if (this.#markCount > 0) this.#mark();
    });
  }

  #step(step: () => void): void {
    try {
      step();
    } catch (error) {
      this.#fail(error);
    }
  }

  #fail(error: unknown): void {
    if (this.#isHalted) return;
    this.halt();
    this.#hooks.defect(error);
  }
}
