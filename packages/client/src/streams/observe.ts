/**
 * A node's state as a stream: it is read with a watch, and again whenever the watch fires, so the
 * last state is never missed, though intermediate ones may be. All observers of the same state
 * share one watch at the server.
 */
import type { Stat } from "@zooid/model";
import type { Observable, Subscriber } from "rxjs";
import { type AnyCall, Call } from "../calls/call.ts";
import {
  type Children,
  EXISTS,
  GET_CHILDREN_OR_NULL,
  GET_DATA_OR_NULL,
  type NodeData,
  type Operation,
} from "../calls/operation.ts";
import type { RetryPolicy } from "../calls/retry.ts";
import { isZkError, type ZkError, type ZkErrorCode, zkError } from "../errors.ts";
import { traceFallback } from "../session/diagnostics.ts";
import type { DriverEvents, SessionDriver } from "../session/session-driver.ts";
import { PersistentWatchSupport } from "../watches/persistent-watch-support.ts";
import type { Watcher, WatchKind } from "../watches/watch-registry.ts";
import { rxjs } from "./rxjs-module.ts";

/** An aspect of a node's state: how to read it, and when two reads are equal. */
export interface Aspect<T> {
  readonly name: string;
  readonly read: Operation<undefined, T | null>;
  isSame(a: T, b: T): boolean;
}

const isSameData = (a: Stat, b: Stat): boolean => a.czxid === b.czxid && a.mzxid === b.mzxid;

export const DATA: Aspect<NodeData> = {
  name: "data",
  read: GET_DATA_OR_NULL,
  isSame: (a, b) => isSameData(a.stat, b.stat),
};

export const CHILDREN: Aspect<Children> = {
  name: "children",
  read: GET_CHILDREN_OR_NULL,
  isSame: (a, b) =>
    a.stat.czxid === b.stat.czxid && a.stat.pzxid === b.stat.pzxid && a.stat.cversion === b.stat.cversion,
};

export const EXISTENCE: Aspect<Stat> = { name: "existence", read: EXISTS, isSame: isSameData };

/** The result of a read: a value, or null where there is no such node. */
export interface Observed<T> {
  readonly value: T | null;
  /** Whether it is current as far as the client knows: it is connected and the watch is armed. */
  isFresh(): boolean;
}

/** All observations of one session, each shared by its observers. */
export class Observations {
  /** Which servers support persistent watches, for all observers of trees. */
  readonly persistentWatches: PersistentWatchSupport = new PersistentWatchSupport((server, reason) =>
    traceFallback({ server, reason }),
  );
  readonly #driver: SessionDriver;
  readonly #byName = new Map<string, Observation<unknown>>();

  constructor(driver: SessionDriver) {
    this.#driver = driver;
  }

  /** Number of current observations. */
  get count(): number {
    return this.#byName.size;
  }

  /**
   * Cold: the first subscriber arms the watch, the last one removes it.
   *
   * @param path the server's path
   */
  of<T>(aspect: Aspect<T>, path: string): Observable<Observed<T>> {
    return new (rxjs().Observable)((subscriber) => {
      const observation = this.#shared(aspect, path);
      observation.add(subscriber);
      return () => observation.remove(subscriber);
    });
  }

  #shared<T>(aspect: Aspect<T>, path: string): Observation<T> {
    const name = `${aspect.name} ${path}`;
    const known = this.#byName.get(name);
    // The key contains the aspect, which determines the type.
    if (known !== undefined) return known as unknown as Observation<T>;
    const observation = new Observation(this.#driver, { aspect, path, stopped: () => this.#byName.delete(name) });
    this.#byName.set(name, observation as unknown as Observation<unknown>);
    return observation;
  }
}

const WATCH_KINDS: readonly WatchKind[] = ["data", "exists", "children"];

/** Transient refusals are retried; after a lost connection everything is read again anyway. */
const onlyWhenThrottled: RetryPolicy = ({ count, error }) =>
  error.code === "THROTTLED_OP" ? Math.min(5_000, 100 * 2 ** Math.min(count, 10)) : false;

/** Errors that do not concern the node: the connection is lost, or is left because of them. */
export const OF_CONNECTION: ReadonlySet<ZkErrorCode> = new Set<ZkErrorCode>([
  "CONNECTION_LOSS",
  "SESSION_MOVED",
  "SESSION_EXPIRED",
  "CLIENT_CLOSED",
]);

interface ObservedState<T> {
  readonly aspect: Aspect<T>;
  readonly path: string;
  /** Called when the last observer has left. */
  stopped(): void;
}

class Observation<T> implements Watcher, DriverEvents {
  readonly rearms = false;
  readonly #driver: SessionDriver;
  readonly #state: ObservedState<T>;
  readonly #unlisten: () => void;
  readonly #subscribers = new Set<Subscriber<Observed<T>>>();
  #last: Observed<T> | undefined;
  #reading: AnyCall | undefined;
  #isArmed = false;
  #isStopped = false;

  constructor(driver: SessionDriver, state: ObservedState<T>) {
    this.#driver = driver;
    this.#state = state;
    this.#unlisten = driver.listen(this);
  }

  add(subscriber: Subscriber<Observed<T>>): void {
    this.#subscribers.add(subscriber);
    if (this.#last !== undefined) subscriber.next(this.#last);
    if (this.#subscribers.size > 1 || this.#isStopped) return;
    const { end } = this.#driver;
    if (end !== undefined) this.ended(end);
    else if (this.#driver.session.isConnected) this.#read();
  }

  remove(subscriber: Subscriber<Observed<T>>): void {
    if (this.#subscribers.delete(subscriber) && this.#subscribers.size === 0) this.#stop();
  }

  /** The watch fired: the state may have changed. */
  fire(): void {
    // Another watcher of the same event may have made the last subscriber leave.
    if (this.#isStopped) return;
    this.#isArmed = false;
    // The answer to a read in flight follows this event on the wire, so it shows the change.
    if (this.#reading === undefined) this.#read();
  }

  end(): void {
    // `ended` reports it, also where no watch is armed.
  }

  established(): void {
    this.#isArmed = false;
    // A read that never left this process is sent on this connection anyway.
    if (this.#reading === undefined) this.#read();
  }

  ended(error: ZkError): void {
    if (error.code === "CLIENT_CLOSED") this.#finish((subscriber) => subscriber.complete());
    else this.#fail(error);
  }

  #read(): void {
    this.#ask(this.#state.aspect.read, (value) => {
      if (value !== null) this.#accept(value);
      // `exists` arms a watch also where there is no node; then absence is the whole state.
      else if (this.#state.aspect.read.absent?.arms !== undefined) this.#accept(null);
      else this.#readAbsence();
    });
  }

  #readAbsence(): void {
    this.#ask(EXISTS, (stat) => {
      if (stat === null) this.#accept(null);
      else this.#read();
    });
  }

  #ask<V>(operation: Operation<undefined, V>, take: (value: V) => void): void {
    const fields = {
      operation,
      path: this.#state.path,
      shownPath: this.#state.path,
      body: undefined,
      watcher: this,
      options: { retry: onlyWhenThrottled },
      isOwn: true,
    };
    const call: Call<undefined, V> = new Call(
      fields,
      (value) => {
        this.#reading = undefined;
        if (!this.#isStopped) take(value);
      },
      (error) => {
        this.#reading = undefined;
        if (!this.#isStopped) this.#refused(error);
      },
    );
    this.#reading = call as AnyCall;
    this.#driver.submit(call);
  }

  #accept(value: T | null): void {
    this.#isArmed = true;
    const last = this.#last?.value;
    if (
      last !== undefined &&
      (last === null || value === null ? last === value : this.#state.aspect.isSame(last, value))
    ) {
      return;
    }
    const observed: Observed<T> = { value, isFresh: () => this.#isFresh(observed) };
    this.#last = observed;
    for (const subscriber of [...this.#subscribers]) subscriber.next(observed);
  }

  #isFresh(observed: Observed<T>): boolean {
    return this.#last === observed && this.#isArmed && this.#driver.session.isConnected;
  }

  #refused(error: unknown): void {
    // The next connection calls `established`, the end of the client `ended`.
    if (isZkError(error) && OF_CONNECTION.has(error.code)) return;
    this.#fail(error);
  }

  #fail(error: unknown): void {
    this.#finish((subscriber) => subscriber.error(error));
  }

  #finish(report: (subscriber: Subscriber<Observed<T>>) => void): void {
    const subscribers = [...this.#subscribers];
    this.#subscribers.clear();
    this.#stop();
    for (const subscriber of subscribers) report(subscriber);
  }

  #stop(): void {
    if (this.#isStopped) return;
    this.#isStopped = true;
    this.#isArmed = false;
    this.#state.stopped();
    this.#unlisten();
    // The driver removes the watch of a read in flight when it is answered.
    if (this.#reading !== undefined) this.#driver.withdraw(this.#reading);
    for (const kind of WATCH_KINDS) this.#driver.unwatch(kind, this.#state.path, this);
  }
}

/** Fails a stream with SESSION_EXPIRED when the session is lost. */
export function failOnExpiry<T>(driver: SessionDriver, source: Observable<T>, op: string): Observable<T> {
  return new (rxjs().Observable)((subscriber) => {
    const stop = driver.states.add((state) => {
      if (state.kind === "lost") subscriber.error(zkError({ code: "SESSION_EXPIRED", op, outcome: "not-sent" }));
    });
    const values = source.subscribe(subscriber);
    return () => {
      values.unsubscribe();
      stop();
    };
  });
}
