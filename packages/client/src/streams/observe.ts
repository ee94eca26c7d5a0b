/**
 * A node's state as a stream: read with a watch, and read again with a watch whenever the watch fires, so the last state is never
 * missed, though states in between may be. All who observe the same thing share one watch at the server.
 */
import type { Stat } from "@zooid/model";
import { Observable, type Subscriber } from "rxjs";
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

/** What is observed of a node: how it is read, and when two reads show the same. */
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

/** What a read has shown: a value, or null where there is no such node. */
export interface Observed<T> {
  readonly value: T | null;
  /** Whether nothing has happened since, as far as can be known: there is a connection and the watch is armed. */
  isFresh(): boolean;
}

/** Everything that is observed over one session, each thing once however many observe it. */
export class Observations {
  /** What its servers have shown of what they know, for all who watch trees. */
  readonly persistentWatches: PersistentWatchSupport = new PersistentWatchSupport((server, reason) =>
    traceFallback({ server, reason }),
  );
  readonly #driver: SessionDriver;
  readonly #byName = new Map<string, Observation<unknown>>();

  constructor(driver: SessionDriver) {
    this.#driver = driver;
  }

  /** How many things are observed now. */
  get count(): number {
    return this.#byName.size;
  }

  /** Cold: the first subscriber arms the watch, the last one removes it. @param path as the server names it */
  of<T>(aspect: Aspect<T>, path: string): Observable<Observed<T>> {
    return new Observable((subscriber) => {
      const observation = this.#shared(aspect, path);
      observation.add(subscriber);
      return () => observation.remove(subscriber);
    });
  }

  #shared<T>(aspect: Aspect<T>, path: string): Observation<T> {
    const name = `${aspect.name} ${path}`;
    const known = this.#byName.get(name);
    // The name holds the aspect, which alone decides the type.
    if (known !== undefined) return known as unknown as Observation<T>;
    const observation = new Observation(this.#driver, { aspect, path, stopped: () => this.#byName.delete(name) });
    this.#byName.set(name, observation as unknown as Observation<unknown>);
    return observation;
  }
}

const WATCH_KINDS: readonly WatchKind[] = ["data", "exists", "children"];

/** A busy server is asked again; after a lost connection everything is read anew anyway. */
const onlyWhenThrottled: RetryPolicy = ({ count, error }) =>
  error.code === "THROTTLED_OP" ? Math.min(5_000, 100 * 2 ** Math.min(count, 10)) : false;

/** What says nothing about the node: the connection is gone, or is left because of it. */
export const OF_CONNECTION: ReadonlySet<ZkErrorCode> = new Set<ZkErrorCode>([
  "CONNECTION_LOSS",
  "SESSION_MOVED",
  "SESSION_EXPIRED",
  "CLIENT_CLOSED",
]);

class Observation<T> implements Watcher, DriverEvents {
  readonly rearms = false;
  readonly #driver: SessionDriver;
  readonly #aspect: Aspect<T>;
  readonly #path: string;
  readonly #stopped: () => void;
  readonly #unlisten: () => void;
  readonly #subscribers = new Set<Subscriber<Observed<T>>>();
  #last: Observed<T> | undefined;
  #reading: AnyCall | undefined;
  #isArmed = false;
  #isStopped = false;

  constructor(
    driver: SessionDriver,
    { aspect, path, stopped }: { readonly aspect: Aspect<T>; readonly path: string; readonly stopped: () => void },
  ) {
    this.#driver = driver;
    this.#aspect = aspect;
    this.#path = path;
    this.#stopped = stopped;
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

  /** The watch: what was read is not the last word. */
  fire(): void {
    // Another watcher of the same event may have made the last subscriber leave.
    if (this.#isStopped) return;
    this.#isArmed = false;
    // The answer to a read on its way stands behind this event on the wire, so it shows what the event tells of.
    if (this.#reading === undefined) this.#read();
  }

  end(): void {
    // Told by `ended`, also where no watch is armed.
  }

  established(): void {
    this.#isArmed = false;
    // A read that never left this process goes out on this connection anyway.
    if (this.#reading === undefined) this.#read();
  }

  ended(error: ZkError): void {
    if (error.code === "CLIENT_CLOSED") this.#finish((subscriber) => subscriber.complete());
    else this.#fail(error);
  }

  #read(): void {
    this.#ask(this.#aspect.read, (value) => {
      if (value !== null) this.#accept(value);
      // `exists` arms a watch also where there is no node, and its answer is all there is to say then.
      else if (this.#aspect.read.absent?.arms !== undefined) this.#accept(null);
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
      path: this.#path,
      shownPath: this.#path,
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
    if (last !== undefined && (last === null || value === null ? last === value : this.#aspect.isSame(last, value))) {
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
    // The next connection brings `established`, the end brings `ended`.
    if (isZkError(error) && OF_CONNECTION.has(error.code)) return;
    this.#fail(error);
  }

  #fail(error: unknown): void {
    this.#finish((subscriber) => subscriber.error(error));
  }

  #finish(tell: (subscriber: Subscriber<Observed<T>>) => void): void {
    const subscribers = [...this.#subscribers];
    this.#subscribers.clear();
    this.#stop();
    for (const subscriber of subscribers) tell(subscriber);
  }

  #stop(): void {
    if (this.#isStopped) return;
    this.#isStopped = true;
    this.#isArmed = false;
    this.#stopped();
    this.#unlisten();
    // A read on its way arms a watch for nobody: the driver takes it back when it is answered.
    if (this.#reading !== undefined) this.#driver.withdraw(this.#reading);
    for (const kind of WATCH_KINDS) this.#driver.unwatch(kind, this.#path, this);
  }
}

/** Ends a stream with SESSION_EXPIRED when the session is lost, for whom that matters. */
export function failOnExpiry<T>(driver: SessionDriver, source: Observable<T>, op: string): Observable<T> {
  return new Observable((subscriber) => {
    const states = driver.state$.subscribe((state) => {
      if (state.kind === "lost") subscriber.error(zkError({ code: "SESSION_EXPIRED", op, outcome: "not-sent" }));
    });
    const values = source.subscribe(subscriber);
    return () => {
      values.unsubscribe();
      states.unsubscribe();
    };
  });
}
