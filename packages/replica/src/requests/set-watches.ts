import { copyRange, ErrorCode, type Request, WireError } from "@zooid/model";
import type { ReplicaConfig } from "../config.ts";
import type { Connection, SetWatchesProgress } from "../connections/connection.ts";
import type { LocalReads } from "../reads/local-reads.ts";
import type { ServingState } from "../serving-state.ts";
import type { ReplicaSinks } from "../sinks.ts";
import type { ReplicaTools } from "../tools.ts";

interface SetWatchesParts {
  readonly config: Pick<ReplicaConfig, "setWatchesWorkPerTurn">;
  readonly tools: Pick<ReplicaTools, "requests">;
  readonly sinks: Pick<ReplicaSinks, "replies">;
  readonly servingState: ServingState;
  readonly reads: LocalReads;
}

/**
 * setWatches requests that take more than one turn: a client that comes back may have a hundred thousand watches. What the client sends
 * behind one waits until it is answered.
 */
export class SetWatches {
  readonly #parts: SetWatchesParts;
  readonly #request: Request;
  readonly #answered: (connection: Connection, request: Request, receivedMs: number) => void;
  #unfinished: Connection[] = [];

  /**
   * @param request what each request is read into
   * @param answered called when one that took several turns is answered
   */
  constructor(
    parts: SetWatchesParts,
    request: Request,
    answered: (connection: Connection, request: Request, receivedMs: number) => void,
  ) {
    this.#parts = parts;
    this.#request = request;
    this.#answered = answered;
  }

  /**
   * Takes the first paths of a setWatches whose body was read. Throws where a path cannot be read, with no path taken.
   *
   * @returns false when there are more, and it is not answered yet
   */
  begin(
    connection: Connection,
    request: Request,
    bytes: Uint8Array,
    start: number,
    end: number,
    receivedMs: number,
  ): boolean {
    const { config, tools, servingState } = this.#parts;
    const progress = { place: tools.requests.partsPlace(), isChecked: false };
    if (!servingState.isApplying && this.#advance(connection, request, progress, config.setWatchesWorkPerTurn))
      return true;
    connection.unfinished = { frame: copyRange(bytes, start, end), receivedMs, ...progress };
    this.#unfinished.push(connection);
    return false;
  }

  /** Whether {@link goOn} has something to do. */
  get hasUnfinished(): boolean {
    return this.#unfinished.length > 0;
  }

  /** Takes more paths of those that are not answered, in turn: all of them together as many as one may in a turn. */
  goOn(): void {
    const connections = this.#unfinished;
    if (connections.length === 0) return;
    this.#unfinished = [];
    const { reads, config } = this.#parts;
    const end = reads.workCount + config.setWatchesWorkPerTurn;
    const share = Math.ceil(config.setWatchesWorkPerTurn / connections.length);
    for (const [i, connection] of connections.entries()) {
      const left = end - reads.workCount;
      if (left <= 0) {
        // Those that had none go first in the next turn.
        this.#unfinished = [...connections.slice(i), ...this.#unfinished];
        return;
      }
      this.#goOnWith(connection, Math.min(left, share));
    }
  }

  #goOnWith(connection: Connection, workMax: number): void {
    const { unfinished } = connection;
    if (unfinished === undefined || connection.phase !== "open") return;
    const { frame, receivedMs } = unfinished;
    const { tools, servingState, sinks } = this.#parts;
    const request = this.#request;
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
    this.#answered(connection, request, receivedMs);
  }

  /** Reads all paths before the first is taken: where one cannot be read, none is. @returns whether it is answered */
  #advance(connection: Connection, request: Request, progress: SetWatchesProgress, workMax: number): boolean {
    const { reads, servingState, tools } = this.#parts;
    const { requests } = tools;
    const workEnd = reads.workCount + workMax;
    requests.goToPart(progress.place);
    let isDone = false;
    if (!progress.isChecked && reads.checkSetWatches(requests, workMax)) {
      progress.isChecked = true;
      requests.rewindParts();
    }
    if (progress.isChecked && reads.workCount < workEnd) {
      isDone = reads.setWatches(connection, request, requests, servingState.visible, workEnd - reads.workCount);
    }
    if (!isDone) progress.place = requests.partsPlace();
    return isDone;
  }

  /** The role has ended, and its connections are closed. */
  clear(): void {
    this.#unfinished = [];
  }
}
