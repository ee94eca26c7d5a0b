import { randomFillSync } from "node:crypto";
import type { Socket } from "node:net";
import {
  type ConnectRequest,
  type ElectionMessage,
  SESSION_NONE,
  type ServerId,
  ZXID_NONE,
  type Zxid,
} from "@zooid/model";
import { type Refusal, Replica, type ReplicaConfig, type ReplicaTools, withNoPeers } from "@zooid/replica";
import type { TxnLog } from "@zooid/txn-log";
import { BufferPool } from "@zooid/wire";
import type { LoggedRun, SnapshotPort, ZabLinks, ZabLog } from "@zooid/zab";
import type { AuditTrail } from "./audit-trail.ts";
import { AuthFailures, type AuthFailuresOptions } from "./auth-failures.ts";
import type { ChangeRecorder } from "./change-stream.ts";
import { ClientConnection, type ConnectionHost, type ConnectionLimits } from "./client-connection.ts";
import { ConnectionThrottle, type ConnectionThrottleConfig } from "./connection-throttle.ts";
import { CountedReplies } from "./counted-replies.ts";
import { FlushQueue } from "./flush-queue.ts";
import { LogPort } from "./log-port.ts";
import { sentenceOf } from "./operator-sentences.ts";
import { ReadQueue } from "./read-queue.ts";
import type { RefusalLog } from "./refusal-log.ts";
import { RoleTimes } from "./role-times.ts";
import { Traffic } from "./traffic.ts";
import { TurnBudget } from "./turn-budget.ts";
import { WatchFanOut } from "./watch-fan-out.ts";

export interface DriverConfig {
  readonly replica: ReplicaConfig;
  readonly limits: ConnectionLimits;
  /** A connection that has no session after this time is closed. */
  readonly sessionlessTimeoutMs: number;
  readonly connectionThrottle: ConnectionThrottleConfig;
  /** How long the answer to a failed authentication is kept back. */
  readonly authFailures: AuthFailuresOptions;
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
  /** Who asked for which write. */
  readonly audit?: AuditTrail;
  readonly refusals: RefusalLog;
  /** How many bytes a four-letter word takes, its argument included. */
  wordBytes(word: string): number;
  fourLetterWord(word: string, argument: Buffer, connection: ClientConnection): string | undefined;
  mark(mark: StateMark): void;
  /** Whether the state file lags so far behind that nothing more is to be proposed. */
  isBehind(): boolean;
  /** A state that was received is in force: fills the tree from it. */
  install(): void;
  /** The replica's role changed, or how far it has come. */
  roleChanged(): void;
  /** A sentence for operators. */
  note(text: string): void;
  /** An invariant is false, or the core threw: the server must stop. */
  defect(error: unknown): void;
}

/** The other servers, as the driver uses them; undefined where there are none. */
export interface Peers {
  readonly links: ZabLinks & { flush(): void };
  readonly snapshots: SnapshotPort;
  elect(to: ServerId, message: ElectionMessage): void;
}

/** A mark is set at the latest after so many bytes of log or entries. */
const MARK_BYTES = 16 * 1024 * 1024;
const MARK_ENTRIES = 50_000;
/** What a small entry takes in the log. */
const MARK_ENTRY_BYTES = 64;
/**
 * Notifications of one turn, about. Ten thousand clients may watch a node that is written a thousand times in one packet: those ten million
 * notifications must not keep everybody else, the log and the other servers waiting.
 */
const EVENTS_PER_TURN = 10_000;
/** Entries applied before the notifications are counted again. */
const DELIVER_SLICE = 8;
/** How long transactions are applied in one turn. */
const DELIVER_MS = 4;
/** Connections that are closed at a time for having no session. */
const SWEEP_COUNT = 256;
const SWEEP_MS = 1000;
/** How soon to look again whether the state file has caught up. */
const BEHIND_RETRY_MS = 20;
const REFUSALS: Readonly<Record<Refusal, string>> = {
  "unreadable-request": "it sent a frame that is no request",
  "unknown-operation": "it asked for an operation that this server does not serve",
  authentication: "its authentication was refused",
  unauthenticated: "it asked for something before it had authenticated as this server wants it",
  "other-ensemble": "it looks for another ensemble",
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
  readonly traffic: Traffic = new Traffic();
  readonly roleTimes: RoleTimes = new RoleTimes();
  readonly fanOut: WatchFanOut = new WatchFanOut();
  readonly #config: DriverConfig;
  readonly #hooks: DriverHooks;
  readonly #replies: CountedReplies;
  /** Notifications until this turn began. */
  #eventsBefore = 0;
  readonly #budget = new TurnBudget(() => performance.now());
  readonly #waiting = new ReadQueue<ClientConnection>();
  #isLaterDue = false;
  readonly #log: TxnLog;
  readonly #recorder: ChangeRecorder | undefined;
  readonly #peers: Peers | undefined;
  readonly #connections: (ClientConnection | undefined)[] = [];
  /** Connections without a session, oldest first. */
  readonly #sessionless = new Set<ClientConnection>();
  readonly #written = new FlushQueue<ClientConnection>(() => performance.now());
  /** Not their numbers: by the time that they are read on, those may name others. */
  #resumed: ClientConnection[] = [];
  #isTurnOpen = false;
  #batchesInFlight = 0;
  #markBytes = 0;
  #markCount = 0;
  #marked: Zxid = ZXID_NONE;
  #expiryTimer: NodeJS.Timeout | undefined;
  #expiryDueMs = Number.POSITIVE_INFINITY;
  #sweepTimer: NodeJS.Timeout | undefined;
  #behindTimer: NodeJS.Timeout | undefined;
  #tickTimer: NodeJS.Timeout | undefined;
  #tickDueMs = Number.POSITIVE_INFINITY;
  #isDelivering = false;
  /** Of {@link DELIVER_MS}, what this turn has left: the log may report several times in one. */
  #deliverLeftMs = DELIVER_MS;
  #isHandingOver = false;
  #proposalSizes = { last: -1, min: -1, max: -1 };
  #sessionsRevision = -1;
  #isServing = false;
  #isStopped = false;
  #isHalted = false;
  readonly #secret = new Uint8Array(18);
  readonly #throttle: ConnectionThrottle;
  readonly #authFailures: AuthFailures;

  constructor(
    config: DriverConfig,
    log: TxnLog,
    tools: ReplicaTools,
    hooks: DriverHooks,
    recorder: ChangeRecorder | undefined,
    peers: Peers | undefined,
  ) {
    this.#config = config;
    this.#log = log;
    this.#peers = peers;
    this.#hooks = hooks;
    this.limits = config.limits;
    this.#throttle = new ConnectionThrottle(config.connectionThrottle, Math.floor(performance.now()), tools.random);
    this.#authFailures = new AuthFailures(config.authFailures);
    this.refusals = hooks.refusals;
    const { audit } = hooks;
    const replies = new CountedReplies(
      {
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
      },
      this.traffic,
      this.fanOut,
    );
    this.#replies = replies;
    this.replica = new Replica(config.replica, tools, {
      replies,
      ...this.#world(),
      install: () => this.#install(),
      roleChanged: () => this.#roleChanged(),
      note: (event) => hooks.note(sentenceOf(event)),
      resume: (to) => {
        const connection = this.#connections[to];
        if (connection !== undefined) this.#resumed.push(connection);
      },
      refused: (to, refusal) => {
        const connection = this.#connections[to];
        if (connection === undefined) return;
        hooks.refusals.note(refusal, connection.peer, REFUSALS[refusal]);
        if (refusal === "authentication") this.#delayFailure(connection);
      },
      guessed: (to) => {
        const connection = this.#connections[to];
        if (connection !== undefined) this.#delayFailure(connection);
      },
      asked: (sequence, connection, request) => audit?.asked(sequence, connection, request, tools.requests),
      applied: (header, op) => {
        recorder?.applied(header, op);
        audit?.applied(header, op);
      },
    });
    this.#recorder = recorder;
  }

  /** Whether clients are taken: a server of an ensemble takes them before it has a role, and lets them go if it has none. */
  get isServing(): boolean {
    return this.#isServing;
  }

  /** Whether it failed and says no more. */
  get isHalted(): boolean {
    return this.#isHalted;
  }

  get batchesInFlight(): number {
    return this.#batchesInFlight;
  }

  /** The chance that a client that connects is dropped; from 0 to 1. */
  get dropChance(): number {
    return this.#throttle.dropChance;
  }

  get #hasLocalSessions(): boolean {
    return this.#config.replica.ensemble?.localSessions === true;
  }

  *connections(): IterableIterator<ClientConnection> {
    for (const connection of this.#connections) if (connection !== undefined) yield connection;
  }

  /** Begins to serve as an ensemble of one, in an epoch that is durable. */
  lead(epoch: number, bootCount: number): void {
    this.#begin();
    this.replica.lead(epoch, bootCount);
    this.#armExpiry();
  }

  /** Begins to look for its place among the other servers. */
  join(bootCount: number): void {
    this.#begin();
    this.wake();
    this.#step(() => this.replica.join(bootCount));
  }

  #begin(): void {
    this.#setTime();
    this.#marked = this.replica.tree.applied;
    this.#isServing = true;
    this.#sweepTimer = setInterval(() => this.#sweep(), SWEEP_MS);
    this.#sweepTimer.unref();
  }

  /** Bytes of the batches proposed here since this server leads; -1 before the first. */
  get proposalSizes(): { readonly last: number; readonly min: number; readonly max: number } {
    return this.#proposalSizes;
  }

  /** Something that happened in the world, as a step of the core. */
  input(step: () => void): void {
    if (this.#isHalted) return;
    this.wake();
    this.#step(step);
  }

  /** @param certificateSubject whom the client's certificate names, where it has one */
  accept(socket: Socket, address: string, certificateSubject?: string): void {
    this.#setTime();
    const ref = this.replica.accept(address, certificateSubject);
    const identity = { ref, address, nowMs: this.replica.nowMs, wallMs: Date.now() };
    const connection = new ClientConnection(socket, identity, this);
    this.#connections[ref] = connection;
    this.#sessionless.add(connection);
  }

  wake(): void {
    if (this.#isTurnOpen) return;
    this.#isTurnOpen = true;
    this.#deliverLeftMs = DELIVER_MS;
    this.#eventsBefore = this.#replies.eventCount;
    this.#budget.begin(this.traffic.bytesSent);
    this.#setTime();
    setImmediate(() => this.#endTurn());
  }

  hasRoomInTurn(): boolean {
    // Those that came too late for an earlier turn go first, or those that are ready again in each turn would take all of it.
    return !this.#waiting.hasLate && this.#budget.admits(this.traffic.bytesSent);
  }

  isShareSpent(isLarge: boolean): boolean {
    return this.#budget.isShareSpent(this.replica.workCount, isLarge);
  }

  later(connection: ClientConnection, hasHadShare: boolean): void {
    this.#waiting.add(connection, hasHadShare);
    this.#armLater();
  }

  #armLater(): void {
    if (this.#isLaterDue || this.#waiting.isEmpty || this.#isHalted) return;
    this.#isLaterDue = true;
    setImmediate(() => this.#readLater());
  }

  #readLater(): void {
    this.#isLaterDue = false;
    this.wake();
    this.#waiting.serve(() => !this.#isHalted && this.#budget.admits(this.traffic.bytesSent));
    this.#armLater();
  }

  wordBytes(word: string): number {
    return this.#hooks.wordBytes(word);
  }

  fourLetterWord(word: string, argument: Buffer, connection: ClientConnection): string | undefined {
    return this.#hooks.fourLetterWord(word, argument, connection);
  }

  connect(connection: ClientConnection, request: ConnectRequest): boolean {
    if (!this.#isServing) return false;
    this.#sessionless.delete(connection);
    const asking = request.sessionId !== SESSION_NONE ? "renew" : this.#hasLocalSessions ? "local" : "global";
    if (!this.#throttle.admits(asking, this.replica.nowMs)) {
      this.refusals.note(
        "throttle",
        connection.peer,
        "clients connect faster than connection_throttle_tokens lets them",
      );
      return false;
    }
    this.traffic.connectRequests++;
    if (request.sessionId !== SESSION_NONE) this.traffic.revalidations++;
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
    if (!connection.isReading) this.#written.add(connection);
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
      // What earlier turns left goes on in a turn of its own.
      if (!this.#isDelivering) this.#deliver();
    });
  }

  /**
   * Hands leadership to a server that is level, so that nobody has to find out that this one is gone. Resolves when it is done, or
   * when nobody could take it in time.
   */
  async handOver(withinMs: number): Promise<void> {
    const endMs = performance.now() + withinMs;
    const { replica } = this;
    if (this.#peers === undefined) return;
    // What is proposed comes to its end; nothing is proposed any more.
    this.#isHandingOver = replica.isLeading;
    while (
      replica.isLeading &&
      replica.zab.transferLeadership() === undefined &&
      performance.now() < endMs &&
      !this.#isHalted
    ) {
      this.wake();
      await new Promise((resolve) => setImmediate(resolve));
    }
    this.#peers.links.flush();
  }

  /** Serves no more: connections are closed once what they are owed was sent. Resolves when all prepared writes are durable. */
  async stop(): Promise<void> {
    if (this.#isStopped) return;
    this.#isStopped = true;
    this.#isServing = false;
    clearInterval(this.#sweepTimer);
    clearTimeout(this.#expiryTimer);
    await this.#quiet();
    clearTimeout(this.#tickTimer);
    if (this.#isHalted) return;
    for (const connection of this.connections()) {
      connection.release();
      connection.close();
      connection.flush();
    }
    this.mark();
  }

  /** Ends everything at once, after a failure: no more is read, and no more is said. */
  halt(): void {
    this.#isStopped = true;
    this.#isHalted = true;
    this.#isServing = false;
    clearInterval(this.#sweepTimer);
    clearTimeout(this.#expiryTimer);
    clearTimeout(this.#behindTimer);
    clearTimeout(this.#tickTimer);
    for (const connection of this.connections()) connection.cutOff();
  }

  /** Resolves when every write that was read is answered, or never will be. */
  async #quiet(): Promise<void> {
    const isBusy = (): boolean =>
      this.#batchesInFlight > 0 ||
      (this.replica.hasPrepared && !this.#isHandingOver) ||
      this.#isTurnOpen ||
      this.#isDelivering;
    while (!this.#isHalted && isBusy()) {
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  #endTurn(): void {
    this.#isTurnOpen = false;
    this.#step(() => {
      this.#resumeReading();
      this.#tickIfDue();
      // What others have said may have committed something.
      if (this.#peers !== undefined && !this.#isDelivering) this.#deliver();
      this.#armTick();
      if (this.#mayPropose()) this.replica.propose();
      this.replica.flush();
      this.#peers?.links.flush();
    });
    // Commits and ticks at the end of this turn let connections be read on, and nothing else may come for a while.
    if (this.#resumed.length > 0) this.wake();
    // All writes wait for a multi that is prepared in part, so its next part does not wait for a timer; nor does the next batch.
    if (this.replica.isPreparing || (this.replica.hasPrepared && this.#mayPropose())) {
      if (!this.#isHalted) setImmediate(() => this.wake());
    }
    this.#recorder?.flush();
    this.#hooks.audit?.flush();
    if (this.#written.flush()) setImmediate(() => this.wake());
    const { revision } = this.replica.sessions;
    if (revision !== this.#sessionsRevision) {
      this.#sessionsRevision = revision;
      this.#armExpiry();
    }
  }

  #tickIfDue(): void {
    const due = this.replica.nextTickMs();
    if (due !== undefined && due <= this.replica.nowMs) this.replica.tick();
  }

  #armTick(): void {
    const due = this.replica.nextTickMs() ?? Number.POSITIVE_INFINITY;
    if (due >= this.#tickDueMs || this.#isStopped) return;
    clearTimeout(this.#tickTimer);
    this.#tickDueMs = due;
    this.#tickTimer = setTimeout(
      () => {
        this.#tickDueMs = Number.POSITIVE_INFINITY;
        // What came meanwhile is read first: a server that stood still must hear the others before it judges them.
        setImmediate(() => this.wake());
      },
      Math.max(1, Math.ceil(due - performance.now())),
    );
  }

  #mayPropose(): boolean {
    return this.#batchesInFlight < this.#config.batchesInFlightMax && !this.#isHeldBack();
  }

  /** Whether what is prepared waits for the state file: then sockets stand still once enough has gathered, while reads are answered. */
  #isHeldBack(): boolean {
    if (this.#isHandingOver) return true;
    if (this.#isStopped || !this.replica.hasPrepared || !this.#hooks.isBehind()) return false;
    this.#behindTimer ??= setTimeout(() => {
      this.#behindTimer = undefined;
      this.wake();
    }, BEHIND_RETRY_MS);
    return true;
  }

  #resumeReading(): void {
    while (this.#resumed.length > 0) {
      const resumed = this.#resumed;
      this.#resumed = [];
      for (const connection of resumed) connection.resume();
    }
  }

  /** What the replica needs of the world besides its clients. */
  #world(): { log: ZabLog; links: ZabLinks; snapshots: SnapshotPort; elect: Peers["elect"] } {
    const log = new LogPort(
      this.#log,
      (step) => this.input(step),
      (run) => this.#append(run),
    );
    const peers = this.#peers;
    if (peers === undefined) return { ...withNoPeers(log), elect: () => {} };
    return { log, links: peers.links, snapshots: peers.snapshots, elect: (to, message) => peers.elect(to, message) };
  }

  #roleChanged(): void {
    this.roleTimes.changed(this.replica.zab, performance.now());
    this.#proposalSizes = { last: -1, min: -1, max: -1 };
    if (!this.replica.isServing) this.#hooks.audit?.clear();
    this.#hooks.roleChanged();
  }

  #append(run: LoggedRun): void {
    this.#batchesInFlight++;
    const bytes = run.end - run.start;
    const sizes = this.#proposalSizes;
    sizes.last = bytes;
    if (sizes.min < 0 || bytes < sizes.min) sizes.min = bytes;
    if (bytes > sizes.max) sizes.max = bytes;
    this.#markBytes += run.end - run.start;
    // Counted roughly where others made the batch: it says how soon the state file is told.
    this.#markCount += Math.ceil((run.end - run.start) / MARK_ENTRY_BYTES);
  }

  #deliver(): void {
    this.#isDelivering = false;
    const more = this.#deliverSome();
    if (this.#markBytes >= MARK_BYTES || this.#markCount >= MARK_ENTRIES) this.mark();
    if (!more) return;
    this.#isDelivering = true;
    setImmediate(() => {
      this.wake();
      this.#step(() => this.#deliver());
    });
  }

  /** Applies until this turn has done its share; tells whether there is more. */
  #deliverSome(): boolean {
    let left = this.#config.deliverCountMax;
    let nowMs = performance.now();
    const endMs = nowMs + this.#deliverLeftMs;
    let more = true;
    while (more && left > 0 && nowMs < endMs && this.#replies.eventCount - this.#eventsBefore < EVENTS_PER_TURN) {
      more = this.replica.deliver(Math.min(DELIVER_SLICE, left));
      left -= DELIVER_SLICE;
      nowMs = performance.now();
    }
    this.#deliverLeftMs = endMs - nowMs;
    return more;
  }

  /** Notes a failed authentication, and returns by how much its answer is to be late: guessing of passwords is to take its time. */
  failureDelayMs(address: string): number {
    return this.#authFailures.delayMs(address, performance.now());
  }

  #delayFailure(connection: ClientConnection): void {
    const delayMs = this.failureDelayMs(connection.address);
    if (delayMs > 0) connection.withhold(delayMs);
  }

  /** A state was received whole: the tree becomes it. */
  #install(): void {
    this.#hooks.install();
    this.#marked = this.replica.tree.applied;
    this.#markBytes = 0;
    this.#markCount = 0;
  }

  /** Tells how far the state file may follow: to everything that is applied. */
  mark(): void {
    const { tree } = this.replica;
    if (this.replica.isApplying) return;
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

  #sweep(): void {
    this.#closeSessionless();
    this.#step(() => {
      this.replica.tree.compact(COMPACT_BUDGET);
      if (this.#markCount > 0) this.mark();
    });
  }

  /** Closes connections that never sent a whole connect request in time, some in a turn. */
  #closeSessionless(): void {
    this.wake();
    const oldestMs = performance.now() - this.#config.sessionlessTimeoutMs;
    let count = 0;
    for (const connection of this.#sessionless) {
      if (connection.acceptedAtMs > oldestMs) break;
      if (count++ === SWEEP_COUNT) {
        setImmediate(() => this.#closeSessionless());
        break;
      }
      this.refusals.note(
        "handshake",
        connection.peer,
        `no connect request came within ${this.#config.sessionlessTimeoutMs} ms`,
      );
      this.traffic.sessionlessExpired++;
      this.#sessionless.delete(connection);
      connection.close();
    }
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
