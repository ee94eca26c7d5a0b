import { type ByteSlice, type Request, WireError } from "@zooid/model";
import type { Admission } from "../connections/admission.ts";
import type { Connection } from "../connections/connection.ts";
import type { SessionParts } from "../parts/sessions.ts";
import { answerBytesOf } from "../reads/answer-size.ts";
import { lookUpWork } from "../reads/request-work.ts";
import type { ClientRequests } from "./client-requests.ts";
import { WaitingFrames } from "./waiting-frames.ts";

interface Parts extends SessionParts {
  readonly admission: Admission;
  readonly requests: ClientRequests;
}

/**
 * The bytes that a waiting request counts beside its own and those of its answer. All waiting
 * requests of a connection may have to be answered at once, before the answer to its next write:
 * the limit keeps that to some milliseconds.
 */
const WAITING_BYTES = 512;
/** The same for each unit of work that looking up its path takes. */
const WAITING_BYTES_PER_WORK = 256;
const FRAME_BYTES_PER_WORK_LOG2 = 12;

/**
 * Requests that wait: for a write or sync of their connection before them, for the rest of a
 * transaction that is applied in part, or for a later turn. They are answered in the order of their
 * connection, in one turn as many as `releaseWorkPerTurn` allows, and all of them before the next
 * write of their connection is answered.
 */
export class WaitingRequests {
  readonly #parts: Parts;
  #heldBack: Connection[] = [];
  #workLeft = 0;
  #workCount = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** The work of all answers so far, as `releaseWorkPerTurn` counts it. */
  get workCount(): number {
    return this.#workCount;
  }

  /** Keeps a request with a small answer. */
  wait(connection: Connection, frame: Readonly<ByteSlice>): void {
    this.#push(connection, WAITING_BYTES, frame);
  }

  /**
   * Keeps a read. The size of its answer is estimated: all reads behind a write are answered at
   * once.
   */
  waitToRead(connection: Connection, request: Request, frame: Readonly<ByteSlice>): void {
    const { config, tools, tree } = this.#parts;
    let answerBytes = WAITING_BYTES + frame.end - frame.start;
    try {
      tools.requests.body(request);
      answerBytes += answerBytesOf(tree, connection, request) + lookUpWork(request) * WAITING_BYTES_PER_WORK;
    } catch (error) {
      if (!(error instanceof WireError)) throw error;
    }
    this.#push(connection, Math.min(answerBytes, config.waitingAnswerBytesMax), frame);
  }

  #push(connection: Connection, answerBytes: number, frame: Readonly<ByteSlice>): void {
    connection.waiting ??= new WaitingFrames();
    connection.waiting.push(connection.issued, this.#parts.servingState.nowMs, answerBytes, frame);
  }

  /**
   * The waiting requests of a connection wait for the rest of a transaction, or for the next turn.
   */
  holdBack(connection: Connection): void {
    if (connection.isHeldBack) return;
    connection.isHeldBack = true;
    this.#heldBack.push(connection);
    this.#parts.postponed.mark();
  }

  /** Whether {@link answerMore} has something to do. */
  get hasHeldBack(): boolean {
    return this.#heldBack.length > 0;
  }

  /** Answers held back requests, of all connections together as many as one may have in a turn. */
  answerMore(): void {
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

  /** The oldest unanswered write or sync of a connection was answered: releases those behind it. */
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

  /** A write or sync of a connection is about to be answered: answers the requests before it. */
  releaseNow(connection: Connection): void {
    this.#workLeft = Number.POSITIVE_INFINITY;
    this.release(connection);
  }

  /** Answers the requests of a connection that wait for nothing any more. */
  release(connection: Connection): void {
    const { tools, servingState, admission, requestWork, frame, request, requests } = this.#parts;
    const { waiting } = connection;
    while (waiting?.isDue(connection.answered) === true && connection.phase === "open") {
      if (connection.unfinished !== undefined || connection.history === "read") return;
      if (servingState.isApplying) {
        this.holdBack(connection);
        return;
      }
      if (this.#workLeft <= 0) {
        this.holdBack(connection);
        break;
      }
      const receivedMs = waiting.take(frame);
      const { bytes, start, end } = frame;
      const workBefore = requestWork.count;
      tools.requests.open(bytes, start, end, request);
      requests.answer(connection, request, frame, receivedMs);
      const work = 1 + ((end - start) >> FRAME_BYTES_PER_WORK_LOG2) + requestWork.count - workBefore;
      this.#workLeft -= work;
      this.#workCount += work;
    }
    admission.answered(connection);
  }

  /** The role has ended: all connections are closed. */
  clear(): void {
    for (const connection of this.#heldBack) connection.isHeldBack = false;
    this.#heldBack = [];
  }
}
