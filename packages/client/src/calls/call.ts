import { ErrorCode, OpCode, type PastRefusal } from "@zooid/model";
import { type JuteReader, readPastRefusal, type WireError } from "@zooid/wire";
import {
  historyGone,
  type Outcome,
  refusalError,
  timeRefused,
  unreadableError,
  type ZkError,
  type ZkErrorCode,
  zkError,
} from "../errors.ts";
import { type Watcher, type WatchKind, type WatchType, watchTypeOf } from "../watches/watch-registry.ts";
import { offAbort, onAbort } from "./abort-listeners.ts";
import type { Operation } from "./operation.ts";
import type { RetryPolicy } from "./retry.ts";

const NO_REFUSAL: PastRefusal = { reach: undefined, fault: undefined };

/** Options of every operation. */
export interface CallOptions {
  /**
   * Cancels the call; it rejects with the signal's reason. A create that was already sent is undone
   * if it succeeds.
   */
  readonly signal?: AbortSignal | undefined;
  /** Time limit in milliseconds; the call fails with OPERATION_TIMEOUT. Default: none. */
  readonly timeoutMs?: number | undefined;
  /** Replaces the client's policy. */
  readonly retry?: RetryPolicy | undefined;
}

export interface CallFields<B, T> {
  readonly operation: Operation<B, T>;
  /** The server's path. */
  readonly path: string;
  /** The caller's path. */
  readonly shownPath: string;
  readonly body: B;
  readonly watcher?: Watcher | undefined;
  /** A sync of this path precedes it on the same connection, each time that it is sent. */
  readonly syncPath?: string | undefined;
  readonly options?: CallOptions | undefined;
  /**
   * Whether the bounds of the queue do not apply: for the client's own calls, which are bounded
   * otherwise.
   */
  readonly isOwn?: boolean;
}

/** The longest frame that servers take by default, and this client. */
export const SERVER_FRAME_BYTES_MAX = 0xf_ffff;

/** One request until its answer. It is settled once. */
export class Call<B = unknown, T = unknown> {
  readonly operation: Operation<B, T>;
  readonly path: string;
  readonly shownPath: string;
  readonly body: B;
  readonly options: CallOptions | undefined;
  readonly isOwn: boolean;
  readonly syncPath: string | undefined;
  /** The error of the sync before it: then the read may be out of date. */
  syncError: ZkError | undefined = undefined;
  /** The watcher of the watch that it arms; undefined for none. */
  watcher: Watcher | undefined;
  /** The server's watch that this call arms, while it is in flight. */
  arming: WatchType | undefined = undefined;
  /** 0 while it is not in flight. */
  xid = 0;
  /** Size of the request that was sent last, in bytes; 0 for one that all servers take. */
  largeBytes = 0;
  /** Number of failed attempts. */
  tries = 0;
  /**
   * Start time for retry policies, in milliseconds of the monotonic clock; 0 until it is first
   * read.
   */
  madeAtMs = 0;
  isSettled = false;
  /** Whether it is in the queue of waiting calls. */
  isWaiting = false;
  /** Whether its time without a connection is limited. */
  isWaitLimited = false;
  readonly #resolve: (value: T) => void;
  readonly #reject: (reason: unknown) => void;
  #onAbort: (() => void) | undefined = undefined;

  constructor(fields: CallFields<B, T>, resolve: (value: T) => void, reject: (reason: unknown) => void) {
    this.operation = fields.operation;
    this.path = fields.path;
    this.shownPath = fields.shownPath;
    this.body = fields.body;
    this.options = fields.options;
    this.isOwn = fields.isOwn ?? false;
    this.watcher = fields.watcher;
    this.syncPath = fields.syncPath;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  get wantsWatch(): boolean {
    return this.watcher !== undefined;
  }

  /** The server's watch that the request arms. */
  get watchType(): WatchType | undefined {
    const { arms } = this.operation;
    return this.watcher === undefined || arms === undefined ? undefined : watchTypeOf(arms);
  }

  resolve(value: T): void {
    if (this.isSettled) return;
    this.#settle();
    this.#resolve(value);
  }

  reject(reason: unknown): void {
    if (this.isSettled) return;
    this.#settle();
    this.#reject(reason);
  }

  /** Marks it settled without a result: its caller has given up. */
  abandon(): void {
    this.watcher = undefined;
    if (!this.isSettled) this.#settle();
  }

  /** Calls back once when the caller cancels the call, unless it is settled before. */
  onAbort(give: () => void): void {
    const signal = this.options?.signal;
    if (signal === undefined) return;
    this.#onAbort = give;
    onAbort(signal, give);
  }

  /** @param reason appended to the message */
  failure(code: ZkErrorCode, outcome: Outcome, cause?: Error | WireError, reason?: string): ZkError {
    const options = cause === undefined ? undefined : { cause };
    const { name: op, isRead } = this.operation;
    return zkError({ code, op, path: this.shownPath, outcome, reason, isRead }, options);
  }

  /** The connection was lost before the answer, by a fault of the server's where one is known. */
  lost(wasSent: boolean, cause?: Error): ZkError {
    const reason =
      wasSent && this.largeBytes > 0
        ? `the request has ${this.largeBytes} bytes, and a server closes the connection on one above its jute.maxbuffer, ${SERVER_FRAME_BYTES_MAX} unless it is configured`
        : undefined;
    return this.failure("CONNECTION_LOSS", wasSent ? "unknown" : "not-sent", cause, reason);
  }

  /** The answer is larger than the client accepts. */
  tooLarge(bytes: number, bytesMax: number): ZkError {
    const { name, isRead } = this.operation;
    const reason = isRead
      ? "nothing was changed and the connection is kept; read less at a time, as with childPages, or raise the limit"
      : "the request was answered, so it was carried out or refused; the connection is kept";
    const message = `${name} ${this.shownPath}: the answer has ${bytes} bytes, more than responseBytesMax allows (${bytesMax}); ${reason}`;
    const outcome = isRead ? "rejected" : "unknown";
    return zkError({ code: "PACKET_TOO_LARGE", op: name, path: this.shownPath, outcome, message });
  }

  /** The server reports success with a body that does not fit this request. */
  unreadable(cause: WireError): ZkError {
    return unreadableError(this.operation.name, this.shownPath, cause);
  }

  /** @param body of the refusal, where it may have one */
  refusal(errno: number, body?: JuteReader): ZkError {
    const { name } = this.operation;
    const hasMoment = errno === ErrorCode.BAD_ARGUMENTS && this.operation.code === OpCode.GET_PAST;
    if (errno === ErrorCode.HISTORY_GONE || hasMoment) {
      const { reach, fault } = (body === undefined ? undefined : readPastRefusal(body)) ?? NO_REFUSAL;
      if (fault !== undefined) return timeRefused(fault, { reach, op: name, path: this.shownPath });
      if (!hasMoment) return historyGone(reach, name, this.shownPath);
    }
    if (errno !== ErrorCode.NO_NODE || name !== "create") return refusalError(errno, name, this.shownPath);
    const root = this.path === this.shownPath ? "" : ", and makeRoot() the client's root";
    const reason = `its parent is missing: the option parents creates it${root}`;
    return refusalError(errno, name, this.shownPath, reason);
  }

  /** The watch that the answer armed: its kind depends on whether the node exists. */
  armedBy(isAbsent: boolean): WatchKind | undefined {
    const { arms, absent } = this.operation;
    return isAbsent ? absent?.arms : arms;
  }

  #settle(): void {
    this.isSettled = true;
    const signal = this.options?.signal;
    if (this.#onAbort === undefined || signal === undefined) return;
    offAbort(signal, this.#onAbort);
    this.#onAbort = undefined;
  }
}

/** A call of any operation, as queues hold it. */
export type AnyCall = Call;
