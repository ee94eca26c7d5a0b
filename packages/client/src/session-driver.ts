/**
 * The world around a {@link Session}: the connection, the clock, one timer, and the calls on their way. One turn of the event loop
 * writes once, however many calls were made in it; one chunk that arrives resolves all the calls that it answers.
 */
import { assertNever, ErrorCode, OpCode, type Zxid } from "@zooid/model";
import {
  BufferPool,
  Framer,
  JuteReader,
  JuteWriter,
  readConnectResponse,
  readWatcherEvent,
  WireError,
  writeConnectRequest,
  writeRequestHeader,
} from "@zooid/wire";
import { type Observable, ReplaySubject } from "rxjs";
import { newBackoff } from "./backoff.ts";
import { type AnyCall, Call, type CallFields, type CallOptions } from "./call.ts";
import type { ClientState } from "./client-state.ts";
import type { HostAddress } from "./connect-string.ts";
import { Deadlines } from "./deadlines.ts";
import { areCallsTraced, traceCall, traceEvent, traceStall, traceState } from "./diagnostics.ts";
import { isZkError, type ZkError, zkError } from "./errors.ts";
import { HostList, type HostProvider } from "./host-list.ts";
import { InFlight } from "./in-flight.ts";
import {
  AUTH,
  CLOSE_SESSION,
  DELETE,
  type Operation,
  REMOVE_WATCHES,
  SASL,
  SET_WATCHES,
  SET_WATCHES2,
  SYNC,
} from "./operation.ts";
import type { ClientConfig, Credential } from "./options.ts";
import { type RetryPolicy, retry } from "./retry.ts";
import type { SaslExchange, SaslMechanism } from "./sasl.ts";
import { Session, type SessionEnd } from "./session.ts";
import type { TransportConnection, TransportEvents } from "./transport.ts";
import { WaitingCalls } from "./waiting-calls.ts";
import { watchEventName } from "./watch-event.ts";
import { type Watcher, type WatchKind, WatchRegistry, type WatchType, watchTypeOf } from "./watch-registry.ts";
import { WritableSearch } from "./writable-search.ts";

const XID_EVENT = -1;
const XID_PING = -2;
const XID_AUTH = -4;
const XID_MAX = 2 ** 31 - 1;
/** Of a call that is not on its way. */
const XID_NONE = 0;
/** A write does not wait for the turn's end beyond this. */
const FLUSH_BYTES = 64 * 1024;
/** Paths of one setWatches: far below any server's limit on frames, as Java's clients have it. */
const SET_WATCHES_BYTES_MAX = 128 * 1024;
const CONNECT_TIMEOUT_MS_MAX = 10_000;
/** What ends the client as an answer to an identity: no other connection would bring another answer. */
const AUTH_REFUSALS: ReadonlySet<number> = new Set<number>([
  ErrorCode.AUTH_FAILED,
  ErrorCode.SESSION_CLOSED_REQUIRE_SASL_AUTH,
]);
const SYNC_OF_CONNECTION: Operation<undefined, void> = { ...SYNC, isOfConnection: true };
const ONCE: CallOptions = { retry: retry.none };
const TIMER_MS_MAX = 2 ** 31 - 1;
const BACKOFF_BASE_MS = 100;
const BACKOFF_MAX_MS = 5_000;

/**
 * What a call's time has come for: its caller's patience is at its end, it has waited long enough for a connection, or it is tried
 * again.
 */
interface Due {
  readonly call: AnyCall;
  readonly kind: "timeout" | "waited" | "try-again";
  /** The connection that refused the call which is tried again. */
  readonly generation?: number;
  /** How many sessions were lost by then. */
  readonly lossCount?: number;
}

/** Numbers for whoever watches over a client. What counts events grows and never shrinks. */
export interface DriverMetrics {
  /** Requests that are on their way. */
  readonly inFlightCount: number;
  /** Calls that wait for a connection, or for room among those on their way, and what they hold, about. */
  readonly waitingCount: number;
  readonly waitingBytes: number;
  readonly sentBytes: number;
  readonly receivedBytes: number;
  /** Connections that a server has taken. */
  readonly connectionCount: number;
  /** Sessions that were lost. */
  readonly sessionLossCount: number;
}

export interface DriverEvents {
  /** A connection stands and watches are being armed again; what must be read anew can be read. */
  established(): void;
  /** Nothing more comes. */
  ended(error: ZkError): void;
}

export class SessionDriver {
  readonly #config: ClientConfig;
  readonly #session: Session;
  readonly #pool = new BufferPool();
  readonly #writer: JuteWriter;
  readonly #reader = new JuteReader();
  readonly #waiting: WaitingCalls;
  readonly #inFlight = new InFlight();
  /** Answered out of the order of the others, in an order of their own. */
  #auths: AnyCall[] = [];
  readonly #due = new Deadlines<Due>(({ call }) => call.isSettled);
  readonly #credentials: Credential[];
  readonly #state$ = new ReplaySubject<ClientState>(1);
  #state: ClientState = { kind: "connecting" };
  readonly #listeners = new Set<DriverEvents>();
  readonly watches: WatchRegistry = new WatchRegistry();
  #framer: Framer;
  #connection: TransportConnection | undefined;
  /** Of the connection: callbacks of an earlier one are not heard. */
  #generation = 0;
  #isGreeted = false;
  /** Whether the server has said that the session is not, or not any more, this connection's. */
  #isDisowned = false;
  /** Whether the exchange by SASL goes on, during which nothing else may be asked. */
  #isNegotiating = false;
  #isFull = false;
  #isFlushDue = false;
  #isPumping = false;
  #closeXid = 0;
  /** Sessions that were lost, or taken for lost. */
  #lossCount = 0;
  #connectionCount = 0;
  #sentBytes = 0;
  #receivedBytes = 0;
  #xid: number;
  #timer: NodeJS.Timeout | undefined;
  #timerAtMs = Number.POSITIVE_INFINITY;
  #end: SessionEnd | undefined;
  #removesWatches = true;
  readonly #hosts: HostList;
  readonly #writable: WritableSearch;
  readonly #closed = Promise.withResolvers<void>();

  /** @param lastXid the xid before the first request's; xids go from 1 to the largest int and begin anew */
  constructor(config: ClientConfig, hosts: HostProvider, lastXid = 0) {
    this.#config = config;
    this.#xid = lastXid;
    this.#writer = new JuteWriter(this.#pool);
    this.#framer = new Framer(config.frameBytesMax);
    this.#waiting = new WaitingCalls({ countMax: config.waitingMax, bytesMax: config.waitingBytesMax });
    this.#credentials = [...config.auth];
    const { sessionTimeoutMs, random } = config;
    const connectTimeoutMs =
      config.connectTimeoutMs ?? Math.min(CONNECT_TIMEOUT_MS_MAX, sessionTimeoutMs / Math.max(1, hosts.hosts().length));
    this.#hosts = new HostList(hosts, { shuffle: config.shufflesHosts, random });
    this.#writable = new WritableSearch({
      ...{ hosts, transport: config.transport, timeoutMs: connectTimeoutMs },
      found: (address) => {
        this.#hosts.prefer(address);
        this.#leave(false);
      },
    });
    this.#session = new Session(
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
        backoff: newBackoff({ baseMs: BACKOFF_BASE_MS, maxMs: BACKOFF_MAX_MS, random }),
        sinks: {
          resolve: (host) => this.#resolve(host),
          dial: (address) => this.#dial(address),
          hangUp: () => this.#hangUp(),
          handshake: (request) => {
            writeConnectRequest(this.#writer, request);
            this.#flush(now());
          },
          ping: () => this.#ping(),
          closeSession: () => this.#closeSession(),
          established: () => this.#established(),
          severed: () => this.#severed(),
          ended: (end) => this.#ended(end),
          state: (state) => this.#enterState(state),
        },
      },
    );
  }

  get session(): Session {
    return this.#session;
  }

  get state(): ClientState {
    return this.#state;
  }

  /** Begins with the present state, and completes when there is nothing more to come. */
  get state$(): Observable<ClientState> {
    return this.#state$.asObservable();
  }

  get config(): ClientConfig {
    return this.#config;
  }

  /** Why the client is at its end; undefined while it is not. */
  get end(): ZkError | undefined {
    return this.#end === undefined ? undefined : endError(this.#end, "client");
  }

  /** Resolves at the end, however it comes. */
  get closed(): Promise<void> {
    return this.#closed.promise;
  }

  start(): void {
    this.#enterState(this.#state);
    this.#session.start(now());
    this.#arm();
  }

  /** Asks; the promise settles in the turn in which the answer arrives. */
  ask<B, T>(fields: CallFields<B, T>): Promise<T> {
    const answered = new Promise<T>((resolve, reject) => this.submit(new Call(fields, resolve, reject)));
    if (!areCallsTraced()) return answered;
    const { server, id } = this.#session;
    return traceCall({ op: fields.operation.name, path: fields.shownPath, server, sessionId: id }, answered);
  }

  submit<B, T>(typed: Call<B, T>): void {
    // Queues hold calls of every kind; each keeps its own types to itself.
    const call = typed as AnyCall;
    if (call.options === undefined || this.#limit(call)) this.#enter(call);
  }

  #enter(call: AnyCall): void {
    if (this.#end !== undefined) call.reject(endError(this.#end, call.operation.name, call.shownPath));
    else if (this.#waiting.count === 0 && this.#maySend()) this.#send(call);
    else this.#wait(call);
  }

  /** Shows another identity, now and on every connection to come. */
  addAuth(credential: Credential, fields: Pick<CallFields<unknown, void>, "options">): Promise<void> {
    const known = this.#credentials.some((other) => isSameCredential(other, credential));
    if (!known) this.#credentials.push(credential);
    return new Promise<void>((resolve, reject) => {
      const call = new Call({ ...authFields(credential), ...fields }, resolve, reject) as AnyCall;
      if (call.options !== undefined && !this.#limit(call)) return;
      if (this.#end !== undefined) call.reject(endError(this.#end, call.operation.name));
      else if (this.#session.isConnected) this.#sendAuth(call);
      // Every credential goes out with the next connection; this call is answered there.
      else this.#auths.push(call);
    });
  }

  /** Takes back a call whose caller is gone; what was sent already is answered for nobody. */
  withdraw<B, T>(typed: Call<B, T>): void {
    const call = typed as AnyCall;
    this.#waiting.remove(call);
    call.abandon();
  }

  listen(listener: DriverEvents): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Takes a watcher back, and the server's watch where nobody else has use for it. */
  unwatch(kind: WatchKind, path: string, watcher: Watcher): void {
    if (this.watches.remove(kind, path, watcher)) this.dropUnwanted(watchTypeOf(kind), path);
  }

  /** Leaves its server for others. */
  moveTo(hosts: readonly HostAddress[]): void {
    if (!this.#session.isConnected) return;
    this.#hosts.restart(hosts);
    this.#leave(false);
  }

  /** What it has done and has to do. */
  get metrics(): DriverMetrics {
    return {
      inFlightCount: this.#inFlight.count,
      waitingCount: this.#waiting.count,
      waitingBytes: this.#waiting.bytes,
      sentBytes: this.#sentBytes,
      receivedBytes: this.#receivedBytes,
      connectionCount: this.#connectionCount,
      sessionLossCount: this.#lossCount,
    };
  }

  /** Tells the server that a watch is of no use any more, unless it is. Nobody waits for the answer. */
  dropUnwanted(type: WatchType, path: string): void {
    if (!this.#removesWatches || !this.#session.isConnected || this.watches.isWanted(type, path)) return;
    const fields = { operation: REMOVE_WATCHES, path, shownPath: path, body: type, isOwn: true };
    this.ask(fields).catch((error: ZkError) => {
      // Servers before 3.5 do not know the operation, and hang up on who asks.
      if (error.code === "UNIMPLEMENTED") this.#removesWatches = false;
    });
  }

  /**
   * Ends the session at the server, where there is a connection, and everything here. What was asked before is sent before.
   * Harmless when repeated.
   */
  close(): Promise<void> {
    if (this.#isGreeted && !this.#isNegotiating && this.#closeXid === 0)
      for (const call of this.#waiting.drain()) this.#send(call);
    this.#session.close(now());
    this.#arm();
    return this.closed;
  }

  #enterState(state: ClientState): void {
    this.#state = state;
    // What whoever hears of it asks is for the next session.
    if (state.kind === "lost") this.#failThoseOfSession();
    if (state.kind === "read-only") this.#writable.start();
    else this.#writable.stop();
    this.#state$.next(state);
    traceState(state);
  }

  #failThoseOfSession(): void {
    this.#lossCount++;
    for (const call of this.#waiting) if (this.#policyOf(call).endsWithSession === true) this.#failOfSession(call);
  }

  #failOfSession(call: AnyCall): void {
    this.#giveUp(call, call.failure("SESSION_EXPIRED", call.tries === 0 ? "not-sent" : "unknown"));
  }

  #policyOf(call: AnyCall): RetryPolicy {
    return call.options?.retry ?? this.#config.retry;
  }

  // The way out

  #maySend(): boolean {
    return (
      this.#isGreeted &&
      !this.#isNegotiating &&
      !this.#isFull &&
      this.#closeXid === 0 &&
      this.#inFlight.count < this.#config.inFlightMax
    );
  }

  #send(call: AnyCall): void {
    if (call.isSettled) return;
    const { operation } = call;
    if (operation === (REMOVE_WATCHES as Operation<unknown, unknown>) && this.#isWantedAgain(call)) return;
    if (call.syncPath !== undefined) this.#sendSyncBefore(call, call.syncPath);
    call.xid = this.#xid = this.#xid === XID_MAX ? 1 : this.#xid + 1;
    if (!this.#write(call)) return;
    if (call.watcher !== undefined) {
      call.arming = call.watchType;
      if (call.arming !== undefined) this.watches.beginArming(call.arming, call.path);
    }
    this.#inFlight.push(call);
    if (operation === (CLOSE_SESSION as Operation<unknown, unknown>)) this.#closeXid = call.xid;
    this.#scheduleFlush();
  }

  /** A sync that another connection has answered would prove nothing of what this one reads. */
  #sendSyncBefore(call: AnyCall, path: string): void {
    call.syncError = undefined;
    const fields = { operation: SYNC_OF_CONNECTION, path, shownPath: call.shownPath, body: undefined, options: ONCE };
    const failed = (error: unknown): void => {
      call.syncError = error as ZkError;
    };
    this.#send(new Call(fields, ignore, failed) as AnyCall);
  }

  /** Whether somebody has armed, since it waits, the watch that a call is to remove; then it is settled. */
  #isWantedAgain(call: AnyCall): boolean {
    const isWanted = this.watches.isWanted(call.body as WatchType, call.path);
    if (isWanted) call.resolve(undefined);
    return isWanted;
  }

  /** Encodes a request behind the others of this turn; false when it is too large and was refused. */
  #write(call: AnyCall): boolean {
    const writer = this.#writer;
    const frame = writer.beginFrame();
    try {
      writeRequestHeader(writer, call.xid, call.operation.code);
      call.operation.write(writer, call.path, call.body, call.wantsWatch);
    } catch (error) {
      // What its types forbid came all the same: half a request must not stand in the way of the others.
      writer.end = frame;
      call.reject(error);
      return false;
    }
    if (writer.end - frame - 4 > this.#config.frameBytesMax) {
      writer.end = frame;
      call.reject(call.failure("PACKET_TOO_LARGE", "not-sent"));
      return false;
    }
    writer.endFrame(frame);
    return true;
  }

  #scheduleFlush(): void {
    if (this.#writer.end >= FLUSH_BYTES) {
      this.#flush(now());
      return;
    }
    if (this.#isFlushDue) return;
    this.#isFlushDue = true;
    // After the promises of this turn have run, so that what their users ask next leaves with it.
    process.nextTick(flushOf, this);
  }

  /** @internal the end of a turn */
  flushTurn(): void {
    this.#isFlushDue = false;
    this.#flush(now());
  }

  #flush(nowMs: number): void {
    const { end } = this.#writer;
    const connection = this.#connection;
    if (end === 0 || connection === undefined) return;
    const buffer = this.#writer.detach();
    this.#sentBytes += end;
    this.#inFlight.markSent(nowMs);
    this.#session.sent(nowMs);
    const hasRoom = connection.write(end === buffer.length ? buffer : buffer.subarray(0, end), () =>
      this.#pool.give(buffer),
    );
    if (!hasRoom) this.#isFull = true;
  }

  #wait(call: AnyCall): void {
    if (!this.#waiting.push(call)) {
      call.reject(call.failure("QUEUE_FULL", "not-sent"));
      return;
    }
    if (!this.#session.isConnected) this.#limitWait(call);
  }

  /** A call has one such limit at a time, however often the connection comes and goes while it waits. */
  #limitWait(call: AnyCall): void {
    if (call.isWaitLimited) return;
    call.isWaitLimited = true;
    this.#dueAt(now() + this.#config.waitingTimeoutMs, { call, kind: "waited" });
  }

  /** Sends what waits, as far as there is room. */
  #pump(): void {
    if (this.#isPumping) return;
    this.#isPumping = true;
    while (this.#waiting.count > 0 && this.#maySend()) {
      const call = this.#waiting.shift();
      if (call !== undefined) this.#send(call);
    }
    this.#isPumping = false;
  }

  /** Watches over the caller's own limits; false when they are reached already. */
  #limit(call: AnyCall): boolean {
    const { signal, timeoutMs } = call.options ?? {};
    if (timeoutMs !== undefined && !(timeoutMs >= 0)) {
      call.reject(new RangeError(`${call.operation.name}: timeoutMs is a number of at least 0, found ${timeoutMs}`));
      return false;
    }
    if (signal !== undefined) {
      if (signal.aborted) {
        call.reject(signal.reason);
        return false;
      }
      call.onAbort(() => this.#giveUp(call, signal.reason));
    }
    if (timeoutMs !== undefined) this.#dueAt(now() + timeoutMs, { call, kind: "timeout" });
    return true;
  }

  #giveUp(call: AnyCall, reason: unknown): void {
    this.#waiting.remove(call);
    call.reject(reason);
  }

  #dueAt(atMs: number, due: Due): void {
    this.#due.add(atMs, due);
    this.#arm();
  }

  // The way in

  #received(chunk: Buffer): void {
    const nowMs = now();
    this.#receivedBytes += chunk.length;
    if (!this.#session.received(nowMs)) {
      this.#arm();
      return;
    }
    const generation = this.#generation;
    try {
      this.#framer.push(chunk, (bytes, start, end) => {
        if (this.#isGreeted) this.#answer(bytes, start, end);
        else this.#greeted(bytes, start, end);
        return generation === this.#generation;
      });
    } catch (error) {
      if (!(error instanceof WireError)) throw error;
      if (generation === this.#generation) this.#unreadable(error);
    }
    if (this.#isDisowned) this.#leave(true);
    this.#pump();
    if (this.#session.deadlineMs < this.#timerAtMs) this.#arm();
  }

  #greeted(bytes: Uint8Array, start: number, end: number): void {
    this.#session.greeted(readConnectResponse(bytes, start, end), now());
  }

  #answer(bytes: Uint8Array, start: number, end: number): void {
    const reader = this.#reader;
    reader.reset(bytes, start, end);
    const xid = reader.int();
    const zxid = reader.zxid();
    const code = reader.int();
    switch (xid) {
      case XID_EVENT: {
        const { type, path } = readWatcherEvent(reader);
        const event = { type: watchEventName(type), path, zxid };
        traceEvent(event);
        this.watches.fire(event);
        return;
      }
      case XID_PING:
        this.#session.pingAnswered(zxid);
        return;
      case XID_AUTH:
        this.#authAnswered(code);
        return;
      default:
        this.#callAnswered(xid, zxid, code);
    }
  }

  #callAnswered(xid: number, zxid: Zxid, code: number): void {
    const inFlight = this.#inFlight;
    const expected = inFlight.oldest;
    if (expected === undefined || expected.xid !== xid) {
      throw new WireError("VALUE", `an answer to request ${xid}; the next is due to ${expected?.xid ?? "none"}`);
    }
    this.#session.answered(inFlight.oldestSentAtMs, zxid);
    if (expected.syncError !== undefined) {
      inFlight.shift();
      this.#unsynced(expected, expected.syncError);
      return;
    }
    if (code === ErrorCode.OK) {
      let value: unknown;
      try {
        value = expected.operation.read(this.#reader);
      } catch (error) {
        // Asking again would bring the same answer.
        if (error instanceof WireError) expected.reject(expected.unreadable(error));
        throw error;
      }
      inFlight.shift();
      if (expected.arming !== undefined) this.#armed(expected, false);
      if (expected.isSettled) this.#undo(expected, value);
      else expected.resolve(value);
      if (xid === this.#closeXid) this.#session.sessionClosed();
      return;
    }
    inFlight.shift();
    this.#refused(expected, code);
    if (xid === this.#closeXid) this.#session.sessionClosed();
  }

  #refused(call: AnyCall, code: number): void {
    const { absent } = call.operation;
    const isAbsent = code === ErrorCode.NO_NODE && absent !== undefined;
    if (call.arming !== undefined) this.#armed(call, true, isAbsent);
    if (isAbsent) {
      call.resolve(absent.value);
      return;
    }
    // The next greeting says what became of the session. What stands behind this answer in the chunk is still heard.
    if (code === ErrorCode.SESSION_MOVED || code === ErrorCode.SESSION_EXPIRED) this.#isDisowned = true;
    const error = call.refusal(code);
    if (!error.retriable || !this.#tryAgain(call, error)) call.reject(error);
  }

  /** The sync before a read was refused: whatever the read has brought is not what was asked for. */
  #unsynced(call: AnyCall, error: ZkError): void {
    const { arming, path } = call;
    if (arming !== undefined) {
      call.arming = undefined;
      this.watches.settleArming(arming, path);
      this.dropUnwanted(arming, path);
    }
    if (!error.retriable || !this.#tryAgain(call, error)) call.reject(error);
  }

  /** The server has armed the watch that the call asked for, or has refused to. */
  #armed(call: AnyCall, isRefused: boolean, isAbsent = false): void {
    const { arming, watcher, path } = call;
    if (arming === undefined) return;
    call.arming = undefined;
    this.watches.settleArming(arming, path);
    const kind = isRefused && !isAbsent ? undefined : call.armedBy(isAbsent);
    if (kind === undefined) return;
    if (watcher !== undefined && !call.isSettled) this.watches.add(kind, path, watcher);
    else this.dropUnwanted(arming, path);
  }

  /** A create that its caller gave up has succeeded: the node goes, unless somebody has begun to use it. */
  #undo(call: AnyCall, value: unknown): void {
    if (call.operation.creates !== true) return;
    const { path } = value as { readonly path: string };
    this.ask({ operation: DELETE, path, shownPath: path, body: 0, isOwn: true }).catch(() => {
      // It is used, gone already, or goes with its session.
    });
  }

  /** Puts a call off where its policy says so. */
  #tryAgain(call: AnyCall, error: ZkError): boolean {
    const nowMs = now();
    const delayMs = this.#nextTryMs(call, error, nowMs);
    if (delayMs === false) return false;
    call.xid = XID_NONE;
    const [generation, lossCount] = [this.#generation, this.#lossCount];
    this.#dueAt(nowMs + delayMs, { call, kind: "try-again", generation, lossCount });
    return true;
  }

  /** What the policy says; a call whose policy throws is told what. */
  #nextTryMs(call: AnyCall, error: ZkError, nowMs: number): number | false {
    call.tries++;
    call.madeAtMs ||= nowMs;
    try {
      const delayMs = this.#policyOf(call)({ count: call.tries, elapsedMs: nowMs - call.madeAtMs, error });
      return delayMs === false || Number.isNaN(delayMs) ? false : delayMs;
    } catch (fault) {
      call.reject(fault);
      return false;
    }
  }

  /** Bytes that no client can read on behind: a new connection is made, where those who are not to blame are asked again. */
  #unreadable(error: WireError): void {
    if (error.code === "FRAME_SIZE") {
      const call = this.#inFlight.oldest;
      call?.reject(call.failure("PACKET_TOO_LARGE", "unknown", error));
    }
    this.#leave(true);
  }

  /** Gives the connection up for another one; `isFault`: because of what the server said. */
  #leave(isFault: boolean): void {
    this.#hangUp();
    this.#session.disconnected(now(), isFault);
    this.#arm();
  }

  #authAnswered(code: number): void {
    const call = this.#auths.shift();
    if (code === ErrorCode.OK) {
      call?.resolve(undefined);
      return;
    }
    call?.reject(call.refusal(code));
    if (AUTH_REFUSALS.has(code)) this.#session.authFailed();
  }

  // The connection

  #resolve(host: HostAddress): void {
    // Also a transport that throws has not found anything.
    new Promise<readonly HostAddress[]>((found) => found(this.#config.transport.resolve(host))).then(
      (addresses) => this.#resolved(addresses),
      () => this.#resolved([]),
    );
  }

  #resolved(addresses: readonly HostAddress[]): void {
    this.#session.resolved(addresses, now());
    this.#arm();
  }

  #dial(address: HostAddress): void {
    const generation = ++this.#generation;
    const isMine = (): boolean => generation === this.#generation;
    this.#framer = new Framer(this.#config.frameBytesMax);
    const events: TransportEvents = {
      opened: () => {
        if (!isMine()) return;
        this.#session.opened(now());
        this.#arm();
      },
      data: (chunk) => {
        if (isMine()) this.#received(chunk);
      },
      drained: () => {
        if (!isMine()) return;
        this.#isFull = false;
        this.#pump();
      },
      closed: () => {
        if (isMine()) this.#leave(false);
      },
    };
    try {
      this.#connection = this.#config.transport.connect(address, events);
    } catch {
      // An address that cannot be one, a port beyond 65535, say. Not told before the machine is done with dialling.
      queueMicrotask(() => events.closed(undefined));
    }
  }

  #hangUp(): void {
    this.#generation++;
    this.#connection?.destroy();
    this.#connection = undefined;
    this.#isGreeted = false;
    this.#isNegotiating = false;
    this.#isDisowned = false;
    this.#isFull = false;
  }

  #established(): void {
    this.#isGreeted = true;
    this.#connectionCount++;
    const { sasl } = this.#config;
    if (sasl === undefined) this.#identified();
    else this.#negotiate(sasl);
  }

  #negotiate(sasl: SaslMechanism): void {
    this.#isNegotiating = true;
    const generation = this.#generation;
    const server = this.#session.connectedAddress;
    // Whoever has no address any more has another generation too.
    const begun = new Promise<SaslExchange>((resolve) => server !== undefined && resolve(sasl.begin(server)));
    begun.then(
      (exchange) => {
        if (generation !== this.#generation) return;
        this.#saslStep(exchange, exchange.first, generation);
        this.#arm();
      },
      () => {
        if (generation === this.#generation) this.#session.authFailed();
      },
    );
  }

  #saslStep(exchange: SaslExchange, token: Uint8Array, generation: number): void {
    const fields = { operation: SASL, path: "/", shownPath: "/", body: token, isOwn: true };
    const answered = new Promise<Uint8Array>((resolve, reject) => {
      this.#send(new Call(fields, resolve, reject) as AnyCall);
    });
    answered
      .then((challenge) => exchange.next(challenge))
      .then(
        (next) => {
          if (generation !== this.#generation) return;
          if (next === undefined) {
            this.#isNegotiating = false;
            this.#identified();
          } else this.#saslStep(exchange, next, generation);
          this.#arm();
        },
        () => {
          // Whatever was wrong, the server or the password: another try would fail as well.
          if (generation === this.#generation) this.#session.authFailed();
        },
      );
  }

  /** Identities first, then watches, then whoever must read anew, then what waits. */
  #identified(): void {
    const generation = this.#generation;
    const asked = this.#auths;
    this.#auths = [];
    for (const credential of this.#credentials) {
      const at = asked.findIndex(({ body }) => isSameCredential(body as Credential, credential));
      const call = at === -1 ? undefined : asked.splice(at, 1)[0];
      this.#sendAuth(call ?? (new Call(authFields(credential), ignore, ignore) as AnyCall));
    }
    for (const call of asked) this.#sendAuth(call);
    for (const paths of this.watches.batches(Math.min(SET_WATCHES_BYTES_MAX, this.#config.frameBytesMax - 64))) {
      const isNew = paths.persistent.length > 0 || paths.recursive.length > 0;
      const body = { paths, zxid: this.#session.lastZxid };
      const fields = { operation: isNew ? SET_WATCHES2 : SET_WATCHES, path: "/", shownPath: "/", body };
      this.#send(new Call(fields, ignore, (error) => this.#rearmRefused(error, generation)) as AnyCall);
    }
    for (const listener of this.#listeners) listener.established();
    this.#pump();
  }

  /** Without its watches a connection is of no use: whoever waits would wait forever. */
  #rearmRefused(error: unknown, generation: number): void {
    if (generation === this.#generation && isZkError(error) && error.outcome === "rejected") this.#isDisowned = true;
  }

  #severed(): void {
    this.#writer.clear();
    this.#closeXid = 0;
    this.watches.severed();
    const again: AnyCall[] = [];
    this.#inFlight.drain((call, wasSent) => {
      call.arming = undefined;
      call.xid = XID_NONE;
      if (call.isSettled) return;
      const error = call.failure("CONNECTION_LOSS", wasSent ? "unknown" : "not-sent");
      if (this.#isAskedAgain(call, error)) again.push(call);
      else call.reject(error);
    });
    for (const call of this.#waiting) {
      if (call.operation.isOfConnection === true) this.#giveUp(call, call.failure("CONNECTION_LOSS", "not-sent"));
    }
    this.#waiting.unshift(again);
    for (const call of this.#waiting) this.#limitWait(call);
    this.#auths = this.#auths.filter((call) => !call.isSettled);
    for (const call of this.#auths) call.xid = XID_NONE;
  }

  /** Whether a call that lost its connection waits for the next one; it needs no delay, since it waits anyway. */
  #isAskedAgain(call: AnyCall, error: ZkError): boolean {
    if (call.operation.isOfConnection === true) return false;
    if (!error.sentBytes) return true;
    if (!call.operation.isRead) return false;
    return this.#nextTryMs(call, error, now()) !== false;
  }

  #sendAuth(call: AnyCall): void {
    call.xid = XID_AUTH;
    if (!this.#write(call)) return;
    this.#auths.push(call);
    this.#scheduleFlush();
  }

  #ping(): void {
    const writer = this.#writer;
    const frame = writer.beginFrame();
    writeRequestHeader(writer, XID_PING, OpCode.PING);
    writer.endFrame(frame);
    this.#flush(now());
  }

  #closeSession(): void {
    const fields = { operation: CLOSE_SESSION, path: "/", shownPath: "/", body: undefined };
    this.#send(new Call(fields, ignore, ignore) as AnyCall);
  }

  #ended(end: SessionEnd): void {
    this.#end = end;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#timerAtMs = Number.NEGATIVE_INFINITY;
    this.#writer.clear();
    this.#inFlight.drain((call, wasSent) => {
      call.reject(endError(end, call.operation.name, call.shownPath, wasSent));
    });
    for (const call of this.#waiting.drain()) call.reject(endError(end, call.operation.name, call.shownPath));
    for (const call of this.#auths) call.reject(endError(end, call.operation.name));
    this.#auths = [];
    // Those among them that were to be tried again later stand nowhere else.
    for (const { call } of this.#due.drain()) call.reject(endError(end, call.operation.name, call.shownPath));
    this.watches.end(endError(end, "watch"));
    for (const listener of this.#listeners) listener.ended(endError(end, "watch"));
    this.#listeners.clear();
    this.#state$.complete();
    this.#closed.resolve();
  }

  // Time

  /** Sets the one timer, unless it already comes early enough: coming early costs less than setting it again for each packet. */
  #arm(): void {
    const atMs = Math.min(this.#session.deadlineMs, this.#due.nextMs);
    if (atMs >= this.#timerAtMs) return;
    clearTimeout(this.#timer);
    this.#timerAtMs = atMs;
    this.#timer = setTimeout(
      () => {
        // What has arrived while this process was busy must be heard before silence is judged.
        setImmediate(() => this.#tick());
      },
      Math.min(TIMER_MS_MAX, Math.max(0, atMs - now())),
    );
  }

  #tick(): void {
    if (this.#end !== undefined) return;
    // One that was set since this turn's timer went off.
    clearTimeout(this.#timer);
    const nowMs = now();
    this.#judgeLateness(nowMs - this.#timerAtMs);
    this.#timerAtMs = Number.POSITIVE_INFINITY;
    this.#session.tick(nowMs);
    for (let due = this.#due.takeDue(nowMs); due !== undefined; due = this.#due.takeDue(nowMs)) this.#come(due);
    this.#pump();
    if (this.#end === undefined) this.#arm();
  }

  /** A timer comes late when nothing else could come either: neither pings nor answers. */
  #judgeLateness(lateMs: number): void {
    const { id, timeoutMs } = this.#session;
    if (timeoutMs > 0 && lateMs > timeoutMs / 3) traceStall({ lateMs, sessionTimeoutMs: timeoutMs, sessionId: id });
  }

  #come(due: Due): void {
    const { call, kind } = due;
    switch (kind) {
      case "timeout":
        this.#giveUp(call, call.failure("OPERATION_TIMEOUT", call.xid === XID_NONE ? "not-sent" : "unknown"));
        return;
      case "waited":
        call.isWaitLimited = false;
        if (call.isWaiting && !this.#session.isConnected) {
          this.#giveUp(call, call.failure("CONNECTION_LOSS", "not-sent"));
        }
        return;
      case "try-again":
        if (call.isSettled) return;
        if (call.operation.isOfConnection === true && due.generation !== this.#generation) {
          call.reject(call.failure("CONNECTION_LOSS", "not-sent"));
        } else if (due.lossCount !== this.#lossCount && this.#policyOf(call).endsWithSession === true) {
          this.#failOfSession(call);
        } else {
          this.#enter(call);
        }
        return;
      default:
        assertNever(kind);
    }
  }
}

function flushOf(driver: SessionDriver): void {
  driver.flushTurn();
}

/** Milliseconds of a clock that never jumps. */
function now(): number {
  return performance.now();
}

const ignore = (): void => {};

function authFields({ scheme, auth }: Credential): CallFields<unknown, void> {
  const body = { scheme, auth: bytesOf(auth) };
  return { operation: AUTH as Operation<unknown, void>, path: "/", shownPath: "/", body };
}

function isSameCredential(a: Credential, b: Credential): boolean {
  return a.scheme === b.scheme && Buffer.from(bytesOf(a.auth)).equals(bytesOf(b.auth));
}

function bytesOf(auth: string | Uint8Array): Uint8Array {
  return typeof auth === "string" ? Buffer.from(auth) : auth;
}

function endError(end: SessionEnd, op: string, path?: string, wasSent = false): ZkError {
  return zkError({ code: END_CODE[end], op, path, outcome: wasSent ? "unknown" : "not-sent" });
}

const END_CODE = { closed: "CLIENT_CLOSED", expired: "SESSION_EXPIRED", "auth-failed": "AUTH_FAILED" } as const;
