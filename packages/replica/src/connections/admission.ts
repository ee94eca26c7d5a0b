import type { ConnectionRef, TxnBatcher } from "@zooid/model";
import type { ZabPeer } from "@zooid/zab";
import type { ReplicaConfig } from "../config.ts";
import type { CommitGate } from "../writes/commit-gate.ts";
import type { TxnProposer } from "../writes/txn-proposer.ts";
import type { Connection } from "./connection.ts";

/** What {@link Admission} looks at: where writes are on their way. */
interface WritesUnderWay {
  readonly zab: ZabPeer;
  readonly batcher: TxnBatcher;
  readonly gate: CommitGate;
  readonly proposer: TxnProposer;
}

/** Whether there is room for more: a connection that asks for too much, or comes when too much is under way, is not read for a while. */
export class Admission {
  readonly #config: ReplicaConfig;
  readonly #zab: ZabPeer;
  readonly #batcher: TxnBatcher;
  readonly #gate: CommitGate;
  readonly #proposer: TxnProposer;
  readonly #resume: (connection: ConnectionRef) => void;
  readonly #stalled: Connection[] = [];

  /** @param resume called when a connection that was not admitted may be read again */
  constructor(
    config: ReplicaConfig,
    { zab, batcher, gate, proposer }: WritesUnderWay,
    resume: (connection: ConnectionRef) => void,
  ) {
    this.#config = config;
    this.#zab = zab;
    this.#batcher = batcher;
    this.#gate = gate;
    this.#proposer = proposer;
    this.#resume = resume;
  }

  /** Whether no write of anybody has room. */
  get isFull(): boolean {
    const batcher = this.#batcher;
    return (
      this.#zab.isFull ||
      this.#zab.isExhausted ||
      batcher.sizeBytes >= this.#config.outstandingBytesMax ||
      batcher.count >= this.#config.outstandingCountMax ||
      this.#proposer.isFull ||
      this.#gate.count >= this.#config.outstandingCountMax ||
      this.#gate.sizeBytes >= this.#config.outstandingBytesMax
    );
  }

  /** Whether a connection may be read on. */
  admits(connection: Connection): boolean {
    if (connection.phase !== "open") return false;
    if (!this.isFull && this.#hasRoom(connection)) return true;
    if (!connection.stalled) {
      connection.stalled = true;
      this.#stalled.push(connection);
    }
    return false;
  }

  /** Something of a connection was answered. */
  answered(connection: Connection): void {
    if (connection.stalled && !this.isFull && this.#hasRoom(connection)) {
      connection.stalled = false;
      this.#resume(connection.ref);
    }
  }

  /** Writes have committed: lets those go on that waited for room. */
  committed(): void {
    if (this.#stalled.length > 0 && !this.isFull) this.#resumeStalled();
  }

  clear(): void {
    this.#stalled.length = 0;
  }

  #hasRoom(connection: Connection): boolean {
    return (
      connection.unfinished === undefined &&
      // Of what waits behind a multi that is being prepared, each connection has one request.
      !(connection.unanswered > 0 && this.#proposer.isPreparing) &&
      connection.inFlight < this.#config.inFlightCountMax &&
      // rule: waiting-answers-are-bounded
      (connection.waiting?.answerBytes ?? 0) < this.#config.waitingAnswerBytesMax &&
      (connection.waiting?.sizeBytes ?? 0) + connection.syncBytes < this.#config.inFlightBytesMax
    );
  }

  #resumeStalled(): void {
    const stalled = this.#stalled.splice(0);
    for (const connection of stalled) {
      if (!connection.stalled || connection.phase !== "open") continue;
      if (this.#hasRoom(connection)) {
        connection.stalled = false;
        this.#resume(connection.ref);
      } else {
        this.#stalled.push(connection);
      }
    }
  }
}
