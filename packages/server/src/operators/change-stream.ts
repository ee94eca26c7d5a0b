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
  /** The requesting session; 0 for the server itself. */
  readonly session: SessionId;
  readonly timeMs: number;
  readonly op: OpName;
  /** Empty for sessions. */
  readonly path: string;
  /** The error code of an op that was refused. */
  readonly error: string | undefined;
}

/**
 * Collects the changes that a turn committed and emits them once, at the turn's end; it costs
 * nothing while the stream has no subscriber.
 */
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

  /** Whether {@link publish} has something to do. */
  get hasChanges(): boolean {
    return this.#turn.length > 0;
  }

  /** The end of a turn. */
  publish(): void {
    const turn = this.#turn;
    this.#turn = [];
    this.#changes.next(turn);
  }

  complete(): void {
    this.#changes.complete();
  }
}
