/**
 * Observes a node and its descendants as a stream of creations, changes and deletions. On servers
 * from 3.6 on, one recursive watch tells which nodes to read; on older ones each node has two
 * one-shot watches, on its data and on its children, armed by its reads. The form is chosen for
 * each connection.
 *
 *     no connection ─▶ asking ─▶ persistent
 *           ▲    │        │          │
 *           │    └────────┴─▶ one-shot
 *           └──── connection lost ───┘
 *
 * In both forms all known nodes are read again on a new connection, since changes made meanwhile
 * cause no events.
 */

import { ArgumentError, found } from "@zooid/model";
import type { Observable, Subscriber } from "rxjs";
import { type AnyCall, Call } from "../calls/call.ts";
import {
  ADD_RECURSIVE_WATCH,
  type Children,
  EXISTS,
  GET_CHILDREN_OR_NULL,
  GET_DATA_OR_NULL,
  type NodeData,
  type Operation,
} from "../calls/operation.ts";
import type { RetryPolicy } from "../calls/retry.ts";
import { isZkError, type ZkError, zkError } from "../errors.ts";
import { checkedPath, underRoot, withoutRoot } from "../operations/paths.ts";
import type { DriverEvents, SessionDriver } from "../session/session-driver.ts";
import type { PersistentWatchSupport } from "../watches/persistent-watch-support.ts";
import type { TreeWatches } from "../watches/tree-watches.ts";
import type { WatchEvent } from "../watches/watch-event.ts";
import { type Watcher, type WatchKind, watchTypeOf } from "../watches/watch-registry.ts";
import { removeWatches, type ServerWatch } from "../watches/watch-removal.ts";
import { OF_CONNECTION } from "./observe.ts";
import { rxjs } from "./rxjs-module.ts";

/** A node as a read has returned it. */
export interface TreeNode extends NodeData {
  readonly path: string;
}

/** A change of the tree. */
export type TreeChange =
  | { readonly kind: "created"; readonly node: TreeNode }
  | { readonly kind: "changed"; readonly node: TreeNode; readonly before: TreeNode }
  | { readonly kind: "deleted"; readonly before: TreeNode }
  /** Once: all initially existing nodes have been reported. */
  | { readonly kind: "ready" };

export interface TreeOptions {
  /**
   * The largest depth of observed nodes: 0 is the node itself, 1 includes its children. Default:
   * unlimited.
   */
  readonly depthMax?: number;
  /**
   * Whether to observe a node, by its path. Where it returns false, the descendants are not
   * observed either. Default: all.
   */
  readonly select?: (path: string) => boolean;
  /** Default: the client's `treeWatches`. */
  readonly watches?: TreeWatches;
}

/** Maximum number of nodes read at a time. */
const READS_MAX = 64;

const ADD_TREE_WATCH: Operation<number, void> = { ...ADD_RECURSIVE_WATCH, name: "watchTree$" };

/** A new connection reads everything again; transient refusals are retried. */
const onSameConnection: RetryPolicy = ({ count, error }) =>
  OF_CONNECTION.has(error.code) ? false : Math.min(5_000, 100 * 2 ** Math.min(count, 10));

/** The observed node, and its session. */
interface Place {
  readonly driver: SessionDriver;
  readonly persistentWatches: PersistentWatchSupport;
  readonly root: string;
  readonly path: string;
}

/** Each subscriber has a stream of its own. Invalid options are an error of the stream. */
export function observeTree(place: Place, options: TreeOptions): Observable<TreeChange> {
  return new (rxjs().Observable)((subscriber) => {
    const path = checkedPath(place.path, "watchTree$");
    const { depthMax = Number.POSITIVE_INFINITY } = options;
    if (!(depthMax >= 0)) throw new RangeError(`watchTree$ ${path}: depthMax is a number from 0 on, found ${depthMax}`);
    const observation = new TreeObservation(subscriber, place, options);
    observation.start();
    return () => observation.stop();
  });
}

/** The parts of a node to read. */
interface Parts {
  readonly data: boolean;
  readonly children: boolean;
}

const DATA: Parts = { data: true, children: false };
const CHILDREN: Parts = { data: false, children: true };
const BOTH: Parts = { data: true, children: true };

interface Asked<B> {
  readonly body: B;
  readonly watcher: Watcher | undefined;
  /** Whether no other request may be in flight with it. */
  readonly isExclusive?: boolean;
}

type Form = "none" | "asking" | "persistent" | "one-shot";

class TreeObservation implements DriverEvents {
  readonly #driver: SessionDriver;
  readonly #persistentWatches: PersistentWatchSupport;
  readonly #subscriber: Subscriber<TreeChange>;
  readonly #root: string;
  readonly #path: string;
  readonly #depthMax: number;
  readonly #select: (path: string) => boolean;
  readonly #watches: TreeWatches;
  readonly #nodes = new Map<string, TreeNode>();
  /** Paths to read, first in, first out. */
  readonly #wanted = new Map<string, Parts>();
  /** The newest read in flight of each path's data. */
  readonly #newest = new Map<string, object>();
  readonly #calls = new Set<AnyCall>();
  /** The one-shot watches of each path that has some, or will. */
  readonly #marks = new Map<string, Mark>();
  readonly #recursive: Watcher;
  /** Deleted nodes, until the events that came together are known. */
  readonly #leaving = new Set<string>();
  #form: Form = "none";
  #readingCount = 0;
  #isPumping = false;
  #isReady = false;
  #isStopped = false;
  #unlisten: () => void = () => {};

  constructor(
    subscriber: Subscriber<TreeChange>,
    { driver, persistentWatches, root, path }: Place,
    { depthMax = Number.POSITIVE_INFINITY, select = () => true, watches = driver.config.treeWatches }: TreeOptions,
  ) {
    this.#driver = driver;
    this.#persistentWatches = persistentWatches;
    this.#subscriber = subscriber;
    this.#root = root;
    this.#path = path;
    this.#depthMax = depthMax;
    this.#select = select;
    this.#watches = watches;
    // Armed again by `established`, in the form that the server of the new connection supports.
    this.#recursive = { rearms: false, fire: (event) => this.#eventReceived(event), end: () => {} };
  }

  start(): void {
    const { end, session } = this.#driver;
    if (end !== undefined) {
      this.ended(end);
      return;
    }
    this.#unlisten = this.#driver.listen(this);
    if (session.isConnected) this.established();
  }

  established(): void {
    this.#forgetReads();
    // The watches of the lost connection are gone.
    this.#marks.clear();
    const server = this.#driver.session.server ?? "";
    const isWorthIt = this.#persistentWatches.mayBeAt(server, performance.now());
    if (this.#watches === "one-shot" || (this.#watches === "auto" && !isWorthIt)) this.#begin("one-shot");
    else if (isWorthIt) this.#arm(server);
    else this.#fail(zkError({ code: "UNIMPLEMENTED", op: "watchTree$", path: this.#path, outcome: "not-sent" }));
  }

  ended(error: ZkError): void {
    if (error.code !== "CLIENT_CLOSED") this.#fail(error);
    else if (!this.#isStopped) {
      this.stop();
      this.#subscriber.complete();
    }
  }

  stop(): void {
    if (this.#isStopped) return;
    this.#isStopped = true;
    this.#unlisten();
    this.#forgetReads();
    this.#nodes.clear();
    this.#driver.unwatch("recursive", this.#full(this.#path), this.#recursive);
    const left: ServerWatch[] = [];
    for (const [path, mark] of this.#marks) {
      const full = this.#full(path);
      for (const [kind, watcher] of mark.watchers) {
        if (this.#driver.watches.remove(kind, full, watcher)) left.push({ type: watchTypeOf(kind), path: full });
      }
    }
    this.#marks.clear();
    removeWatches(this.#driver, left);
  }

  // Watches

  #arm(server: string): void {
    this.#form = "asking";
    const persistentWatches = this.#persistentWatches;
    const { connectionCount } = this.#driver.metrics;
    const armed = (): void => {
      persistentWatches.armed(server);
      this.#begin("persistent");
    };
    const failed = (error: unknown): void => {
      if (isZkError(error, "UNIMPLEMENTED")) {
        persistentWatches.refused(server, performance.now());
        // Before waiting calls are sent to a server that is about to close the connection; it may
        // be used again, since its lack is remembered.
        const { connectedAddress } = this.#driver.session;
        if (connectedAddress !== undefined) this.#driver.moveTo([connectedAddress]);
        if (this.#watches === "persistent") this.#fail(error);
        return;
      }
      if (isZkError(error, "CONNECTION_LOSS") && error.sentBytes) {
        persistentWatches.hungUp(server, connectionCount, performance.now());
      }
      this.#refused(error);
    };
    const isExclusive = !persistentWatches.areKnownAt(server);
    const fields = { body: MODE_RECURSIVE, watcher: this.#recursive, isExclusive };
    this.#ask(ADD_TREE_WATCH, this.#path, fields, armed, failed);
  }

  /** Reads all known nodes again and finds new ones, now that later changes cause events. */
  #begin(form: "persistent" | "one-shot"): void {
    this.#form = form;
    for (const path of new Set([this.#path, ...this.#nodes.keys()])) this.#want(path, BOTH);
    this.#pump();
  }

  /** An event of the recursive watch. */
  #eventReceived(event: WatchEvent): void {
    if (this.#form !== "persistent") return;
    const path = withoutRoot(this.#root, event.path);
    // Nodes created below a new node cause events of their own.
    if (event.type === "deleted") this.#leave(path);
    else if (this.#isOfInterest(path)) {
      this.#leaving.delete(path);
      this.#want(path, DATA);
    }
    this.#pump();
  }

  /**
   * Reports a deletion when the events that came with it are known: a node that one transaction
   * deletes and creates is another one in its place, and was not absent at any moment.
   */
  #leave(path: string): void {
    // Reads that were sent before it show the deleted node.
    this.#newest.delete(path);
    this.#wanted.delete(path);
    this.#leaving.add(path);
    if (this.#leaving.size > 1) return;
    queueMicrotask(() => {
      const left = [...this.#leaving];
      this.#leaving.clear();
      for (const one of left) this.#remove(one);
      this.#pump();
    });
  }

  /** An event of a one-shot watch, which is gone now. */
  #fired(path: string, mark: Mark, event: WatchEvent): void {
    if (this.#form !== "one-shot" || this.#marks.get(path) !== mark) return;
    switch (event.type) {
      case "deleted":
        // Its creation shows in its parent's list of children. The tree's own node has no parent
        // here, and is waited for.
        this.#remove(path);
        if (path === this.#path) this.#want(path, BOTH);
        break;
      case "children-changed":
        this.#want(path, CHILDREN);
        break;
      default:
        this.#want(path, event.type === "created" ? BOTH : DATA);
    }
    this.#pump();
  }

  // Reads

  #want(path: string, parts: Parts): void {
    const isInside = parts.children && this.#depthOf(path) < this.#depthMax;
    const before = this.#wanted.get(path);
    this.#wanted.set(path, {
      data: parts.data || before?.data === true,
      children: isInside || before?.children === true,
    });
  }

  #pump(): void {
    if (this.#isPumping || this.#isStopped) return;
    this.#isPumping = true;
    for (const [path, parts] of this.#wanted) {
      if (this.#readingCount >= READS_MAX) break;
      this.#wanted.delete(path);
      this.#read(path, parts);
    }
    this.#isPumping = false;
    const isActive = this.#form === "persistent" || this.#form === "one-shot";
    if (!isActive || this.#isReady || this.#readingCount > 0) return;
    this.#isReady = true;
    this.#subscriber.next({ kind: "ready" });
  }

  #read(path: string, { data, children }: Parts): void {
    // The list of a node that was deleted meanwhile.
    if (!data && !this.#nodes.has(path)) return;
    const read = {};
    if (data) this.#newest.set(path, read);
    const mark = this.#form === "one-shot" ? this.#markOf(path) : undefined;
    let node: NodeData | null | undefined;
    let below: Children | null | undefined;
    let missing = Number(data) + Number(children);
    if (missing === 0) return;
    this.#readingCount++;
    // Requested together, handled together: a child is never reported before its parent.
    const answered = (): void => {
      if (--missing > 0) return;
      this.#readingCount--;
      if (mark !== undefined && this.#marks.get(path) !== mark) this.#unwatch(path, mark);
      if (node !== undefined && this.#newest.get(path) === read) {
        this.#newest.delete(path);
        this.#found(path, node);
      }
      for (const name of below?.names ?? []) this.#discover(path === "/" ? `/${name}` : `${path}/${name}`);
      this.#pump();
    };
    if (data) {
      this.#ask(GET_DATA_OR_NULL, path, { body: undefined, watcher: mark?.data }, (value) => {
        node = value;
        answered();
      });
    }
    if (children) {
      this.#ask(GET_CHILDREN_OR_NULL, path, { body: undefined, watcher: mark?.children }, (value) => {
        below = value;
        answered();
      });
    }
  }

  #found(path: string, node: NodeData | null): void {
    if (node === null) {
      this.#remove(path);
      if (path === this.#path && this.#form === "one-shot" && !this.#isStopped) this.#awaitRoot();
      return;
    }
    const before = this.#nodes.get(path);
    const { czxid, mzxid } = node.stat;
    if (before?.stat.czxid !== czxid || before.stat.mzxid !== mzxid) this.#put({ path, ...node }, before);
  }

  /** No list of children shows when the tree's own node is created. */
  #awaitRoot(): void {
    const mark = this.#markOf(this.#path);
    this.#readingCount++;
    this.#ask(EXISTS, this.#path, { body: undefined, watcher: mark.data }, (stat) => {
      this.#readingCount--;
      if (stat !== null) this.#want(this.#path, BOTH);
      this.#pump();
    });
  }

  /** A child from a list, which may be the only evidence of it. */
  #discover(path: string): void {
    if (this.#isStopped || this.#nodes.has(path) || this.#newest.has(path) || this.#wanted.get(path)?.data === true) {
      return;
    }
    if (this.#isOfInterest(path)) this.#want(path, BOTH);
  }

  #ask<B, T>(
    operation: Operation<B, T>,
    path: string,
    { body, watcher, isExclusive = false }: Asked<B>,
    answered: (value: T) => void,
    failed: (error: unknown) => void = (error) => this.#refused(error),
  ): void {
    const fields = {
      operation,
      body,
      watcher,
      path: this.#full(path),
      shownPath: path,
      options: { retry: onSameConnection },
      isOwn: true,
    };
    const call: Call<B, T> = new Call(
      fields,
      (value) => {
        this.#calls.delete(call as AnyCall);
        answered(value);
      },
      (error) => {
        this.#calls.delete(call as AnyCall);
        failed(error);
      },
    );
    this.#calls.add(call as AnyCall);
    if (isExclusive) this.#driver.submitExclusive(call);
    else this.#driver.submit(call);
  }

  #refused(error: unknown): void {
    // The next connection calls `established`, the end of the client `ended`.
    if (isZkError(error) && OF_CONNECTION.has(error.code)) this.#forgetReads();
    else this.#fail(error);
  }

  /** Answers to reads in flight are ignored, and their watches removed. */
  #forgetReads(): void {
    this.#form = "none";
    this.#wanted.clear();
    this.#newest.clear();
    this.#readingCount = 0;
    for (const call of this.#calls) this.#driver.withdraw(call);
    this.#calls.clear();
  }

  // Known nodes

  #put(node: TreeNode, before: TreeNode | undefined): void {
    this.#nodes.set(node.path, node);
    if (before === undefined) this.#subscriber.next({ kind: "created", node });
    else this.#subscriber.next({ kind: "changed", node, before });
  }

  #remove(path: string): void {
    this.#newest.delete(path);
    this.#wanted.delete(path);
    const mark = this.#marks.get(path);
    this.#marks.delete(path);
    if (mark !== undefined) this.#unwatch(path, mark);
    const before = this.#nodes.get(path);
    if (before === undefined) return;
    this.#nodes.delete(path);
    this.#subscriber.next({ kind: "deleted", before });
  }

  #markOf(path: string): Mark {
    const known = this.#marks.get(path);
    if (known !== undefined) return known;
    const mark = new Mark((event) => this.#fired(path, mark, event));
    this.#marks.set(path, mark);
    return mark;
  }

  #unwatch(path: string, mark: Mark): void {
    const full = this.#full(path);
    for (const [kind, watcher] of mark.watchers) this.#driver.unwatch(kind, full, watcher);
  }

  /** Its ancestors must be known, up to the tree's own node, which always is. */
  #isOfInterest(path: string): boolean {
    if (this.#depthOf(path) > this.#depthMax) return false;
    try {
      for (let at = path; at.length > this.#path.length; at = at.slice(0, at.lastIndexOf("/")) || "/")
        if (!this.#isSelected(at)) return false;
      return true;
    } catch (error) {
      // An error of the subscriber; the connection's answers are processed regardless.
      this.#fail(error);
      return false;
    }
  }

  /** @throws ArgumentError for the promise of an async function, which would count as true */
  #isSelected(path: string): boolean {
    const isSelected: unknown = this.#select(path);
    if (!(isSelected instanceof Promise)) return Boolean(isSelected);
    // Its rejection has no other owner, and would end the process.
    isSelected.catch(() => {});
    throw new ArgumentError("watchTree$", [`select returns its result at once, found ${found(isSelected)}`]);
  }

  #depthOf(path: string): number {
    const below = path.slice(this.#path === "/" ? 0 : this.#path.length);
    return below === "/" ? 0 : below.split("/").length - 1;
  }

  #full(path: string): string {
    return underRoot(this.#root, path);
  }

  #fail(error: unknown): void {
    if (this.#isStopped) return;
    this.stop();
    this.#subscriber.error(error);
  }
}

/** The protocol's number. */
const MODE_RECURSIVE = 1;

/**
 * The two one-shot watches of a node. The client does not arm them again: on a new connection all
 * nodes are read again, which arms them.
 */
class Mark {
  readonly data: Watcher;
  readonly children: Watcher;

  constructor(fire: (event: WatchEvent) => void) {
    this.data = { rearms: false, fire, end: () => {} };
    this.children = { rearms: false, fire, end: () => {} };
  }

  get watchers(): readonly (readonly [WatchKind, Watcher])[] {
    return [
      ["data", this.data],
      ["exists", this.data],
      ["children", this.children],
    ];
  }
}
