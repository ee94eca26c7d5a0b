import { copyRange, type Request } from "@zooid/model";
import type { ReplicaConfig } from "./config.ts";
import type { Connection } from "./connection.ts";
import type { LocalReads } from "./local-reads.ts";
import type { Standing } from "./standing.ts";
import type { ReplicaTools } from "./tools.ts";

interface SetWatchesParts {
  readonly config: Pick<ReplicaConfig, "setWatchesWorkPerTurn">;
  readonly tools: Pick<ReplicaTools, "requests">;
  readonly standing: Standing;
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

  /** Takes the first paths of a setWatches whose body was read. False when there are more, and it is not answered yet. */
  begin(
    connection: Connection,
    request: Request,
    bytes: Uint8Array,
    start: number,
    end: number,
    receivedMs: number,
  ): boolean {
    const { config, tools, standing, reads } = this.#parts;
    const { requests } = tools;
    const workMax = config.setWatchesWorkPerTurn - reads.checkSetWatches(requests);
    if (!standing.isApplying && reads.setWatches(connection, request, requests, standing.visible, workMax)) {
      return true;
    }
    connection.unfinished = { frame: copyRange(bytes, start, end), receivedMs, place: requests.partsPlace() };
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
    const { frame, receivedMs, place } = unfinished;
    const { tools, standing, reads } = this.#parts;
    const { requests } = tools;
    const request = this.#request;
    requests.open(frame, 0, frame.length, request);
    requests.body(request);
    requests.goToPart(place);
    if (!reads.setWatches(connection, request, requests, standing.visible, workMax)) {
      unfinished.place = requests.partsPlace();
      this.#unfinished.push(connection);
      return;
    }
    connection.unfinished = undefined;
    this.#answered(connection, request, receivedMs);
  }

  /** The role has ended, and its connections are closed. */
  clear(): void {
    this.#unfinished = [];
  }
}
