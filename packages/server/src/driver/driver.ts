import { randomFillSync } from "node:crypto";
import type { Socket } from "node:net";
import { type ConnectRequest, SESSION_NONE, type Zxid } from "@zooid/model";
import { type Refusal, Replica, type ReplicaTools, withNoPeers } from "@zooid/replica";
import type { TxnLog } from "@zooid/txn-log";
import { BufferPool } from "@zooid/wire";
import type { LoggedRun, SnapshotPort, ZabLinks, ZabLog } from "@zooid/zab";
import { AuthFailures } from "../auth-failures.ts";
import type { ChangeRecorder } from "../change-stream.ts";
import { ClientConnection, type ConnectionHost, type ConnectionLimits } from "../client-connection.ts";
import { ConnectionThrottle } from "../connection-throttle.ts";
import { CountedReplies } from "../counted-replies.ts";
import { sentenceOf } from "../operator-sentences.ts";
import type { RefusalLog } from "../refusal-log.ts";
import { RoleTimes } from "../role-times.ts";
import { Traffic } from "../traffic.ts";
import { WatchFanOut } from "../watch-fan-out.ts";
import { BatchSizes } from "./batch-sizes.ts";
import { CheckpointMarks } from "./checkpoint-marks.ts";
import { DueTimer } from "./due-timer.ts";
import { FlushQueue } from "./flush-queue.ts";
import { LogPort } from "./log-port.ts";
import type { DriverConfig, DriverHooks, Peers } from "./parts.ts";
import { ReadTurns } from "./read-turns.ts";
import { SessionlessConnections } from "./sessionless-connections.ts";

/**
 * Notifications of one turn, about. Ten thousand clients may watch a node that is written a thousand times in one packet: those ten million
 * notifications must not keep everybody else, the log and the other servers waiting.
 */
const EVENTS_PER_TURN = 10_000;
/** Entries applied before the notifications are counted again. */
const DELIVER_SLICE = 8;
/** How long transactions are applied in one turn. */
const DELIVER_MS = 4;
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
  readonly #reads = new ReadTurns<ClientConnection>({
    bytesSent: () => this.traffic.bytesSent,
    workCount: () => this.replica.workCount,
    isHalted: () => this.#isHalted,
    wake: () => this.wake(),
  });
  readonly #log: TxnLog;
  readonly #recorder: ChangeRecorder | undefined;
  readonly #peers: Peers | undefined;
  readonly #connections: (ClientConnection | undefined)[] = [];
  readonly #sessionless: SessionlessConnections<ClientConnection>;
  readonly #written = new FlushQueue<ClientConnection>(() => performance.now());
  /** Not their numbers: by the time that they are read on, those may name others. */
  #resumed: ClientConnection[] = [];
  #isTurnOpen = false;
  #batchesInFlight = 0;
  readonly #marks: CheckpointMarks;
  readonly #expiryTimer = new DueTimer(() => this.#expire(), true);
  // What came meanwhile is read first: a server that stood still must hear the others before it judges them.
  readonly #tickTimer = new DueTimer(() => setImmediate(() => this.wake()), false);
  #sweepTimer: NodeJS.Timeout | undefined;
  #behindTimer: NodeJS.Timeout | undefined;
  #isDelivering = false;
  /** Of {@link DELIVER_MS}, what this turn has left: the log may report several times in one. */
  #deliverLeftMs = DELIVER_MS;
  #isHandingOver = false;
  #proposalSizes = new BatchSizes();
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
    this.#marks = new CheckpointMarks((mark) => hooks.mark(mark));
    this.#sessionless = new SessionlessConnections(config.sessionlessTimeoutMs, (connection) => {
      const reason = `no connect request came within ${config.sessionlessTimeoutMs} ms`;
      hooks.refusals.note("handshake", connection.peer, reason);
      this.traffic.sessionlessExpired++;
      connection.close();
    });
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
      wrongPassword: (to) => {
        const connection = this.#connections[to];
        if (connection !== undefined) this.#delayFailure(connection);
      },
      requested: (sequence, connection, request) => audit?.asked(sequence, connection, request, tools.requests),
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
    this.#expiryTimer.arm(this.replica.nextExpiryMs());
  }

  /** Begins to look for its place among the other servers. */
  join(bootCount: number): void {
    this.#begin();
    this.wake();
    this.#step(() => this.replica.join(bootCount));
  }

  #begin(): void {
    this.#setTime();
    this.#marks.begin(this.replica.tree.applied);
    this.#isServing = true;
    this.#sweepTimer = setInterval(() => this.#sweep(), SWEEP_MS);
    this.#sweepTimer.unref();
  }

  get proposalSizes(): Readonly<BatchSizes> {
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
    this.#reads.begin();
    this.#setTime();
    setImmediate(() => this.#endTurn());
  }

  hasRoomInTurn(): boolean {
    return this.#reads.hasRoom;
  }

  isShareSpent(isLarge: boolean): boolean {
    return this.#reads.isShareSpent(isLarge);
  }

  later(connection: ClientConnection, hasHadShare: boolean): void {
    this.#reads.later(connection, hasHadShare);
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
    this.#expiryTimer.stop();
    await this.#quiet();
    this.#tickTimer.stop();
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
    this.#expiryTimer.stop();
    clearTimeout(this.#behindTimer);
    this.#tickTimer.stop();
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
      this.#tickTimer.arm(this.replica.nextTickMs());
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
      this.#expiryTimer.arm(this.replica.nextExpiryMs());
    }
  }

  #tickIfDue(): void {
    const due = this.replica.nextTickMs();
    if (due !== undefined && due <= this.replica.nowMs) this.replica.tick();
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
    this.#proposalSizes = new BatchSizes();
    if (!this.replica.isServing) this.#hooks.audit?.clear();
    this.#hooks.roleChanged();
  }

  #append(run: LoggedRun): void {
    this.#batchesInFlight++;
    const bytes = run.end - run.start;
    this.#proposalSizes.note(bytes);
    this.#marks.appended(bytes);
  }

  #deliver(): void {
    this.#isDelivering = false;
    const more = this.#deliverSome();
    if (this.#marks.isDue) this.mark();
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
    this.#marks.begin(this.replica.tree.applied);
  }

  /** Tells how far the state file may follow: to everything that is applied. */
  mark(): void {
    if (!this.replica.isApplying) this.#marks.set(this.replica.tree);
  }

  #setTime(): void {
    // Whole milliseconds: a fraction would be an object wherever it is kept.
    this.replica.setTime(Math.floor(performance.now()), Date.now());
  }

  /**
   * Ends what is due, one bucket a turn, and only after the sockets were read: a server that was stalled must hear what its
   * clients said meanwhile before it declares them gone.
   */
  #expire(): void {
    setImmediate(() => {
      setImmediate(() => {
        this.wake();
        this.#step(() => this.replica.expireSessions());
        // The timer may have fired a moment too soon, and this was one bucket of all.
        this.#expiryTimer.arm(this.replica.nextExpiryMs());
      });
    });
  }

  #sweep(): void {
    this.#closeSessionless();
    this.#step(() => {
      this.replica.tree.compact(COMPACT_BUDGET);
      if (this.#marks.hasAppended) this.mark();
    });
  }

  /** Closes connections that never sent a whole connect request in time, some in a turn. */
  #closeSessionless(): void {
    this.wake();
    if (this.#sessionless.closeSome(performance.now())) setImmediate(() => this.#closeSessionless());
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
