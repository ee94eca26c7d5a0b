/** Cancellable waits that clean up after themselves. */
import { type Client, isZkError, startTimer, type ZkError } from "@zooid/client";
import { filter, Observable, Subscription, take } from "rxjs";
import { read } from "../error-text.ts";
import { RetryPace } from "./retry-pace.ts";

/** The promise's result, or the signal's reason; no listener stays behind. */
export function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    const settled = (): void => signal.removeEventListener("abort", abort);
    promise.then(resolve, reject).then(settled, settled);
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true });
  });
}

/**
 * Whether an error is how work ends that heeds its signal: the signal's reason, or an error with
 * that as its cause.
 */
export function isReasonOf(signal: AbortSignal, error: unknown): boolean {
  if (!signal.aborted) return false;
  return error === signal.reason || read(() => error instanceof Error && error.cause === signal.reason) === true;
}

/**
 * The first value of a stream, undefined if it ends without one, or the signal's reason; no
 * subscription stays behind.
 */
export async function firstOf<T>(source$: Observable<T>, signal: AbortSignal): Promise<T | undefined> {
  const subscription = new Subscription();
  const first = new Promise<T | undefined>((resolve, reject) => {
    const complete = (): void => resolve(undefined);
    subscription.add(source$.pipe(take(1)).subscribe({ next: resolve, error: reject, complete }));
  });
  try {
    return await unlessAborted(first, signal);
  } finally {
    subscription.unsubscribe();
  }
}

/**
 * Waits for a server that accepts writes; also returns at the client's end, which the next call
 * reports.
 */
export async function writable(zk: Client, signal: AbortSignal): Promise<void> {
  await firstOf(zk.state$.pipe(filter(({ kind }) => kind === "connected")), signal);
}

/**
 * Waits for a time in milliseconds; also returns at the client's end, which the next call reports.
 * A pause of its own would keep the process alive until it is over.
 */
export async function clientPause(zk: Client, delayMs: number, signal?: AbortSignal): Promise<void> {
  const over = Promise.withResolvers<void>();
  using _timer = startTimer(delayMs, over.resolve);
  const states = zk.state$.subscribe({ complete: over.resolve });
  try {
    await (signal === undefined ? over.promise : unlessAborted(over.promise, signal));
  } finally {
    states.unsubscribe();
  }
}

/**
 * Whether the error may pass, and the connection is there: repeated at once, the request would fail
 * again as fast as it is answered.
 */
export function isRefusedForNow(error: unknown): boolean {
  return isZkError(error) && error.retriable && !hasNoConnection(error);
}

/** The client's own pauses between connections are enough. */
function hasNoConnection({ code }: ZkError): boolean {
  return code === "CONNECTION_LOSS" || code === "SESSION_MOVED";
}

/** Waits between the attempts at one thing. */
export class Attempts {
  readonly #zk: Client;
  readonly #pace = new RetryPace();

  constructor(zk: Client) {
    this.#zk = zk;
  }

  /**
   * Waits for a server that accepts writes. Where the last attempt was refused over a connection,
   * as by a server without room on its disk or by the full queue of the client, it waits for some
   * time as well, longer after each further one. The signal ends the wait.
   *
   * @throws the error if it is permanent
   */
  async failed(error: unknown, signal: AbortSignal): Promise<void> {
    if (!isZkError(error) || !error.retriable) throw error;
    try {
      if (isRefusedForNow(error)) await clientPause(this.#zk, this.#pace.pauseMs(performance.now()), signal);
      await writable(this.#zk, signal);
    } catch (reason) {
      if (!signal.aborted) throw reason;
    }
  }
}

/**
 * Repeats a step until the signal aborts, also over lost connections.
 *
 * @throws a permanent error, or the signal's reason
 */
export async function keepOn(zk: Client, signal: AbortSignal, step: () => Promise<void>): Promise<void> {
  const attempts = new Attempts(zk);
  while (!signal.aborted) {
    try {
      await step();
    } catch (error) {
      if (signal.aborted) throw error;
      await attempts.failed(error, signal);
      signal.throwIfAborted();
    }
  }
}

/**
 * Wakes waiters when the session is lost, since its nodes were removed and no watch reports that,
 * and at the client's end.
 */
export class LossAlarm implements Disposable {
  readonly rung: Promise<void>;
  readonly #states: Subscription;

  constructor(zk: Client) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.rung = promise;
    this.#states = zk.state$.subscribe({
      next: ({ kind }) => {
        if (kind === "lost") resolve();
      },
      complete: resolve,
    });
  }

  [Symbol.dispose](): void {
    this.#states.unsubscribe();
  }
}

/**
 * Emits once after a time in milliseconds, which may be any number; rxjs' own timers fire at once
 * beyond 24.8 days.
 */
export function after(delayMs: number): Observable<void> {
  return new Observable((subscriber) => {
    const timer = startTimer(delayMs, () => {
      subscriber.next();
      subscriber.complete();
    });
    return () => timer.cancel();
  });
}
