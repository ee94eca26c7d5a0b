import { type ByteSlice, copySlice, type Request, setSlice, type Zxid } from "@zooid/model";
import type { Connection, PendingSync } from "../connections/connection.ts";
import type { SessionParts } from "../parts/sessions.ts";
import type { ClientRequests } from "./client-requests.ts";
import { PendingSyncs } from "./pending-syncs.ts";
import type { WaitingRequests } from "./waiting-requests.ts";

interface Parts extends SessionParts {
  readonly requests: ClientRequests;
  readonly waiting: WaitingRequests;
}

const NOTHING = new Uint8Array(0);

/**
 * Syncs of this server's clients. A sync is answered once this server has applied every transaction
 * that was prepared when the sync came, and a quorum has confirmed the leader since then. An
 * ensemble of one needs no confirmation. Why a leader asks a quorum:
 *
 * 1. The leader S1 is cut off from S2 and S3, which elect S2; S1 has not noticed yet.
 * 2. Client A writes at S2 and is answered. A client of S1 sends a sync and then a read.
 * 3. If S1 answered the sync without the leader, the read would miss A's write.
 *
 * S1 finds no quorum that confirms it, and its clients are disconnected when it notices.
 */
export class ClientSyncs {
  readonly #parts: Parts;
  readonly #pending = new PendingSyncs();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Syncs that are not answered. */
  get count(): number {
    return this.#pending.count;
  }

  /** The decoder has opened the frame into the request. */
  sync(connection: Connection, request: Request, frame: Readonly<ByteSlice>): void {
    const { config, requests, servingState, zab, proposer, forwarder } = this.#parts;
    const { isLeading, visible, nowMs } = servingState;
    const isAlone = config.ensemble === undefined;
    if (isAlone && !connection.mustWait && proposer.prepared <= visible) {
      requests.answer(connection, request, frame, nowMs);
      return;
    }
    connection.issued++;
    connection.syncBytes += frame.end - frame.start;
    const sequence = this.#pending.push({
      connection,
      frame: copySlice(frame),
      receivedMs: nowMs,
      check: isLeading && !isAlone ? zab.checkLeadership() : 0,
      readAt: isLeading ? proposer.prepared : undefined,
    });
    if (!isLeading) forwarder.send({ kind: "sync", sequence });
  }

  /** The leader answers a forwarded sync: this server must have applied everything up to a zxid. */
  replied(sequence: number, readAt: Zxid): void {
    // rule: a-sync-waits-for-what-was-committed
    this.#pending.replied(sequence, readAt);
    this.answerDue();
  }

  /** A quorum has confirmed that this server still led when a leadership check began. */
  confirmed(check: number): void {
    this.#pending.confirmed(check);
    this.answerDue();
  }

  /**
   * Answers due syncs and the requests behind them, as many as `releaseWorkPerTurn` allows.
   *
   * @returns whether more are due
   */
  answerDue(): boolean {
    const { servingState, config, waiting } = this.#parts;
    // Requests before them wait for the rest of the transaction.
    if (this.#pending.count === 0 || servingState.isApplying) return false;
    const workEnd = waiting.workCount + config.releaseWorkPerTurn;
    for (let count = 0; waiting.workCount + count < workEnd; count++) {
      const due = this.#pending.takeDue(servingState.visible);
      if (due === undefined) return false;
      this.#answer(due);
    }
    return this.#pending.hasDue(servingState.visible);
  }

  /** Answers the due syncs of a connection before a write of it is answered. */
  answerDueOf(connection: Connection): void {
    const { visible } = this.#parts.servingState;
    for (;;) {
      const due = this.#pending.takeDueOf(connection, visible);
      if (due === undefined) return;
      this.#answer(due);
    }
  }

  #answer(due: PendingSync): void {
    const { tools, frame, request, requests, waiting } = this.#parts;
    const { connection, frame: kept, receivedMs } = due;
    due.frame = NOTHING;
    if (connection.isHeldBack) waiting.releaseNow(connection);
    if (connection.phase === "open") {
      setSlice(frame, kept, 0, kept.length);
      tools.requests.open(kept, 0, kept.length, request);
      requests.answer(connection, request, frame, receivedMs);
    }
    connection.syncBytes -= kept.length;
    waiting.issuedAnswered(connection);
  }

  /** The role has ended, and with it the syncs that the leader was sent. */
  clear(): void {
    this.#pending.clear();
  }
}
