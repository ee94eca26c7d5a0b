import type { ServerId } from "@zooid/model";
import type { Connection } from "../connections/connection.ts";
import type { ServingState } from "../serving-state.ts";
import type { Session } from "../sessions/session-table.ts";
import { CommitGate, NO_CONNECTION } from "./commit-gate.ts";
import type { Requester } from "./txn-proposer.ts";

/** Writes of this server's own, its clients' and those that it decides on by itself: each has its place in their order. */
export class OwnWrites {
  readonly gate: CommitGate = new CommitGate();
  readonly #servingState: ServingState;
  /** Reused: whoever makes the transaction keeps nothing of it. */
  readonly #requester: { -readonly [K in keyof Requester]: Requester[K] };

  constructor(sid: ServerId, servingState: ServingState) {
    this.#servingState = servingState;
    this.#requester = { sessionHigh: 0, sessionLow: 0, origin: sid, originSeq: 0, cxid: 0, op: 0 };
  }

  /** Gives a client's write its number. */
  issue(connection: Connection, xid: number, op: number, sizeBytes: number): number {
    connection.issued++;
    return this.gate.put(connection.ref, xid, op, this.#servingState.nowMs, sizeBytes);
  }

  /** Gives a number to a write that nobody waits for. */
  issueForNobody(op: number): number {
    return this.gate.put(NO_CONNECTION, 0, op, this.#servingState.nowMs, 0);
  }

  /** Who asks, until the next call. @param session undefined where it is this server itself */
  requester(
    session: Pick<Session, "idHigh" | "idLow"> | undefined,
    xid: number,
    op: number,
    sequence: number,
  ): Requester {
    const requester = this.#requester;
    requester.sessionHigh = session?.idHigh ?? 0;
    requester.sessionLow = session?.idLow ?? 0;
    requester.cxid = xid;
    requester.op = op;
    requester.originSeq = sequence;
    return requester;
  }
}
