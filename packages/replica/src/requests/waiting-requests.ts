import { type Request, WireError } from "@zooid/model";
import type { ReplicaConfig } from "../config.ts";
import type { Admission } from "../connections/admission.ts";
import type { Connection } from "../connections/connection.ts";
import type { Connections } from "../connections/connections.ts";
import { type LocalReads, lookUpWork } from "../reads/local-reads.ts";
import type { ServingState } from "../serving-state.ts";
import type { ReplicaTools } from "../tools.ts";
import { WaitingFrames } from "./waiting-frames.ts";

/**
 * What a request that waits counts for, beside its own bytes and those of its answer. All that waits of a connection may have to be answered
 * in one moment, before the answer to its next write: so few requests wait that this takes some milliseconds.
 */
const WAITING_BYTES = 512;
/** The same for each unit of work that looking up its path takes. */
const WAITING_BYTES_PER_WORK = 256;
const FRAME_BYTES_PER_WORK_LOG2 = 12;

interface WaitingRequestsParts {
  readonly config: Pick<ReplicaConfig, "waitingAnswerBytesMax" | "releaseWorkPerTurn">;
  readonly tools: Pick<ReplicaTools, "requests">;
  readonly servingState: ServingState;
  readonly connections: Connections;
  readonly admission: Admission;
  readonly reads: LocalReads;
}

/** Answers a request whose turn has come. The frame is the one that the decoder has opened. */
export type Answer = (
  connection: Connection,
  request: Request,
  bytes: Uint8Array,
  start: number,
  end: number,
  receivedMs: number,
) => void;

/**
 * Requests that wait: for a write or sync of their connection before them, for the rest of a transaction that is applied in part, or for a
 * turn of their own. They are answered in the order of their connection, as much in one turn as `releaseWorkPerTurn` says, and all of
 * them before the next write of their connection is answered.
 */
export class WaitingRequests {
  readonly #parts: WaitingRequestsParts;
  readonly #answer: Answer;
  readonly #request: Request;
  #heldBack: Connection[] = [];
  #workLeft = 0;
  #workCount = 0;

  /** @param request what each request is read into */
  constructor(parts: WaitingRequestsParts, request: Request, answer: Answer) {
    this.#parts = parts;
    this.#request = request;
    this.#answer = answer;
  }

  /** What answering has cost so far, as `releaseWorkPerTurn` counts it. */
  get workCount(): number {
    return this.#workCount;
  }

  /** Keeps a request whose answer is small. */
  wait(connection: Connection, bytes: Uint8Array, start: number, end: number): void {
    this.#push(connection, WAITING_BYTES, bytes, start, end);
  }

  /** Keeps a read. What its answer will take is estimated, since all that waits for a write is answered in one moment. */
  waitToRead(connection: Connection, request: Request, bytes: Uint8Array, start: number, end: number): void {
    const { config, tools, reads } = this.#parts;
    let answerBytes = WAITING_BYTES + end - start;
    try {
      tools.requests.body(request);
      answerBytes += reads.answerBytes(connection, request) + lookUpWork(request) * WAITING_BYTES_PER_WORK;
    } catch (error) {
      if (!(error instanceof WireError)) throw error;
    }
    this.#push(connection, Math.min(answerBytes, config.waitingAnswerBytesMax), bytes, start, end);
  }

  #push(connection: Connection, answerBytes: number, bytes: Uint8Array, start: number, end: number): void {
    connection.waiting ??= new WaitingFrames();
    connection.waiting.push(connection.issued, this.#parts.servingState.nowMs, answerBytes, bytes, start, end);
  }

  /** What a connection reads waits for the rest of a transaction, or for the next turn. */
  holdBack(connection: Connection): void {
    if (connection.isHeldBack) return;
    connection.isHeldBack = true;
    this.#heldBack.push(connection);
  }

  /** Whether {@link goOn} has something to do. */
  get hasHeldBack(): boolean {
    return this.#heldBack.length > 0;
  }

  /** Answers what was held back, of all connections together as much as one may have in a turn. */
  goOn(): void {
    if (this.#heldBack.length === 0) return;
    const heldBack = this.#heldBack;
    this.#heldBack = [];
    this.#workLeft = this.#parts.config.releaseWorkPerTurn;
    for (const [i, connection] of heldBack.entries()) {
      if (this.#workLeft <= 0) {
        for (const later of heldBack.slice(i)) this.#heldBack.push(later);
        return;
      }
      connection.isHeldBack = false;
      if (!connection.gone) this.release(connection);
    }
  }

  /** A connection's oldest write or sync was answered: what stood behind it may go on. */
  issuedAnswered(connection: Connection): void {
    connection.answered++;
    if (connection.gone) {
      this.#parts.connections.forget(connection);
      return;
    }
    if (connection.unanswered === 0) connection.largestWriteBytes = 0;
    this.#workLeft = this.#parts.config.releaseWorkPerTurn;
    this.release(connection);
  }

  /** A write or sync of a connection that was held back is about to be answered: first comes what was asked before it. */
  releaseNow(connection: Connection): void {
    this.#workLeft = Number.POSITIVE_INFINITY;
    this.release(connection);
  }

  /** Answers what waits for nothing any more. */
  release(connection: Connection): void {
    const { tools, servingState, admission, reads } = this.#parts;
    const { waiting } = connection;
    const request = this.#request;
    while (waiting?.isDue(connection.answered) === true && connection.phase === "open") {
      if (connection.unfinished !== undefined) return;
      if (servingState.isApplying) {
        this.holdBack(connection);
        return;
      }
      if (this.#workLeft <= 0) {
        this.holdBack(connection);
        break;
      }
      waiting.take();
      const { bytes, start, end } = waiting;
      const workBefore = reads.workCount;
      tools.requests.open(bytes, start, end, request);
      this.#answer(connection, request, bytes, start, end, waiting.receivedMs);
      const work = 1 + ((end - start) >> FRAME_BYTES_PER_WORK_LOG2) + reads.workCount - workBefore;
      this.#workLeft -= work;
      this.#workCount += work;
    }
    admission.answered(connection);
  }

  /** The role has ended: no connection waits any more. */
  clear(): void {
    for (const connection of this.#heldBack) connection.isHeldBack = false;
    this.#heldBack = [];
  }
}
