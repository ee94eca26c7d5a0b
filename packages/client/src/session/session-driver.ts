/**
 * Drives a {@link Session}: its connection, the clock, one timer, and the calls in flight. All
 * calls of one turn of the event loop leave in one write; one chunk that arrives settles all the
 * calls that it answers.
 */
import { Backoff, foundBytes } from "@zooid/model";
import { readConnectResponse, WireError } from "@zooid/wire";
import type { Observable } from "rxjs";
import { authFields, Credentials } from "../auth/credentials.ts";
import { SaslNegotiation } from "../auth/sasl-negotiation.ts";
import { type AnyCall, Call, type CallFields } from "../calls/call.ts";
import { withCallersFrames } from "../calls/callers-frames.ts";
import { ExclusiveCalls } from "../calls/exclusive-calls.ts";
import { InFlight } from "../calls/in-flight.ts";
import { CLOSE_SESSION, type Operation, REMOVE_WATCHES } from "../calls/operation.ts";
import { OutgoingRequests } from "../calls/outgoing-requests.ts";
import { PostponedCalls } from "../calls/postponed-calls.ts";
import { syncBefore } from "../calls/sync-before.ts";
import { asError, type ZkError } from "../errors.ts";
import type { ClientConfig, Credential } from "../options.ts";
import type { HostAddress } from "../servers/connect-string.ts";
import { HostList, type HostProvider } from "../servers/host-list.ts";
import { WritableSearch } from "../servers/writable-search.ts";
import { rxjs } from "../streams/rxjs-module.ts";
import { ServerWatches } from "../watches/server-watches.ts";
import type { Watcher, WatchKind, WatchRegistry } from "../watches/watch-registry.ts";
import { type AttemptFailure, AttemptFailures } from "./attempt-failures.ts";
import type { ClientState } from "./client-state.ts";
import { CurrentConnection } from "./current-connection.ts";
import {
  areCallsTraced,
  type ConnectionMessage,
  traceCall,
  traceConnection,
  traceStall,
  traceState,
} from "./diagnostics.ts";
import type { DriverMetrics } from "./driver-metrics.ts";
import { endError } from "./end-error.ts";
import { withJson } from "./json-text.ts";
import { OneTimer } from "./one-timer.ts";
import { ReceivedAnswers } from "./received-answers.ts";
import { type DisconnectReason, Session, type SessionEnd } from "./session.ts";
import { SessionLog } from "./session-log.ts";
import { StateListeners } from "./state-listeners.ts";

const XID_MAX = 2 ** 31 - 1;
/** The xid of a call that is not in flight. */
const XID_NONE = 0;
const CONNECT_TIMEOUT_MS_MAX = 10_000;
/** A server may grant a longer session than was asked for, and must have time to answer. */
const CONNECT_TIMEOUT_MS_LEAST = 100;
const BACKOFF_BASE_MS = 100;
const BACKOFF_MAX_MS = 5_000;

export interface DriverEvents {
  /**
   * A session is connected, and watches are being armed again: observers read their nodes again.
   */
  established(): void;
  /** No further event comes. */
  ended(error: ZkError): void;
}

export class SessionDriver {
  readonly config: ClientConfig;
  readonly session: Session;
  readonly #hosts: HostList;
  readonly #writable: WritableSearch;
  readonly #connection: CurrentConnection;
  readonly #outgoing: OutgoingRequests;
  readonly #inFlight = new InFlight();
  readonly #exclusive = new ExclusiveCalls({
    isOpen: () => this.#isOpen(),
    isEmpty: () => this.#inFlight.count === 0,
    send: (call) => this.#send(call),
  });
  readonly #postponed: PostponedCalls;
  readonly #credentials: Credentials;
  readonly #negotiation: SaslNegotiation;
  readonly #serverWatches: ServerWatches;
  readonly #answers: ReceivedAnswers;
  readonly #timer: OneTimer;
  readonly #failures: AttemptFailures;
  readonly log: SessionLog;
  /** Listeners of states. */
  readonly states: StateListeners = new StateListeners();
  #state: ClientState = { kind: "connecting" };
  readonly #listeners = new Set<DriverEvents>();
  #isGreeted = false;
  /** Whether the server has reported that the session has moved or ended. */
  #isDisowned = false;
  /** Whether the connection is left as soon as no request is in flight. */
  #isMoving = false;
  #isPumping = false;
  #closeXid = 0;
  #connectionCount = 0;
  #receivedBytes = 0;
  #xid: number;
  #end: SessionEnd | undefined;
  /** Why the server refused to authenticate the client. */
  #refusal: string | undefined;
  readonly #closed = Promise.withResolvers<void>();

  /**
   * @param lastXid the xid before the first request's; xids go from 1 to the largest int and start
   *   again
   */
  constructor(config: ClientConfig, hosts: HostProvider, lastXid = 0) {
    this.config = config;
    this.#xid = lastXid;
    this.#timer = new OneTimer((nowMs, lateMs) => this.#tick(nowMs, lateMs));
    this.#connection = new CurrentConnection(config, {
      opened: () => {
        this.session.opened(now());
        this.#arm();
      },
      received: (chunk) => this.#received(chunk),
      drained: () => this.#pump(),
      closed: (error) => this.#leave({ cause: error }),
    });
    this.#outgoing = new OutgoingRequests(this.#connection, {
      frameBytesMax: config.frameBytesMax,
      leaving: (nowMs) => {
        this.#inFlight.markSent(nowMs);
        this.session.sent(nowMs);
      },
    });
    this.#credentials = new Credentials(config.auth, this.#outgoing);
    this.#negotiation = new SaslNegotiation({
      send: (call) => {
        this.#send(call);
        this.#arm();
      },
      done: () => {
        this.#identified();
        this.#arm();
      },
      failed: (reason) => {
        this.#refusal = reason;
        this.session.authFailed();
      },
    });
    this.#postponed = new PostponedCalls(config, this.#connection, {
      isConnected: () => this.session.isConnected,
      noConnectionError: () => this.#failures.error,
      enter: (call) => this.#enter(call),
      dueChanged: () => this.#arm(),
    });
    this.#serverWatches = new ServerWatches({
      isConnected: () => this.session.isConnected,
      ask: (fields) => this.ask(fields),
    });
    const { sessionTimeoutMs, random } = config;
    const connectTimeoutMs =
      config.connectTimeoutMs ??
      Math.min(
        CONNECT_TIMEOUT_MS_MAX,
        Math.max(CONNECT_TIMEOUT_MS_LEAST, sessionTimeoutMs / Math.max(1, hosts.hosts().length)),
      );
    this.#failures = new AttemptFailures({
      timeoutMs: Math.round(connectTimeoutMs),
      isSecure: config.transport.isSecure === true,
      ownCertificateFault: () => config.transport.certificateFault?.(),
    });
    this.log = new SessionLog(config);
    this.#hosts = new HostList(hosts, { shuffle: config.shufflesHosts, random });
    this.#writable = new WritableSearch({
      hosts,
      transport: config.transport,
      timeoutMs: connectTimeoutMs,
      found: (address) => {
        this.#hosts.prefer(address);
        this.#leave();
      },
    });
    this.session = new Session(
      {
        timeoutMs: sessionTimeoutMs,
        connectTimeoutMs,
        allowsReadOnly: config.allowsReadOnly,
        onExpiry: config.onExpiry,
        acceptsRegression: config.acceptsRegression,
        resume: config.session,
      },
      {
        hosts: this.#hosts,
        backoff: new Backoff({ leastMs: BACKOFF_BASE_MS, mostMs: BACKOFF_MAX_MS, jitter: 1, random }),
        sinks: {
          resolve: (host) => this.#resolve(host),
          dial: (address, reachMs) => this.#connection.dial(address, reachMs),
          hangUp: () => this.#hangUp(),
          handshake: (request) => this.#outgoing.handshake(request),
          ping: () => this.#outgoing.ping(),
          closeSession: () => this.#closeSession(),
          established: () => this.#established(),
          severed: (cause) => this.#severed(cause),
          attemptFailed: (failure) => this.#attemptFailed(failure),
          ended: (end) => this.#ended(end),
          state: (state) => this.#enterState(state),
        },
      },
    );
    this.#answers = new ReceivedAnswers(
      {
        session: this.session,
        inFlight: this.#inFlight,
        exclusive: this.#exclusive,
        postponed: this.#postponed,
        credentials: this.#credentials,
        serverWatches: this.#serverWatches,
        responseBytesMax: config.responseBytesMax,
      },
      {
        disowned: () => {
          this.#isDisowned = true;
        },
        ask: (fields) => this.ask(fields),
      },
    );
  }

  get watches(): WatchRegistry {
    return this.#serverWatches.registry;
  }

  get state(): ClientState {
    return this.#state;
  }

  /** Starts with the current state, and completes at the end of the client. */
  get state$(): Observable<ClientState> {
    return new (rxjs().Observable)((subscriber) =>
      this.states.add(
        (state) => subscriber.next(state),
        () => subscriber.complete(),
      ),
    );
  }

  /** The reason of the client's end; undefined before. */
  get end(): ZkError | undefined {
    return this.#end === undefined ? undefined : endError(this.#end, "client", { reason: this.#refusal });
  }

  /**
   * Why there is no connection: the last failure of each server; undefined where none has failed.
   */
  get noConnectionError(): AggregateError | undefined {
    return this.#failures.error;
  }

  /** The same as a clause, with the attempt under way; undefined where there was no attempt yet. */
  get noConnectionReason(): string | undefined {
    const reasons = [this.#failures.summary, this.session.attempt].filter((reason) => reason !== undefined);
    return reasons.length === 0 ? undefined : reasons.join("; ");
  }

  /** Whether all servers have failed by certificates, which further attempts do not change. */
  get hasPermanentFault(): boolean {
    return this.#failures.arePermanent(this.#hosts.hostCount);
  }

  /** Resolves at the client's end, whatever its reason. */
  get closed(): Promise<void> {
    return this.#closed.promise;
  }

  start(): void {
    this.#enterState(this.#state);
    this.session.start(now());
    this.#arm();
  }

  /** Makes a call; the promise settles in the turn in which the answer arrives. */
  ask<B, T>(fields: CallFields<B, T>): Promise<T> {
    const answered = new Promise<T>((resolve, reject) => this.submit(new Call(fields, resolve, reject))).then(
      undefined,
      withCallersFrames,
    );
    if (!areCallsTraced()) return answered;
    const { server, id } = this.session;
    return traceCall({ op: fields.operation.name, path: fields.shownPath, server, sessionId: id }, answered);
  }

  submit<B, T>(typed: Call<B, T>): void {
    // Queues hold calls of all kinds; each keeps its own types to itself.
    const call = typed as AnyCall;
    if (call.options === undefined || this.#postponed.limit(call)) this.#enter(call);
  }

  /**
   * Makes a call while no other is in flight, on this connection only; others wait for its answer.
   */
  submitExclusive<B, T>(typed: Call<B, T>): void {
    const call = typed as AnyCall;
    if (this.#end !== undefined) {
      call.reject(this.#endErrorOf(call, this.#end));
      return;
    }
    this.#exclusive.push(call);
    this.#pump();
  }

  #enter(call: AnyCall): void {
    if (this.#end !== undefined) call.reject(this.#endErrorOf(call, this.#end));
    else if (this.#postponed.waitingCount === 0 && this.#maySend()) this.#send(call);
    else this.#postponed.wait(call);
  }

  /** Adds credentials, now and on every later connection. */
  addAuth(credential: Credential, fields: Pick<CallFields<unknown, void>, "options">): Promise<void> {
    this.#credentials.add(credential);
    return new Promise<void>((resolve, reject) => {
      const call = new Call({ ...authFields(credential), ...fields }, resolve, reject) as AnyCall;
      if (call.options !== undefined && !this.#postponed.limit(call)) return;
      if (this.#end !== undefined) call.reject(endError(this.#end, call.operation.name, { reason: this.#refusal }));
      else if (this.session.isConnected) this.#credentials.send(call);
      else this.#credentials.sendLater(call);
    });
  }

  /** Removes a cancelled call; the answer to one that was sent is discarded. */
  withdraw<B, T>(typed: Call<B, T>): void {
    const call = typed as AnyCall;
    this.#postponed.remove(call);
    call.abandon();
  }

  listen(listener: DriverEvents): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Removes a watcher, and the server's watch where no other watcher needs it. */
  unwatch(kind: WatchKind, path: string, watcher: Watcher): void {
    this.#serverWatches.remove(kind, path, watcher);
  }

  /**
   * Moves to one of these servers once all requests in flight are answered, so that no write ends
   * with an unknown outcome.
   */
  moveTo(hosts: readonly HostAddress[]): void {
    if (!this.session.isConnected) return;
    this.#hosts.restart(hosts);
    this.#isMoving = true;
    this.#pump();
  }

  /**
   * Moves to a server that is none of these, as {@link moveTo}.
   *
   * @returns false where no other one is known
   */
  moveFrom(left: readonly HostAddress[]): boolean {
    const others = this.#hosts.without(left);
    if (others.length > 0) this.moveTo(others);
    return others.length > 0;
  }

  /** Current metrics. */
  get metrics(): DriverMetrics {
    return {
      inFlightCount: this.#inFlight.count,
      waitingCount: this.#postponed.waitingCount,
      waitingBytes: this.#postponed.waitingBytes,
      sentBytes: this.#outgoing.sentBytes,
      receivedBytes: this.#receivedBytes,
      connectionCount: this.#connectionCount,
      sessionLossCount: this.#postponed.lossCount,
    };
  }

  /**
   * Ends the session at the server, if connected, and the client. Calls made before are sent first.
   * May be repeated. It waits for the server's answer for 5 s at most.
   */
  close(): Promise<void> {
    this.#sendWaiting();
    this.session.close(now());
    this.#arm();
    return this.closed;
  }

  /**
   * The same, and does not give up until a server has confirmed the end of the session: over as
   * many connections as that takes, until {@link close} or {@link disconnect}.
   */
  closeConfirmed(): Promise<void> {
    this.#sendWaiting();
    this.session.closeConfirmed(now());
    this.#arm();
    return this.closed;
  }

  /** Ends the client at once. The session ends at the servers after its timeout. */
  disconnect(): void {
    this.session.abandon();
  }

  #enterState(state: ClientState): void {
    this.#state = withJson(state);
    // Calls made by listeners of this event go to the next session.
    if (state.kind === "lost") this.#postponed.sessionLost();
    if (state.kind === "read-only") this.#writable.start();
    else this.#writable.stop();
    this.log.state(state, now());
    this.states.next(state);
    traceState(state);
  }

  // Sending

  #maySend(): boolean {
    return this.#isOpen() && !this.#exclusive.isUnderWay && this.#inFlight.count < this.config.inFlightMax;
  }

  #isOpen(): boolean {
    const isReady = this.#isGreeted && !this.#negotiation.isUnderWay && !this.#isMoving;
    return isReady && !this.#connection.isFull && this.#closeXid === 0;
  }

  #send(call: AnyCall): void {
    if (call.isSettled) return;
    const { operation } = call;
    if (operation === (REMOVE_WATCHES as Operation<unknown, unknown>) && this.#serverWatches.isWantedAgain(call))
      return;
    if (call.syncPath !== undefined) this.#send(syncBefore(call, call.syncPath));
    call.xid = this.#xid = this.#xid === XID_MAX ? 1 : this.#xid + 1;
    if (!this.#outgoing.write(call)) return;
    this.#serverWatches.sent(call);
    this.#inFlight.push(call);
    if (operation === (CLOSE_SESSION as Operation<unknown, unknown>)) this.#closeXid = call.xid;
    this.#outgoing.scheduleFlush();
  }

  /** Sends waiting calls, as far as there is room. */
  #pump(): void {
    if (this.#isPumping) return;
    if (this.#isMoving && this.#inFlight.count === 0) {
      this.#leave();
      return;
    }
    this.#isPumping = true;
    if (this.#exclusive.isUnderWay) this.#exclusive.sendNext();
    while (this.#postponed.waitingCount > 0 && this.#maySend()) {
      const call = this.#postponed.shift();
      if (call !== undefined) this.#send(call);
    }
    this.#isPumping = false;
  }

  // Receiving

  readonly #takeFrame = (bytes: Uint8Array, start: number, end: number): void => {
    if (this.#isGreeted) this.#answers.take(bytes, start, end);
    else this.#greeted(bytes, start, end);
  };

  #received(chunk: Buffer): void {
    const nowMs = now();
    this.#receivedBytes += chunk.length;
    if (!this.session.received(nowMs)) {
      this.#arm();
      return;
    }
    const { generation } = this.#connection;
    try {
      this.#connection.read(chunk, this.#takeFrame);
    } catch (error) {
      if (!(error instanceof WireError)) throw error;
      if (generation === this.#connection.generation) this.#unreadable(error, chunk);
    }
    if (this.#isDisowned) this.#leave({ isFault: true });
    this.#pump();
    if (this.session.deadlineMs < this.#timer.atMs) this.#arm();
  }

  #greeted(bytes: Uint8Array, start: number, end: number): void {
    this.session.greeted(readConnectResponse(bytes, start, end), now());
  }

  /**
   * The stream is unreadable from here: the client reconnects, and repeats calls that are not at
   * fault.
   */
  #unreadable(error: WireError, chunk: Buffer): void {
    if (error.code === "FRAME_SIZE") {
      const call = this.#inFlight.oldest;
      call?.reject(call.failure("PACKET_TOO_LARGE", "unknown", error));
    }
    const received = this.#isGreeted ? undefined : foundBytes(chunk);
    this.#leave({ isFault: true, cause: error, received });
  }

  /** Leaves the connection for another one. */
  #leave(reason: DisconnectReason = {}): void {
    const server = this.session.isConnected ? this.session.server : undefined;
    this.#hangUp();
    if (server !== undefined) this.#report({ kind: "closed", server, attempt: 0, error: reason.cause });
    this.session.disconnected(now(), reason);
    this.#arm();
  }

  // The connection

  #resolve(host: HostAddress): void {
    // A transport that throws has found no address either.
    new Promise<readonly HostAddress[]>((found) => found(this.config.transport.resolve(host))).then(
      (addresses) => this.#resolved(addresses),
      (fault: unknown) => this.#resolved([], asError(fault)),
    );
  }

  #resolved(addresses: readonly HostAddress[], fault?: Error): void {
    this.session.resolved(addresses, now(), fault);
    this.#arm();
  }

  #attemptFailed(failure: AttemptFailure): void {
    this.#failures.add(failure);
    const { count, newest } = this.#failures;
    const error = this.#failures.errorOf(failure);
    this.#report({ kind: "failed", server: error.server, attempt: count, error });
    const state = this.#state;
    if (state.kind !== "connecting" && state.kind !== "suspended" && state.kind !== "lost") return;
    this.#state = withJson({ ...state, attempt: count, ...(newest === undefined ? {} : { reason: newest }) });
    this.states.next(this.#state);
  }

  #report(message: Omit<ConnectionMessage, "sessionId">): void {
    const full = { ...message, sessionId: this.session.id };
    traceConnection(full);
    this.log.connection(full);
  }

  #hangUp(): void {
    this.#connection.hangUp();
    this.#negotiation.stop();
    this.#isGreeted = false;
    this.#isDisowned = false;
    this.#isMoving = false;
  }

  #established(): void {
    this.#isGreeted = true;
    this.#connection.skipOversized(this.#answers.takeOversized);
    this.#connectionCount++;
    const { server = "" } = this.session;
    this.#report({ kind: "connected", server, attempt: this.#failures.count, error: undefined });
    this.#failures.clear();
    const { sasl } = this.config;
    if (sasl === undefined) this.#identified();
    else this.#negotiation.begin(sasl, this.session.connectedAddress);
  }

  /** In this order: credentials, watches, observers, waiting calls. */
  #identified(): void {
    this.#credentials.sendAll();
    if (this.session.isClosing) {
      this.#sendWaiting();
      this.#closeSession();
      return;
    }
    const { generation } = this.#connection;
    const { lastZxid } = this.session;
    const { frameBytesMax } = this.config;
    const { hostCount } = this.#hosts;
    const arming = this.#serverWatches.rearming({ lastZxid, frameBytesMax, hostCount }, () => {
      if (generation === this.#connection.generation) this.#isDisowned = true;
    });
    for (const call of arming) this.#send(call);
    for (const listener of this.#listeners) listener.established();
    this.#pump();
  }

  #severed(cause: Error | undefined): void {
    this.#outgoing.clear();
    this.#closeXid = 0;
    this.watches.severed();
    const lost: (readonly [AnyCall, ZkError])[] = [];
    this.#inFlight.drain((call, wasSent) => {
      call.arming = undefined;
      call.xid = XID_NONE;
      if (!call.isSettled) lost.push([call, call.lost(wasSent, cause)]);
    });
    this.#postponed.severed(lost);
    for (const call of this.#exclusive.drain()) call.reject(call.failure("CONNECTION_LOSS", "not-sent"));
    this.#credentials.severed();
  }

  /** Sends all waiting calls, in order, which a close comes behind. */
  #sendWaiting(): void {
    if (this.#isGreeted && !this.#negotiation.isUnderWay && this.#closeXid === 0)
      for (const call of this.#postponed.drainWaiting()) this.#send(call);
  }

  #closeSession(): void {
    const fields = { operation: CLOSE_SESSION, path: "/", shownPath: "/", body: undefined };
    this.#send(new Call(fields, ignore, ignore) as AnyCall);
  }

  #ended(end: SessionEnd): void {
    this.#end = end;
    const reason = this.#refusal;
    this.#timer.stop();
    this.#outgoing.clear();
    this.#inFlight.drain((call, wasSent) => call.reject(this.#endErrorOf(call, end, wasSent)));
    for (const call of this.#exclusive.drain()) call.reject(this.#endErrorOf(call, end));
    this.#credentials.end((call) => endError(end, call.operation.name, { reason }));
    this.#postponed.end((call) => this.#endErrorOf(call, end));
    this.watches.end(endError(end, "watch", { reason }));
    for (const listener of this.#listeners) listener.ended(endError(end, "watch", { reason }));
    this.#listeners.clear();
    this.states.end();
    this.#closed.resolve();
  }

  #endErrorOf({ operation, shownPath }: AnyCall, end: SessionEnd, wasSent = false): ZkError {
    return endError(end, operation.name, { path: shownPath, wasSent, reason: this.#refusal });
  }

  // Time

  #arm(): void {
    this.#timer.set(Math.min(this.session.deadlineMs, this.#postponed.nextMs, this.log.warnAtMs));
  }

  #tick(nowMs: number, lateMs: number): void {
    this.#judgeLateness(lateMs);
    this.session.tick(nowMs);
    this.#postponed.come(nowMs);
    this.log.tick(nowMs, this.noConnectionReason);
    this.#pump();
    if (this.#end === undefined) this.#arm();
  }

  /** A late timer means that no ping was sent and no answer was read either. */
  #judgeLateness(lateMs: number): void {
    const { id, timeoutMs } = this.session;
    if (!(timeoutMs > 0 && lateMs > timeoutMs / 3)) return;
    const stall = { lateMs, sessionTimeoutMs: timeoutMs, sessionId: id };
    traceStall(stall);
    this.log.stall(stall);
  }
}

/** Milliseconds of a monotonic clock. */
function now(): number {
  return performance.now();
}

const ignore = (): void => {};
