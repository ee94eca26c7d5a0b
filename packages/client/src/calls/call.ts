import type { WireError } from "@zooid/wire";
import { type Outcome, refusalError, unreadableError, type ZkError, type ZkErrorCode, zkError } from "../errors.ts";
import { type Watcher, type WatchKind, type WatchType, watchTypeOf } from "../watches/watch-registry.ts";
import { offAbort, onAbort } from "./abort-listeners.ts";
import type { Operation } from "./operation.ts";
import type { RetryPolicy } from "./retry.ts";

/** What a caller may ask of any operation. */
export interface CallOptions {
  /** Gives the call up; it rejects with the signal's reason. A create that was already sent is undone if it succeeds. */
  readonly signal?: AbortSignal | undefined;
  /** Gives the call up after so many milliseconds, with OPERATION_TIMEOUT. Default: never. */
  readonly timeoutMs?: number | undefined;
  /** In place of the client's. */
  readonly retry?: RetryPolicy | undefined;
}

export interface CallFields<B, T> {
  readonly operation: Operation<B, T>;
  /** As the server names it. */
  readonly path: string;
  /** As the caller named it. */
  readonly shownPath: string;
  readonly body: B;
  readonly watcher?: Watcher | undefined;
  /** A sync of this path goes out right before it, on the same connection, each time that it is sent. */
  readonly syncPath?: string | undefined;
  readonly options?: CallOptions | undefined;
  /** Whether it may wait though as many calls wait as may: the client's own, which are bounded otherwise. */
  readonly isOwn?: boolean;
}

/** One request on its way to an answer. It is settled once, whatever happens after. */
export class Call<B = unknown, T = unknown> {
  readonly operation: Operation<B, T>;
  readonly path: string;
  readonly shownPath: string;
  readonly body: B;
  readonly options: CallOptions | undefined;
  readonly isOwn: boolean;
  readonly syncPath: string | undefined;
  /** Why the sync before it failed: then its own answer may be out of date. */
  syncError: ZkError | undefined = undefined;
  /** Whom the watch is for; undefined when none is wanted, or not any more. */
  watcher: Watcher | undefined;
  /** The server's watch that this call arms, while it is on its way. */
  arming: WatchType | undefined = undefined;
  /** 0 while it is not on its way. */
  xid = 0;
  /** Failed tries. */
  tries = 0;
  /** When it was made, for policies; milliseconds of the monotonic clock, 0 until somebody asks. */
  madeAtMs = 0;
  isSettled = false;
  /** Whether it stands among those that wait to be sent. */
  isWaiting = false;
  /** Whether it has a limit on how long it waits without a connection. */
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

  /** The server's watch that the request asks for. */
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

  /** Settles it for nobody: its caller has lost interest. */
  abandon(): void {
    this.watcher = undefined;
    if (!this.isSettled) this.#settle();
  }

  /** Calls back once when the caller gives the call up, unless it is settled before. */
  onAbort(give: () => void): void {
    const signal = this.options?.signal;
    if (signal === undefined) return;
    this.#onAbort = give;
    onAbort(signal, give);
  }

  failure(code: ZkErrorCode, outcome: Outcome, cause?: Error | WireError): ZkError {
    const options = cause === undefined ? undefined : { cause };
    return zkError({ code, op: this.operation.name, path: this.shownPath, outcome }, options);
  }

  /** The server says that all went well, and sends what is no answer to this request. */
  unreadable(cause: WireError): ZkError {
    return unreadableError(this.operation.name, this.shownPath, cause);
  }

  refusal(errno: number): ZkError {
    return refusalError(errno, this.operation.name, this.shownPath);
  }

  /** What the answer armed: the kind for a node that exists, or for one that does not. */
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

/** A call of whatever operation, as queues hold it. */
export type AnyCall = Call;
