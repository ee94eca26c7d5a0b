import type { ServerId } from "@zooid/model";
import { CommitGate, NO_CONNECTION } from "./commit-gate.ts";
import type { Connection } from "./connection.ts";
import type { Session } from "./session-table.ts";
import type { Standing } from "./standing.ts";
import type { Asker } from "./txn-maker.ts";

/** Writes of this server's own, its clients' and those that it decides on by itself: each has its place in their order. */
export class OwnWrites {
  readonly gate: CommitGate = new CommitGate();
  readonly #standing: Standing;
  /** Reused: whoever makes the transaction keeps nothing of it. */
  readonly #asker: { -readonly [K in keyof Asker]: Asker[K] };

  constructor(sid: ServerId, standing: Standing) {
    this.#standing = standing;
    this.#asker = { sessionHigh: 0, sessionLow: 0, origin: sid, originSeq: 0, cxid: 0, op: 0 };
  }

  /** Gives a client's write its number. */
  issue(connection: Connection, xid: number, op: number, sizeBytes: number): number {
    connection.issued++;
    return this.gate.put(connection.ref, xid, op, this.#standing.nowMs, sizeBytes);
  }

  /** Gives a number to a write that nobody waits for. */
  issueForNobody(op: number): number {
    return this.gate.put(NO_CONNECTION, 0, op, this.#standing.nowMs, 0);
  }

  /** Who asks, until the next call. @param session undefined where it is this server itself */
  asker(session: Pick<Session, "idHigh" | "idLow"> | undefined, xid: number, op: number, sequence: number): Asker {
    const asker = this.#asker;
    asker.sessionHigh = session?.idHigh ?? 0;
    asker.sessionLow = session?.idLow ?? 0;
    asker.cxid = xid;
    asker.op = op;
    asker.originSeq = sequence;
    return asker;
  }
}
