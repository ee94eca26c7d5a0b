import { assertNever } from "@zooid/model";
import type { ZkError } from "../errors.ts";
import type { ClientConfig } from "../options.ts";
import type { CurrentConnection } from "../session/current-connection.ts";
import type { AnyCall } from "./call.ts";
import { Deadlines } from "./deadlines.ts";
import type { RetryPolicy } from "./retry.ts";
import { WaitingCalls } from "./waiting-calls.ts";

/** Of a call that is not on its way. */
const XID_NONE = 0;

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

export interface PostponedCallsSinks {
  isConnected(): boolean;
  /** The call's time has come: it is sent, or waits. */
  enter(call: AnyCall): void;
  /** {@link PostponedCalls.nextMs} may have come nearer. */
  dueChanged(): void;
}

/**
 * Calls that are not on their way: those that wait for a connection, or for room among those in flight, and those that were refused and
 * are tried again later. Also how long a call may take, wherever it stands.
 */
export class PostponedCalls {
  readonly #config: Pick<ClientConfig, "retry" | "waitingTimeoutMs">;
  readonly #connection: CurrentConnection;
  readonly #sinks: PostponedCallsSinks;
  readonly #waiting: WaitingCalls;
  readonly #due = new Deadlines<Due>(({ call }) => call.isSettled);
  /** Sessions that were lost, or taken for lost. */
  #lossCount = 0;

  constructor(config: ClientConfig, connection: CurrentConnection, sinks: PostponedCallsSinks) {
    this.#config = config;
    this.#connection = connection;
    this.#sinks = sinks;
    this.#waiting = new WaitingCalls({ countMax: config.waitingMax, bytesMax: config.waitingBytesMax });
  }

  get waitingCount(): number {
    return this.#waiting.count;
  }

  get waitingBytes(): number {
    return this.#waiting.bytes;
  }

  /** Sessions that were lost, or taken for lost. */
  get lossCount(): number {
    return this.#lossCount;
  }

  /** When {@link come} has something to do; infinity when never. */
  get nextMs(): number {
    return this.#due.nextMs;
  }

  /** Puts a call behind the others that wait. */
  wait(call: AnyCall): void {
    if (!this.#waiting.push(call)) {
      call.reject(call.failure("QUEUE_FULL", "not-sent"));
      return;
    }
    if (!this.#sinks.isConnected()) this.#limitWait(call);
  }

  /** The one that has waited longest. */
  shift(): AnyCall | undefined {
    return this.#waiting.shift();
  }

  /** All that wait, in their order. */
  drainWaiting(): readonly AnyCall[] {
    return this.#waiting.drain();
  }

  /** Takes out a call that was given up, if it waits. */
  remove(call: AnyCall): void {
    this.#waiting.remove(call);
  }

  /** Watches over the caller's own limits; false when they are reached already. */
  limit(call: AnyCall): boolean {
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
    if (timeoutMs !== undefined) this.#dueAt(performance.now() + timeoutMs, { call, kind: "timeout" });
    return true;
  }

  /** Puts a call off where its policy says so, and rejects it where not. */
  tryAgainOrReject(call: AnyCall, error: ZkError): void {
    if (!error.retriable || !this.#tryAgain(call, error)) call.reject(error);
  }

  /**
   * The connection is gone.
   *
   * @param lost the calls that were on their way, in their order, each with why it has no answer
   */
  severed(lost: readonly (readonly [AnyCall, ZkError])[]): void {
    const again: AnyCall[] = [];
    for (const [call, error] of lost) {
      // A policy that was asked about an earlier one may have had it given up.
      if (call.isSettled) continue;
      if (this.#isAskedAgain(call, error)) again.push(call);
      else call.reject(error);
    }
    for (const call of this.#waiting) {
      if (call.operation.isOfConnection === true) this.#giveUp(call, call.failure("CONNECTION_LOSS", "not-sent"));
    }
    this.#waiting.unshift(again);
    for (const call of this.#waiting) this.#limitWait(call);
  }

  /** The session is lost, and with it whoever does not outlive it. */
  sessionLost(): void {
    this.#lossCount++;
    for (const call of this.#waiting) if (this.#policyOf(call).endsWithSession === true) this.#failOfSession(call);
  }

  /** Does what is due. */
  come(nowMs: number): void {
    for (let due = this.#due.takeDue(nowMs); due !== undefined; due = this.#due.takeDue(nowMs)) this.#comeFor(due);
  }

  /** Nothing more is sent. */
  end(errorOf: (call: AnyCall) => ZkError): void {
    for (const call of this.#waiting.drain()) call.reject(errorOf(call));
    // Those among them that were to be tried again later stand nowhere else.
    for (const { call } of this.#due.drain()) call.reject(errorOf(call));
  }

  #comeFor(due: Due): void {
    const { call, kind } = due;
    switch (kind) {
      case "timeout":
        this.#giveUp(call, call.failure("OPERATION_TIMEOUT", call.xid === XID_NONE ? "not-sent" : "unknown"));
        return;
      case "waited":
        call.isWaitLimited = false;
        if (call.isWaiting && !this.#sinks.isConnected()) {
          this.#giveUp(call, call.failure("CONNECTION_LOSS", "not-sent"));
        }
        return;
      case "try-again":
        if (call.isSettled) return;
        if (call.operation.isOfConnection === true && due.generation !== this.#connection.generation) {
          call.reject(call.failure("CONNECTION_LOSS", "not-sent"));
        } else if (due.lossCount !== this.#lossCount && this.#policyOf(call).endsWithSession === true) {
          this.#failOfSession(call);
        } else {
          this.#sinks.enter(call);
        }
        return;
      default:
        assertNever(kind);
    }
  }

  #policyOf(call: AnyCall): RetryPolicy {
    return call.options?.retry ?? this.#config.retry;
  }

  #failOfSession(call: AnyCall): void {
    this.#giveUp(call, call.failure("SESSION_EXPIRED", call.tries === 0 ? "not-sent" : "unknown"));
  }

  #giveUp(call: AnyCall, reason: unknown): void {
    this.#waiting.remove(call);
    call.reject(reason);
  }

  /** A call has one such limit at a time, however often the connection comes and goes while it waits. */
  #limitWait(call: AnyCall): void {
    if (call.isWaitLimited) return;
    call.isWaitLimited = true;
    this.#dueAt(performance.now() + this.#config.waitingTimeoutMs, { call, kind: "waited" });
  }

  #tryAgain(call: AnyCall, error: ZkError): boolean {
    const nowMs = performance.now();
    const delayMs = this.#nextTryMs(call, error, nowMs);
    if (delayMs === false) return false;
    call.xid = XID_NONE;
    const { generation } = this.#connection;
    this.#dueAt(nowMs + delayMs, { call, kind: "try-again", generation, lossCount: this.#lossCount });
    return true;
  }

  /** Whether a call that lost its connection waits for the next one; it needs no delay, since it waits anyway. */
  #isAskedAgain(call: AnyCall, error: ZkError): boolean {
    if (call.operation.isOfConnection === true) return false;
    if (!error.sentBytes) return true;
    if (!call.operation.isRead) return false;
    return this.#nextTryMs(call, error, performance.now()) !== false;
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

  #dueAt(atMs: number, due: Due): void {
    this.#due.add(atMs, due);
    this.#sinks.dueChanged();
  }
}
