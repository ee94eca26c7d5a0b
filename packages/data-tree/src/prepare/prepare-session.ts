import {
  assert,
  type ByteSlice,
  clearTxnOp,
  copyBytes,
  lastSlash,
  newTxnOp,
  OpCode,
  setSlice,
  type TxnOp,
} from "@zooid/model";
import { NO_NODE } from "../nodes/node-row.ts";
import { NO_SESSION } from "../sessions/session-table.ts";
import { parentEndOf } from "./path-bytes.ts";
import type { CloseLimits, PrepareContext } from "./prepare-context.ts";
import type { PrepareParts } from "./prepare-parts.ts";

/** The begin and the end of sessions become transactions here. */
export class SessionPreparer {
  readonly #parts: PrepareParts;
  readonly #closing: TxnOp = newTxnOp();

  constructor(parts: PrepareParts) {
    this.#parts = parts;
  }

  /** See {@link DataTree.prepareCreateSession}. */
  create(timeoutMs: number, passwordHash: Readonly<ByteSlice>, context: Readonly<PrepareContext>, op: TxnOp): void {
    const sessions = this.#parts.state.sessions;
    const row = sessions.findOrAdd(context.sessionHigh, context.sessionLow);
    assert(!sessions.isKnown(row), "a session that is created is not known yet");
    sessions.markCreating(row);
    clearTxnOp(op, OpCode.CREATE_SESSION);
    op.timeoutMs = timeoutMs;
    setSlice(op.passwordHash, passwordHash.bytes, passwordHash.start, passwordHash.end);
  }

  /** See {@link DataTree.prepareCloseSession}. */
  close(
    high: number,
    low: number,
    limits: CloseLimits,
    context: Readonly<PrepareContext>,
    emit: (op: Readonly<TxnOp>) => void,
  ): boolean {
    const { sessions, ephemerals, store } = this.#parts.state;
    const row = sessions.find(high, low);
    const isBegun = row !== NO_SESSION && sessions.isEnding(row);
    if (row !== NO_SESSION && sessions.isKnown(row)) sessions.markClosing(row);
    let count = 0;
    let bytes = 0;
    const hasRoom = (length: number): boolean =>
      count === 0 || (count < limits.opCountMax && bytes + length <= limits.pathBytesMax);
    let isWhole = true;
    for (let node = ephemerals.first(high, low); node !== NO_NODE; node = ephemerals.next(node)) {
      const length = store.pathLength(node);
      const path = this.#parts.scratch.of(length);
      store.writePath(node, path, length);
      const pending = this.#parts.pending.find(path, 0, length);
      // rule: an-end-removes-the-sessions-own-nodes
      if (pending !== undefined && (!pending.exists || pending.node !== store.id(node))) continue;
      isWhole = hasRoom(length);
      if (!isWhole) break;
      this.#closeNode(path, length, context, emit);
      count++;
      bytes += length;
    }
    // rule: ephemerals-in-flight-end-too
    for (; isWhole; count++) {
      const pending = this.#parts.pending.firstOwned(high, low);
      if (pending === undefined) break;
      const { length } = pending;
      isWhole = hasRoom(length);
      if (!isWhole) break;
      const path = this.#parts.scratch.of(length);
      copyBytes(pending.path, 0, length, path, 0);
      this.#closeNode(path, length, context, emit);
      bytes += length;
    }
    if (isWhole || !isBegun) {
      clearTxnOp(this.#closing, isWhole ? OpCode.CLOSE_SESSION : OpCode.BEGIN_CLOSE_SESSION);
      emit(this.#closing);
    }
    return isWhole;
  }

  #closeNode(
    path: Buffer,
    length: number,
    context: Readonly<PrepareContext>,
    emit: (op: Readonly<TxnOp>) => void,
  ): void {
    const op = this.#closing;
    clearTxnOp(op, OpCode.DELETE);
    setSlice(op.path, path, 0, length);
    const parentEnd = parentEndOf(0, lastSlash(path, 0, length));
    const parent = this.#parts.changes.change(path, 0, parentEnd, context.zxid);
    this.#parts.changes.recordDelete(op, parent, this.#parts.changes.change(path, 0, length, context.zxid));
    emit(op);
  }
}
