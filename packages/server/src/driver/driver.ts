import { randomFillSync } from "node:crypto";
import type { Socket } from "node:net";
import { type ConnectRequest, type DiskRoom, SESSION_NONE, type ServerId, type SessionId } from "@zooid/model";
import type { ClosingAnswer, OpeningAnswer, RaiseAnswer, Replica, SessionEnding } from "@zooid/replica";
import type { BufferPool } from "@zooid/wire";
import type { RestoredState } from "@zooid/zab";
import type { SlicedAnswer } from "../admin/answer-slices.ts";
import { ClientConnection, type ConnectionHost, type ConnectionLimits } from "../clients/client-connection.ts";
import type { Traffic } from "../clients/traffic.ts";
import type { WatchFanOut } from "../clients/watch-fan-out.ts";
import type { RefusalLog } from "../operators/refusal-log.ts";
import type { RoleTimes } from "../operators/role-times.ts";
import type { SlowLog } from "../operators/slow-log.ts";
import type { DriverLimits } from "./driver-config.ts";
import type { DriverOptions } from "./driver-ground.ts";
import { DriverParts } from "./driver-parts.ts";
import type { Proposals } from "./proposals.ts";
import type { ReadTurns } from "./read-turns.ts";
import type { LeadershipTransfer } from "./service.ts";

/**
 * The loop around a replica: it has the clock, the sockets' output and the timers, and decides
 * nothing.
 *
 * ```
 *  socket ─▶ ClientConnection ─▶ replica ─┬─▶ CountedReplies ─▶ the connection's output ─▶ FlushQueue
 *             (ReadTurns: whose turn)     └─▶ log ─▶ appended ─▶ Deliveries
 *  TurnLoop: opens a turn, ends it; Proposals: one batch a turn; Timers: ticks, expiry, sweeps
 * ```
 */
export class Driver implements ConnectionHost {
  readonly replica: Replica;
  /** The log reports to it. */
  readonly proposals: Proposals;
  readonly pool: BufferPool;
  readonly limits: ConnectionLimits;
  readonly refusals: RefusalLog;
  readonly slow: SlowLog;
  readonly traffic: Traffic;
  readonly reads: ReadTurns<ClientConnection>;
  readonly roleTimes: RoleTimes;
  readonly fanOut: WatchFanOut;
  /** No session is opened or taken over here any more. */
  isDraining = false;
  readonly #parts: DriverParts;
  readonly #secret = new Uint8Array(18);

  constructor(options: DriverOptions) {
    const parts = new DriverParts(options);
    this.#parts = parts;
    this.replica = parts.replica;
    this.proposals = parts.proposals;
    this.pool = parts.pool;
    this.limits = parts.config.limits;
    this.refusals = parts.hooks.refusals;
    this.slow = parts.hooks.slow;
    this.traffic = parts.traffic;
    this.reads = parts.reads;
    this.roleTimes = parts.roleTimes;
    this.fanOut = parts.fanOut;
  }

  // State

  /** Whether clients are accepted: a member of an ensemble accepts them before it has a role. */
  get isServing(): boolean {
    return this.#parts.service.isServing;
  }

  /** Whether it failed: nothing is read or sent any more. */
  get isHalted(): boolean {
    return this.#parts.service.isHalted;
  }

  /** The probability, from 0 to 1, that a connecting client is dropped by the throttle. */
  get dropChance(): number {
    return this.#parts.throttle.dropChance;
  }

  connections(): IterableIterator<ClientConnection> {
    return this.#parts.clients[Symbol.iterator]();
  }

  // Start and end

  /** Serves as an ensemble of one, in an epoch that is durable. */
  lead(epoch: number, bootCount: number): void {
    const { service, timers, turns } = this.#parts;
    service.begin();
    // The feature level that the history begins with is proposed.
    turns.wake();
    this.replica.lead(epoch, bootCount);
    timers.armExpiry();
  }

  /** Starts to look for a role among the other servers. */
  join(bootCount: number): void {
    const { service, turns } = this.#parts;
    service.begin();
    turns.wake();
    turns.step(() => this.replica.join(bootCount));
  }

  /** Begins to serve reads of the tree of an ensemble that is followed. */
  serveFollowed(bootCount: number): void {
    const { service, turns } = this.#parts;
    if (service.isStopped) return;
    if (!service.isServing) service.begin();
    turns.input(() => this.replica.followed.begin(bootCount));
  }

  /** The tree is about to be replaced: nothing of it is read until {@link serveFollowed}. */
  endFollowed(): void {
    this.#parts.turns.input(() => this.replica.followed.end());
  }

  /** @returns the successor; undefined if no server could take it in time */
  transferLeadership(transfer: LeadershipTransfer): Promise<ServerId | undefined> {
    return this.#parts.service.transferLeadership(transfer);
  }

  /**
   * Begins the next epoch with a state of the past, see `ZabPeer.restore`. Nothing of it is called
   * from within.
   *
   * @returns whether it begins; then `ended` of the state is called, unless the server fails
   */
  restore(state: RestoredState): Promise<boolean> {
    return this.#parts.service.restore(state);
  }

  /** Ends one session before its timeout, for an operator. */
  endSession(id: SessionId): SessionEnding {
    let ending: SessionEnding = "unknown";
    this.#parts.turns.input(() => {
      ending = this.replica.endSession(id);
    });
    return ending;
  }

  /** Raises the feature level, for an operator: see `Replica.raiseLevel`. */
  raiseLevel(): RaiseAnswer {
    let answer: RaiseAnswer = { kind: "not-leading" };
    this.#parts.turns.input(() => {
      answer = this.replica.raiseLevel();
    });
    return answer;
  }

  /** Opens the ensemble to clients, for an operator: see `Replica.openClients`. */
  openClients(): OpeningAnswer {
    let answer: OpeningAnswer = "not-leading";
    this.#parts.turns.input(() => {
      answer = this.replica.openClients();
    });
    return answer;
  }

  /** Closes the ensemble to clients, for an operator: see `Replica.closeClients`. */
  closeClients(): ClosingAnswer {
    let answer: ClosingAnswer = "not-leading";
    this.#parts.turns.input(() => {
      answer = this.replica.closeClients();
    });
    return answer;
  }

  /** The answer that {@link raiseLevel} would give now. */
  mayRaiseLevel(): RaiseAnswer {
    return this.replica.mayRaiseLevel();
  }

  /**
   * Resolves when all prepared writes are durable, and connections are closed behind their answers.
   */
  stop(): Promise<void> {
    return this.#parts.service.stop();
  }

  /** Ends everything at once, after a failure. */
  halt(): void {
    this.#parts.service.halt();
  }

  /** Other limits from the next connection, request and failed authentication on. */
  changeLimits({ replica, connectionThrottle, authFailures }: DriverLimits): void {
    const parts = this.#parts;
    parts.throttle.change(connectionThrottle, Math.floor(performance.now()));
    parts.authFailures.change(authFailures);
    parts.turns.input(() => this.replica.changeLimits(replica));
  }

  /** Lets the state file follow to what is applied. */
  checkpoint(): void {
    this.#parts.checkpoints.take();
  }

  // Inputs

  wake(): void {
    this.#parts.turns.wake();
  }

  /** Calls back after the sockets were polled, and after further connections were accepted. */
  later(callback: () => void): void {
    this.#parts.polls.later(callback);
  }

  /** Steps the replica in a turn, because of an input from outside. */
  input(step: () => void): void {
    this.#parts.turns.input(step);
  }

  /** The room on this server's disk has changed. */
  setRoom(room: DiskRoom): void {
    this.#parts.turns.input(() => this.replica.setRoom(room));
  }

  // Clients

  /** A port for clients has accepted a connection, whatever becomes of it. */
  arrived(): void {
    this.#parts.polls.arrived();
  }

  /** @param certificateSubject of the client's certificate, if it has one */
  accept(socket: Socket, address: string, certificateSubject?: string): void {
    const { turns, clients } = this.#parts;
    turns.setTime();
    const ref = this.replica.accept(address, certificateSubject);
    const counted = this.replica.shareOf(ref);
    const identity = { ref, address, counted, nowMs: this.replica.nowMs, wallMs: Date.now() };
    clients.add(new ClientConnection(socket, identity, this));
  }

  connect(connection: ClientConnection, request: ConnectRequest): boolean {
    const { service, clients, throttle, turns, config } = this.#parts;
    if (!service.isServing) return false;
    if (this.isDraining) {
      this.refusals.noteExpected(
        "draining",
        connection.peer,
        "this server is drained: clients connect to other servers",
      );
      return false;
    }
    clients.connected(connection);
    const isRenewal = request.sessionId !== SESSION_NONE;
    const isLocal = config.replica.ensemble?.localSessions === true;
    if (!throttle.admits(isRenewal ? "renew" : isLocal ? "local" : "global", this.replica.nowMs)) {
      this.refusals.note(
        "throttle",
        connection.peer,
        "clients connect faster than connection_throttle_tokens lets them",
      );
      return false;
    }
    this.traffic.connectRequests++;
    if (isRenewal) this.traffic.revalidations++;
    randomFillSync(this.#secret);
    turns.step(() => this.replica.connect(connection.ref, request, this.#secret));
    return true;
  }

  onClientFrame(connection: ClientConnection, bytes: Uint8Array, start: number, end: number): boolean {
    const { service } = this.#parts;
    if (!service.isServing) return false;
    try {
      return this.replica.request(connection.ref, bytes, start, end);
    } catch (error) {
      service.fail(error);
      return false;
    }
  }

  hasRead(): void {
    this.#parts.proposals.proposeFull();
  }

  dirty(connection: ClientConnection): void {
    this.#parts.clients.dirty(connection);
  }

  ended(connection: ClientConnection): void {
    this.#parts.closing.add(connection);
  }

  closed(connection: ClientConnection): void {
    this.#parts.clients.remove(connection);
    connection.writer.clear();
    this.replica.disconnect(connection.ref);
  }

  wordBytes(word: string): number {
    return this.#parts.hooks.wordBytes(word);
  }

  fourLetterWord(word: string, argument: Buffer, connection: ClientConnection): string | SlicedAnswer | undefined {
    return this.#parts.hooks.fourLetterWord(word, argument, connection);
  }

  /** Counts a failed authentication. @returns the delay of its answer */
  failureDelayMs(address: string): number {
    return this.#parts.authFailures.delayMs(address, performance.now());
  }
}
