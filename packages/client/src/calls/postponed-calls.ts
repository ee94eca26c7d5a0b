import { assertNever } from "@zooid/model";
import type { ZkError } from "../errors.ts";
import type { ClientConfig } from "../options.ts";
import type { CurrentConnection } from "../session/current-connection.ts";
import type { AnyCall } from "./call.ts";
import { Deadlines } from "./deadlines.ts";
import type { RetryPolicy } from "./retry.ts";
import { WaitingCalls } from "./waiting-calls.ts";

/** The xid of a call that is not in flight. */
const XID_NONE = 0;

/**
 * The reason for a call's entry in the heap: its caller's time limit, the limit on waiting without
 * a connection, or the time of its next attempt.
 */
interface Due {
  readonly call: AnyCall;
  readonly kind: "timeout" | "waited" | "try-again";
  /** The connection that refused the call. */
  readonly generation?: number;
  /** Number of lost sessions at that time. */
  readonly lossCount?: number;
}

export interface PostponedCallsSinks {
  isConnected(): boolean;
  /** Why there is no connection; undefined where no attempt has failed. */
  noConnectionError(): AggregateError | undefined;
  /** The call is due: it is sent, or waits. */
  enter(call: AnyCall): void;
  /** {@link PostponedCalls.nextMs} may have become earlier. */
  dueChanged(): void;
}

/**
 * Calls that are not in flight: those that wait for a connection or for room, and those that are
 * tried again later. Also enforces time limits of all calls.
 */
export class PostponedCalls {
  readonly #config: Pick<ClientConfig, "retry" | "waitingTimeoutMs">;
  readonly #connection: CurrentConnection;
  readonly #sinks: PostponedCallsSinks;
  readonly #waiting: WaitingCalls;
  readonly #due = new Deadlines<Due>(({ call }) => call.isSettled);
  /** Number of sessions that were lost, or assumed lost. */
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

  /** Number of sessions that were lost, or assumed lost. */
  get lossCount(): number {
    return this.#lossCount;
  }

  /** Time of the next entry; infinity for none. */
  get nextMs(): number {
    return this.#due.nextMs;
  }

  /** Appends a call to the queue. */
  wait(call: AnyCall): void {
    if (!this.#waiting.push(call)) {
      const { count, bytes, countMax, bytesMax } = this.#waiting;
      const reason = `${count} calls of ${bytes} bytes wait, and waitingMax is ${countMax}, waitingBytesMax ${bytesMax}`;
      call.reject(call.failure("QUEUE_FULL", "not-sent", undefined, reason));
      return;
    }
    if (!this.#sinks.isConnected()) this.#limitWait(call);
  }

  /** The call that has waited longest. */
  shift(): AnyCall | undefined {
    return this.#waiting.shift();
  }

  /** All waiting calls, in order. */
  drainWaiting(): readonly AnyCall[] {
    return this.#waiting.drain();
  }

  /** Removes a cancelled call from the queue, if it is there. */
  remove(call: AnyCall): void {
    this.#waiting.remove(call);
  }

  /** Applies the caller's limits; false when they are reached already. */
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

  /** Postpones a call if its policy allows, else rejects it. */
  tryAgainOrReject(call: AnyCall, error: ZkError): void {
    if (!error.retriable || !this.#tryAgain(call, error)) call.reject(error);
  }

  /**
   * The connection is lost.
   *
   * @param lost the calls that were in flight, in order, each with the reason why it has no answer
   */
  severed(lost: readonly (readonly [AnyCall, ZkError])[]): void {
    const again: AnyCall[] = [];
    for (const [call, error] of lost) {
      // The policy of an earlier call may have cancelled it.
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

  /** The session is lost, and with it the calls that are limited to it. */
  sessionLost(): void {
    this.#lossCount++;
    for (const call of this.#waiting) if (this.#policyOf(call).endsWithSession === true) this.#failOfSession(call);
  }

  /** Handles due entries. */
  come(nowMs: number): void {
    for (let due = this.#due.takeDue(nowMs); due !== undefined; due = this.#due.takeDue(nowMs)) this.#comeFor(due);
  }

  /** No further request is sent. */
  end(errorOf: (call: AnyCall) => ZkError): void {
    for (const call of this.#waiting.drain()) call.reject(errorOf(call));
    // Calls to be tried again are referenced nowhere else.
    for (const { call } of this.#due.drain()) call.reject(errorOf(call));
  }

  #comeFor(due: Due): void {
    const { call, kind } = due;
    switch (kind) {
      case "timeout":
        if (call.xid === XID_NONE) this.#giveUp(call, this.#unsent(call, "OPERATION_TIMEOUT"));
        else this.#giveUp(call, call.failure("OPERATION_TIMEOUT", "unknown"));
        return;
      case "waited":
        call.isWaitLimited = false;
        if (call.isWaiting && !this.#sinks.isConnected()) {
          this.#giveUp(call, this.#unsent(call, "CONNECTION_LOSS"));
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

  /** The error of a call that was never sent, with the reason why there is no connection. */
  #unsent(call: AnyCall, code: "CONNECTION_LOSS" | "OPERATION_TIMEOUT"): ZkError {
    const cause = this.#sinks.noConnectionError();
    return call.failure(code, "not-sent", cause, cause?.message);
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

  /** A call has one such limit at a time, however often the connection changes while it waits. */
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

  /**
   * Whether a call that lost its connection waits for the next one; it needs no delay, since it
   * waits anyway.
   */
  #isAskedAgain(call: AnyCall, error: ZkError): boolean {
    if (call.operation.isOfConnection === true) return false;
    if (!error.sentBytes) return true;
    if (!call.operation.isRead) return false;
    return this.#nextTryMs(call, error, performance.now()) !== false;
  }

  /** The policy's delay; a call whose policy throws is rejected with that error. */
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
