import { once } from "node:events";
import { tmpdir } from "node:os";
import { extname } from "node:path";
import { Worker } from "node:worker_threads";
import { ArgumentError } from "@zooid/model";
import { TOUCH_COUNT_MAX, TOUCHES_PER_PING } from "../core/pending-touches.ts";
import type { SessionTouch } from "../core/quorum-packet.ts";
import type { LinkStatus } from "../edge/link.ts";
import type { FromLink, LinkStart, ToLink } from "../edge/link-messages.ts";
import { touchColumns } from "../edge/touch-columns.ts";
import { EventDecoder } from "./event-decoder.ts";
import type { FollowEvent } from "./follow-event.ts";
import { type CheckedFollow, checkFollow, type FollowOptions } from "./follow-options.ts";

const THREAD = "edge/link-thread";
/** A million sessions that wait for pings take half of it. */
const HEAP_MIB = 192;
/** Calls of `sync` that wait. */
const SYNC_COUNT_MAX = 1000;
const ID_MAX = 2n ** 63n - 1n;
const TIMEOUT_MS_MAX = 2 ** 31 - 1;

/**
 * Follows an ensemble. A thread of its own reads the link, whatever the reader of the events does;
 * events are taken at the reader's pace, by `for await`, once.
 */
export class ApacheFollower implements AsyncIterable<FollowEvent>, AsyncDisposable {
  readonly #worker: Worker;
  readonly #decoder: EventDecoder;
  #status: LinkStatus;
  #batch: PromiseWithResolvers<Buffer | undefined> | undefined;
  /** The rest of the batch that is being read. */
  #events: Iterator<FollowEvent, void, undefined> | undefined;
  readonly #syncs: PromiseWithResolvers<void>[] = [];
  #failure: unknown;
  #isEnded = false;

  constructor(follow: CheckedFollow) {
    this.#decoder = new EventDecoder(follow.packetBytesMax);
    this.#status = {
      state: "searching",
      address: undefined,
      acceptedEpoch: 0,
      position: undefined,
      spoolBytes: 0,
      transactionCount: 0,
      snapshotCount: 0,
      disconnectCount: 0,
      lastError: undefined,
    };
    this.#worker = startThread(follow);
    this.#worker
      .on("message", (message: FromLink) => this.#received(message))
      .on("error", (error) => this.#fail(error))
      .on("exit", () => this.#end());
  }

  /** How the link stands, or stood a second ago. */
  get status(): LinkStatus {
    return this.#status;
  }

  /**
   * The events, from where the last reader stopped.
   *
   * @throws ApachePeerError where another attempt would fail in the same way
   */
  async *[Symbol.asyncIterator](): AsyncGenerator<FollowEvent, void, undefined> {
    for (;;) {
      // Not by for-of, which would drop the rest of the batch where the reader stops.
      const event = this.#next();
      if (event !== undefined) {
        yield event;
        continue;
      }
      const batch = await this.#pull();
      if (batch === undefined) return;
      this.#events = this.#decoder.decode(batch);
    }
  }

  /** The next event of the batch; undefined where another one is needed. */
  #next(): FollowEvent | undefined {
    try {
      const next = this.#events?.next();
      if (next === undefined || next.done === true) return undefined;
      if (next.value.kind === "synced") this.#syncs.shift()?.resolve();
      return next.value;
    } catch (error) {
      this.#fail(error);
      throw error;
    }
  }

  /**
   * Tells the leader that these sessions are used: it extends them by their timeouts. A ping takes
   * 50,000 of them, and there are two in a tick.
   */
  touch(touches: readonly SessionTouch[]): void {
    if (touches.length > TOUCH_COUNT_MAX)
      throw new ArgumentError("touch", [`at most ${TOUCH_COUNT_MAX} sessions are touched, found ${touches.length}`]);
    const misfit = touches.findIndex((touch) => !isTouch(touch));
    if (misfit !== -1)
      throw new ArgumentError("touch", [
        `touches[${misfit}] must be { id, timeoutMs }: a bigint of 64 bits and a whole number of milliseconds`,
      ]);
    // The thread answers pings between the messages.
    for (let at = 0; at < touches.length; at += TOUCHES_PER_PING) {
      const columns = touchColumns(touches.slice(at, at + TOUCHES_PER_PING));
      this.#post({ kind: "touch", touches: columns }, [columns.ids.buffer, columns.timeoutsMs.buffer]);
    }
  }

  /**
   * Fulfilled when the reader has got everything that the leader had proposed at the call.
   *
   * @throws the error that ended the link for good
   */
  async sync(): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure;
    if (this.#isEnded) throw closed();
    if (this.#syncs.length === SYNC_COUNT_MAX)
      throw new ArgumentError("sync", [`at most ${SYNC_COUNT_MAX} calls wait at a time`]);
    const answer = Promise.withResolvers<void>();
    this.#syncs.push(answer);
    this.#post({ kind: "sync" });
    await answer.promise;
  }

  /** Ends the link; the events end. A second call does nothing more. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isEnded) return;
    const exit = once(this.#worker, "exit");
    this.#post({ kind: "close" });
    await exit;
  }

  async #pull(): Promise<Buffer | undefined> {
    if (this.#failure !== undefined) throw this.#failure;
    if (this.#isEnded) return undefined;
    if (this.#batch !== undefined) throw new ArgumentError("follow", ["the events have one reader at a time"]);
    const batch = Promise.withResolvers<Buffer | undefined>();
    this.#batch = batch;
    this.#post({ kind: "pull" });
    return await batch.promise;
  }

  #received(message: FromLink): void {
    if (message.kind === "status") {
      this.#status = message.status;
      return;
    }
    const { buffer, byteOffset, length } = message.bytes;
    this.#batch?.resolve(Buffer.from(buffer, byteOffset, length));
    this.#batch = undefined;
  }

  #fail(failure: unknown): void {
    this.#failure ??= failure;
    this.#batch?.reject(failure);
    this.#batch = undefined;
    for (const sync of this.#syncs.splice(0)) sync.reject(failure);
  }

  #end(): void {
    this.#isEnded = true;
    this.#batch?.resolve(undefined);
    this.#batch = undefined;
    for (const sync of this.#syncs.splice(0)) sync.reject(closed());
  }

  #post(message: ToLink, transferred: readonly ArrayBuffer[] = []): void {
    if (!this.#isEnded) this.#worker.postMessage(message, transferred);
  }
}

/**
 * Follows an Apache ZooKeeper ensemble as an observer that no server's configuration names.
 *
 * @param hosts `host:port` of the quorum ports of all servers, or of observer masters, with commas
 *   between them
 * @throws ArgumentError for hosts or options that are none
 */
export function follow(hosts: string, options?: FollowOptions): ApacheFollower {
  return new ApacheFollower(checkFollow("follow", hosts, options));
}

function isTouch({ id, timeoutMs }: SessionTouch): boolean {
  const isId = typeof id === "bigint" && id >= -ID_MAX - 1n && id <= ID_MAX;
  return isId && Number.isInteger(timeoutMs) && timeoutMs >= 0 && timeoutMs <= TIMEOUT_MS_MAX;
}

function closed(): Error {
  return new ArgumentError("sync", ["the follower is closed"]);
}

function startThread(follow: CheckedFollow): Worker {
  const { addresses, after, epochFile, spoolDirectory = tmpdir(), spoolMemoryBytesMax, ...rest } = follow;
  const start: LinkStart = {
    link: { ...rest, addresses, position: after },
    epochFile,
    spoolDirectory,
    spoolMemoryBytesMax,
  };
  const extension = extname(import.meta.url);
  return new Worker(new URL(`../${THREAD}${extension}`, import.meta.url), {
    workerData: start,
    execArgv: extension === ".ts" ? ["--conditions=@zooid/source"] : [],
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB },
  });
}
