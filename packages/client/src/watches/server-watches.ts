import type { Zxid } from "@zooid/model";
import { type AnyCall, Call, type CallFields } from "../calls/call.ts";
import { REMOVE_WATCHES, SET_WATCHES, SET_WATCHES2 } from "../calls/operation.ts";
import { isZkError, type ZkError } from "../errors.ts";
import { type Watcher, type WatchKind, WatchRegistry, type WatchType, watchTypeOf } from "./watch-registry.ts";

/** Size of one setWatches: far below any server's limit on frames, as in Java's clients. */
const SET_WATCHES_BYTES_MAX = 128 * 1024;

export interface ServerWatchesSinks {
  isConnected(): boolean;
  ask(fields: CallFields<WatchType, unknown>): Promise<unknown>;
}

/**
 * The watches at the server, kept in line with this client's watchers: armed by reads, removed when
 * no watcher needs them any more, and armed again on every connection.
 */
export class ServerWatches {
  readonly registry: WatchRegistry = new WatchRegistry();
  readonly #sinks: ServerWatchesSinks;
  #mayRemove = true;
  /** Consecutive connections whose servers did not support persistent watches. */
  #unknowingCount = 0;

  constructor(sinks: ServerWatchesSinks) {
    this.#sinks = sinks;
  }

  /** A call that may arm a watch is in flight. */
  sent(call: AnyCall): void {
    if (call.watcher === undefined) return;
    call.arming = call.watchType;
    if (call.arming !== undefined) this.registry.beginArming(call.arming, call.path);
  }

  /** The server has armed the watch of the call, or has refused to. */
  answered(call: AnyCall, isRefused: boolean, isAbsent = false): void {
    const { arming, watcher, path } = call;
    if (arming === undefined) return;
    call.arming = undefined;
    this.registry.settleArming(arming, path);
    const kind = isRefused && !isAbsent ? undefined : call.armedBy(isAbsent);
    if (kind === undefined) return;
    if (watcher !== undefined && !call.isSettled) this.registry.add(kind, path, watcher);
    else this.dropUnwanted(arming, path);
  }

  /** The result of a call that arms is discarded, and so is its watch. */
  discarded(call: AnyCall): void {
    const { arming, path } = call;
    if (arming === undefined) return;
    call.arming = undefined;
    this.registry.settleArming(arming, path);
    this.dropUnwanted(arming, path);
  }

  /** Removes a watcher, and the server's watch where no other watcher needs it. */
  remove(kind: WatchKind, path: string, watcher: Watcher): void {
    if (this.registry.remove(kind, path, watcher)) this.dropUnwanted(watchTypeOf(kind), path);
  }

  /** Removes the server's watch unless a watcher needs it. The answer is not awaited. */
  dropUnwanted(type: WatchType, path: string): void {
    if (!this.#mayRemove || !this.#sinks.isConnected() || this.registry.isWanted(type, path)) return;
    const fields = { operation: REMOVE_WATCHES, path, shownPath: path, body: type, isOwn: true };
    this.#sinks.ask(fields).catch((error: ZkError) => {
      // Servers before 3.5 do not know the operation, and close the connection.
      if (error.code === "UNIMPLEMENTED") this.#mayRemove = false;
    });
  }

  /**
   * Whether the watch that a waiting removal is for was armed again meanwhile; then the removal is
   * settled.
   */
  isWantedAgain(call: AnyCall): boolean {
    const isWanted = this.registry.isWanted(call.body as WatchType, call.path);
    if (isWanted) call.resolve(undefined);
    return isWanted;
  }

  /**
   * The calls that arm all watches on a new connection.
   *
   * @param refused called when a server refuses: without its watches a connection is useless, since
   *   its watchers would wait forever
   */
  *rearming(
    place: { readonly lastZxid: Zxid; readonly frameBytesMax: number; readonly hostCount: number },
    refused: () => void,
  ): Generator<AnyCall> {
    const rejected = (error: unknown): void => {
      if (!isZkError(error) || error.outcome !== "rejected") return;
      refused();
      if (error.code === "UNIMPLEMENTED") this.#unknowing(error, place.hostCount);
    };
    const armed = (): void => {
      this.#unknowingCount = 0;
    };
    for (const paths of this.registry.batches(Math.min(SET_WATCHES_BYTES_MAX, place.frameBytesMax - 64))) {
      const isNew = paths.persistent.length > 0 || paths.recursive.length > 0;
      const body = { paths, zxid: place.lastZxid };
      const fields = { operation: isNew ? SET_WATCHES2 : SET_WATCHES, path: "/", shownPath: "/", body };
      yield new Call(fields, armed, rejected) as AnyCall;
    }
  }

  /**
   * Another server may support persistent watches. If none does, their watchers get the error:
   * retrying would block all other calls.
   */
  #unknowing(error: ZkError, hostCount: number): void {
    this.#unknowingCount++;
    if (this.#unknowingCount < hostCount) return;
    this.#unknowingCount = 0;
    this.registry.endPersistent(error);
  }
}
