import { copyRange, type Request, type Zxid } from "@zooid/model";
import type { ZabPeer } from "@zooid/zab";
import type { ReplicaConfig } from "../config.ts";
import type { Connection } from "../connections/connection.ts";
import type { RequestForwarder } from "../forwarding/request-forwarder.ts";
import type { ServingState } from "../serving-state.ts";
import type { ReplicaTools } from "../tools.ts";
import type { TxnProposer } from "../writes/txn-proposer.ts";
import { type PendingSync, PendingSyncs } from "./pending-syncs.ts";
import type { Answer, WaitingRequests } from "./waiting-requests.ts";

const NOTHING = new Uint8Array(0);

interface ClientSyncsParts {
  readonly config: Pick<ReplicaConfig, "ensemble" | "releaseWorkPerTurn">;
  readonly tools: Pick<ReplicaTools, "requests">;
  readonly zab: ZabPeer;
  readonly servingState: ServingState;
  readonly proposer: TxnProposer;
  readonly forwarder: RequestForwarder;
}

/**
 * Syncs of this server's clients. The answer to one waits until this server has applied all that was on its way when it came, whoever asked
 * for that, by the word of a quorum. An ensemble of one needs nobody's word.
 */
export class ClientSyncs {
  readonly #parts: ClientSyncsParts;
  readonly #waiting: WaitingRequests;
  readonly #request: Request;
  readonly #answer: Answer;
  readonly #pending = new PendingSyncs();

  /** @param request what each request is read into */
  constructor(parts: ClientSyncsParts, waiting: WaitingRequests, request: Request, answer: Answer) {
    this.#parts = parts;
    this.#waiting = waiting;
    this.#request = request;
    this.#answer = answer;
  }

  /** Syncs that are not answered yet. */
  get count(): number {
    return this.#pending.count;
  }

  /** The frame is the one that the decoder has opened. */
  sync(connection: Connection, request: Request, bytes: Uint8Array, start: number, end: number): void {
    const { config, servingState, zab, proposer, forwarder } = this.#parts;
    const { isLeading, visible, nowMs } = servingState;
    const isAlone = config.ensemble === undefined;
    if (isAlone && !connection.mustWait && proposer.prepared <= visible) {
      this.#answer(connection, request, bytes, start, end, nowMs);
      return;
    }
    connection.issued++;
    connection.syncBytes += end - start;
    const sequence = this.#pending.push({
      connection,
      frame: copyRange(bytes, start, end),
      receivedMs: nowMs,
      round: isLeading && !isAlone ? zab.checkLeadership() : 0,
      readAt: isLeading ? proposer.prepared : undefined,
    });
    if (!isLeading) forwarder.ask({ kind: "sync", sequence });
  }

  /** The leader's word on a sync. */
  replied(sequence: number, readAt: Zxid): void {
    this.#pending.replied(sequence, readAt);
    this.answerDue();
  }

  /** A quorum has said that this server still led when a round began. */
  confirmed(round: number): void {
    this.#pending.confirmed(round);
    this.answerDue();
  }

  /** Whether {@link answerDue} has something to do. */
  get hasDue(): boolean {
    return this.#pending.hasDue(this.#parts.servingState.visible);
  }

  /** Answers syncs whose moment has come, with what waited behind them, as much as `releaseWorkPerTurn` says. */
  answerDue(): void {
    const { servingState, config } = this.#parts;
    // What was asked before them waits for the rest of the transaction.
    if (servingState.isApplying) return;
    const workEnd = this.#waiting.workCount + config.releaseWorkPerTurn;
    for (let count = 0; this.#waiting.workCount + count < workEnd; count++) {
      const due = this.#pending.takeDue(servingState.visible);
      if (due === undefined) return;
      this.#answerOne(due);
    }
  }

  /** A write of a connection is about to be answered: first come the syncs that it asked for before. */
  answerDueOf(connection: Connection): void {
    const { visible } = this.#parts.servingState;
    for (;;) {
      const due = this.#pending.takeDueOf(connection, visible);
      if (due === undefined) return;
      this.#answerOne(due);
    }
  }

  #answerOne(due: PendingSync): void {
    const { connection, frame, receivedMs } = due;
    due.frame = NOTHING;
    if (connection.isHeldBack) this.#waiting.releaseNow(connection);
    if (connection.phase === "open") {
      this.#parts.tools.requests.open(frame, 0, frame.length, this.#request);
      this.#answer(connection, this.#request, frame, 0, frame.length, receivedMs);
    }
    connection.syncBytes -= frame.length;
    this.#waiting.issuedAnswered(connection);
  }

  /** The role has ended, and with it what was asked of the leader. */
  clear(): void {
    this.#pending.clear();
  }
}
