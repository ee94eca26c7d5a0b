import { type ByteSlice, copySlice, ErrorCode, type Request, WireError } from "@zooid/model";
import type { Connection, SetWatchesProgress } from "../connections/connection.ts";
import type { SessionParts } from "../parts/sessions.ts";
import type { WatchRequests } from "../reads/watch-requests.ts";
import type { ClientRequests } from "./client-requests.ts";
import type { WaitingRequests } from "./waiting-requests.ts";

interface Parts extends SessionParts {
  readonly requests: ClientRequests;
  readonly waiting: WaitingRequests;
  readonly watchRequests: WatchRequests;
}

/**
 * setWatches requests, each in as many turns as it takes: a reconnecting client may have a hundred
 * thousand watches. Requests after one wait until it is answered.
 */
export class SetWatches {
  readonly #parts: Parts;
  #unfinished: Connection[] = [];

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /**
   * Restores the first watches of a setWatches whose body was read. Throws where a path cannot be
   * read, before any watch is restored.
   *
   * @returns false when there are more, and it is not answered yet
   */
  begin(connection: Connection, request: Request, frame: Readonly<ByteSlice>, receivedMs: number): boolean {
    const { config, tools, servingState } = this.#parts;
    const progress = { position: tools.requests.partsPosition(), isChecked: false };
    if (!servingState.isApplying && this.#advance(connection, request, progress, config.setWatchesWorkPerTurn))
      return true;
    connection.unfinished = { frame: copySlice(frame), receivedMs, ...progress };
    this.#unfinished.push(connection);
    this.#parts.postponed.mark();
    return false;
  }

  /** Whether {@link restoreMore} has something to do. */
  get hasUnfinished(): boolean {
    return this.#unfinished.length > 0;
  }

  /**
   * Restores more watches of the unfinished requests: all together as many as one may in a turn.
   */
  restoreMore(): void {
    const connections = this.#unfinished;
    if (connections.length === 0) return;
    this.#unfinished = [];
    const { requestWork, config } = this.#parts;
    const end = requestWork.count + config.setWatchesWorkPerTurn;
    const share = Math.ceil(config.setWatchesWorkPerTurn / connections.length);
    for (const [i, connection] of connections.entries()) {
      const left = end - requestWork.count;
      if (left <= 0) {
        // Connections that had no share go first in the next turn.
        this.#unfinished = [...connections.slice(i), ...this.#unfinished];
        return;
      }
      this.#restoreSome(connection, Math.min(left, share));
    }
  }

  #restoreSome(connection: Connection, workMax: number): void {
    const { unfinished } = connection;
    if (unfinished === undefined || connection.phase !== "open") return;
    const { frame, receivedMs } = unfinished;
    const { tools, servingState, sinks, request, requests, waiting } = this.#parts;
    tools.requests.open(frame, 0, frame.length, request);
    tools.requests.body(request);
    let isAnswered = false;
    try {
      isAnswered = this.#advance(connection, request, unfinished, workMax);
    } catch (error) {
      if (!(error instanceof WireError)) throw error;
      sinks.replies.header(connection.ref, request.xid, servingState.visible, ErrorCode.MARSHALLING_ERROR);
      isAnswered = true;
    }
    if (!isAnswered) {
      this.#unfinished.push(connection);
      return;
    }
    connection.unfinished = undefined;
    requests.answered(connection, request.op, request.xid, receivedMs);
    waiting.release(connection);
  }

  /**
   * Reads all paths before it restores the first watch. @returns whether the request is answered
   */
  #advance(connection: Connection, request: Request, progress: SetWatchesProgress, workMax: number): boolean {
    const { requestWork, watchRequests, servingState, tools } = this.#parts;
    const { requests } = tools;
    const workEnd = requestWork.count + workMax;
    requests.goToPart(progress.position);
    let isDone = false;
    if (!progress.isChecked && watchRequests.checkPaths(requests, workMax)) {
      progress.isChecked = true;
      requests.rewindParts();
    }
    if (progress.isChecked && requestWork.count < workEnd) {
      isDone = watchRequests.restore(connection, request, requests, servingState.visible, workEnd - requestWork.count);
    }
    if (!isDone) progress.position = requests.partsPosition();
    return isDone;
  }

  /** The role has ended, and its connections are closed. */
  clear(): void {
    this.#unfinished = [];
  }
}
