import {
  errorName,
  OpCode,
  type OpName,
  opName,
  type SessionId,
  sessionIdFromHalves,
  sliceText,
  type TxnHeader,
  type TxnOp,
  type Zxid,
} from "@zooid/model";
import { type Observable, Subject } from "rxjs";

/** One committed change of one znode or session. */
export interface Change {
  readonly zxid: Zxid;
  /** Who asked; 0 for the server itself. */
  readonly session: SessionId;
  readonly timeMs: number;
  readonly op: OpName;
  /** Empty for sessions. */
  readonly path: string;
  /** Why it was refused, for an op that has no effect. */
  readonly error: string | undefined;
}

/** Gathers what a turn committed and emits it once, at the turn's end; costs nothing while nobody listens. */
export class ChangeRecorder {
  readonly #changes = new Subject<readonly Change[]>();
  #turn: Change[] = [];
  readonly changes$: Observable<readonly Change[]> = this.#changes.asObservable();

  applied(header: Readonly<TxnHeader>, op: Readonly<TxnOp>): void {
    if (!this.#changes.observed) return;
    this.#turn.push({
      zxid: header.zxid,
      session: sessionIdFromHalves(header.sessionHigh, header.sessionLow),
      timeMs: header.timeMs,
      op: opName(op.op) ?? "ERROR",
      path: sliceText(op.path),
      error: op.op === OpCode.ERROR ? errorName(op.code) : undefined,
    });
  }

  flush(): void {
    if (this.#turn.length === 0) return;
    const turn = this.#turn;
    this.#turn = [];
    this.#changes.next(turn);
  }

  complete(): void {
    this.#changes.complete();
  }
}
