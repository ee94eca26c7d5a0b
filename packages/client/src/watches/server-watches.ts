import type { Zxid } from "@zooid/model";
import { type AnyCall, Call, type CallFields } from "../calls/call.ts";
import { REMOVE_WATCHES, SET_WATCHES, SET_WATCHES2 } from "../calls/operation.ts";
import { isZkError, type ZkError } from "../errors.ts";
import { type Watcher, type WatchKind, WatchRegistry, type WatchType, watchTypeOf } from "./watch-registry.ts";

/** Paths of one setWatches: far below any server's limit on frames, as Java's clients have it. */
const SET_WATCHES_BYTES_MAX = 128 * 1024;

export interface ServerWatchesSinks {
  isConnected(): boolean;
  ask(fields: CallFields<WatchType, unknown>): Promise<unknown>;
}

/**
 * What the server watches for this connection, kept level with what somebody here has use for: armed by reads, taken back when nobody
 * wants it any more, and armed anew on every connection.
 */
export class ServerWatches {
  readonly registry: WatchRegistry = new WatchRegistry();
  readonly #sinks: ServerWatchesSinks;
  #mayRemove = true;
  /** Connections in a row whose servers did not know persistent watches. */
  #unknowingCount = 0;

  constructor(sinks: ServerWatchesSinks) {
    this.#sinks = sinks;
  }

  /** A call is on its way that arms a watch, if it does. */
  sent(call: AnyCall): void {
    if (call.watcher === undefined) return;
    call.arming = call.watchType;
    if (call.arming !== undefined) this.registry.beginArming(call.arming, call.path);
  }

  /** The server has armed the watch that the call asked for, or has refused to. */
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

  /** The answer of a call that arms counts for nothing, and so does its watch. */
  discarded(call: AnyCall): void {
    const { arming, path } = call;
    if (arming === undefined) return;
    call.arming = undefined;
    this.registry.settleArming(arming, path);
    this.dropUnwanted(arming, path);
  }

  /** Takes a watcher back, and the server's watch where nobody else has use for it. */
  remove(kind: WatchKind, path: string, watcher: Watcher): void {
    if (this.registry.remove(kind, path, watcher)) this.dropUnwanted(watchTypeOf(kind), path);
  }

  /** Tells the server that a watch is of no use any more, unless it is. Nobody waits for the answer. */
  dropUnwanted(type: WatchType, path: string): void {
    if (!this.#mayRemove || !this.#sinks.isConnected() || this.registry.isWanted(type, path)) return;
    const fields = { operation: REMOVE_WATCHES, path, shownPath: path, body: type, isOwn: true };
    this.#sinks.ask(fields).catch((error: ZkError) => {
      // Servers before 3.5 do not know the operation, and hang up on who asks.
      if (error.code === "UNIMPLEMENTED") this.#mayRemove = false;
    });
  }

  /** Whether somebody has armed, since it waits, the watch that a call is to remove; then it is settled. */
  isWantedAgain(call: AnyCall): boolean {
    const isWanted = this.registry.isWanted(call.body as WatchType, call.path);
    if (isWanted) call.resolve(undefined);
    return isWanted;
  }

  /**
   * The calls that arm everything on a new connection.
   *
   * @param refused a server has refused to: without its watches a connection is of no use, since whoever waits would wait forever
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

  /** Another server may know persistent watches. Once none does, whoever has one is told: to go on asking would keep everybody from working. */
  #unknowing(error: ZkError, hostCount: number): void {
    this.#unknowingCount++;
    if (this.#unknowingCount < hostCount) return;
    this.#unknowingCount = 0;
    this.registry.endPersistent(error);
  }
}
