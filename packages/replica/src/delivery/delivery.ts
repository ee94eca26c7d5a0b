import type { DataTree, WatchSink } from "@zooid/data-tree";
import {
  copyBytes,
  ErrorCode,
  newTxnHeader,
  newTxnOp,
  OpCode,
  type ServerId,
  type TxnDecoder,
  type TxnHeader,
  type TxnOp,
  type Zxid,
} from "@zooid/model";
import type { Connection } from "../connections/connection.ts";
import type { Connections } from "../connections/connections.ts";
import type { Counters } from "../counters.ts";
import type { ClientRequests } from "../requests/client-requests.ts";
import { pathWork } from "../requests/path-work.ts";
import type { ServingState } from "../serving-state.ts";
import type { ClientSessions } from "../sessions/client-sessions.ts";
import type { ReplicaSinks } from "../sinks.ts";
import { type CommitGate, NO_CONNECTION } from "../writes/commit-gate.ts";
import type { DigestHistory } from "./digest-history.ts";
import { WriteAnswers } from "./write-answers.ts";

/** What applying an op counts, and each entry of its access list but the first, where firing one watch counts 1. */
const OP_WORK = 2;
const BYTES_PER_WORK_LOG2 = 10;
const KEPT_BYTES_MIN = 4096;
/** A larger buffer is given up with the next transaction. */
const KEPT_BYTES_MAX = 256 * 1024;

interface DeliveryParts {
  readonly sid: ServerId;
  /** See `ReplicaConfig`. */
  readonly applyWorkPerTurn: number;
  /** Where notifications of watches go. */
  readonly notifications: WatchSink;
  readonly txns: TxnDecoder;
  readonly sinks: ReplicaSinks;
  readonly tree: DataTree;
  readonly digests: DigestHistory;
  readonly servingState: ServingState;
  readonly connections: Connections;
  readonly counters: Counters;
  readonly gate: CommitGate;
  readonly sessions: ClientSessions;
  readonly requests: ClientRequests;
}

/**
 * What is committed: applied to the tree, shown to watches, and answered where the client is this server's.
 *
 * A transaction of many ops, or one that many watch, is applied in several turns. Until it is applied as a whole reads wait
 * (`ServingState.isApplying`), so that it is seen as a whole, and no other transaction is applied. Writes are prepared meanwhile: what this one
 * touches is in the leader's pending changes until its end.
 */
export class Delivery {
  readonly #sid: ServerId;
  readonly #txns: TxnDecoder;
  readonly #sinks: ReplicaSinks;
  readonly #tree: DataTree;
  readonly #digests: DigestHistory;
  readonly #servingState: ServingState;
  readonly #connections: Connections;
  readonly #counters: Counters;
  readonly #gate: CommitGate;
  readonly #sessions: ClientSessions;
  readonly #requests: ClientRequests;
  readonly #answers: WriteAnswers;
  readonly #firings: WatchSink;
  // Structures that every transaction is read into.
  readonly #header: TxnHeader = newTxnHeader();
  readonly #op: TxnOp = newTxnOp();
  readonly #workMax: number;
  /** What was applied in this turn: ops, and the notifications that they fired. */
  #work = 0;
  /** Whose request the open transaction is, where it is one of this server's clients'. */
  #connection: Connection | undefined;
  #isAnswerOpen = false;
  #kept: Buffer = Buffer.allocUnsafeSlow(KEPT_BYTES_MIN);

  constructor(parts: DeliveryParts) {
    const { connections, sinks } = parts;
    this.#sid = parts.sid;
    this.#txns = parts.txns;
    this.#sinks = sinks;
    this.#tree = parts.tree;
    this.#digests = parts.digests;
    this.#servingState = parts.servingState;
    this.#connections = connections;
    this.#counters = parts.counters;
    this.#gate = parts.gate;
    this.#sessions = parts.sessions;
    this.#requests = parts.requests;
    this.#answers = new WriteAnswers(parts.tree, sinks.replies);
    this.#workMax = parts.applyWorkPerTurn;
    this.#firings = {
      mayRead: (ref, acl) => {
        this.#work++;
        return parts.notifications.mayRead(ref, acl);
      },
      event: (ref, zxid, type, path) => parts.notifications.event(ref, zxid, type, path),
    };
  }

  /** Applies one entry of the log at start; nobody is answered. @returns the leader's wall clock when it was made */
  replay(zxid: Zxid, bytes: Uint8Array, start: number, end: number): number {
    const txns = this.#txns;
    const header = this.#header;
    txns.open(bytes, start, end, header);
    header.zxid = zxid;
    // rule: one-function-applies
    while (txns.next(this.#op)) this.#tree.apply(header, this.#op, undefined);
    this.#tree.finish(header);
    return header.timeMs;
  }

  /**
   * Applies a committed transaction, fires its watches, and answers the client that waits for it, in this order.
   *
   * @returns false when the turn's work is done: the rest of the transaction, if there is one, is applied by {@link resume}
   */
  deliver(zxid: Zxid, bytes: Uint8Array, start: number, end: number): boolean {
    const header = this.#header;
    this.#work += (end - start) >> BYTES_PER_WORK_LOG2;
    this.#txns.open(bytes, start, end, header);
    if (header.op === OpCode.MULTI || header.op === OpCode.CLOSE_SESSION) {
      // It may be applied in several turns, and the bytes are lent for this call.
      this.#txns.open(this.#keep(bytes, start, end), 0, end - start, header);
      // A multi may have no parts: its last op is not that of an earlier transaction.
      this.#op.op = header.op;
    }
    header.zxid = zxid;
    const gate = this.#gate;
    this.#connection = undefined;
    if (header.origin === this.#sid) {
      // What an earlier role of this server was asked has nobody who waits for it.
      if (gate.take(header.originSeq) && gate.connection !== NO_CONNECTION) {
        this.#connection = this.#connections.get(gate.connection);
      }
      if (this.#connection !== undefined) this.#requests.answerSyncsOf(this.#connection);
      if (this.#connection?.isHeldBack === true) this.#requests.releaseNow(this.#connection);
    }
    this.#isAnswerOpen = false;
    this.#servingState.isApplying = true;
    return this.#apply();
  }

  /** A new turn: applies the rest of a transaction that is applied in part. False when this turn's work is done, too. */
  resume(): boolean {
    this.#work = 0;
    return !this.#servingState.isApplying || this.#apply();
  }

  /** Whether this turn's work is done. */
  get isSpent(): boolean {
    return this.#work >= this.#workMax;
  }

  /** Applies the rest of a transaction that is applied in part, whatever it takes: the role ends. */
  complete(): void {
    while (this.#servingState.isApplying) this.resume();
  }

  /** The bytes, in a buffer of this object's own. */
  #keep(bytes: Uint8Array, start: number, end: number): Uint8Array {
    if (this.#kept.length < end - start || this.#kept.length > KEPT_BYTES_MAX) {
      this.#kept = Buffer.allocUnsafeSlow(Math.max(KEPT_BYTES_MIN, end - start));
    }
    copyBytes(bytes, start, end, this.#kept, 0);
    return this.#kept;
  }

  /** Applies op by op until there are no more, or the turn's work is done. */
  #apply(): boolean {
    const txns = this.#txns;
    const header = this.#header;
    const op = this.#op;
    const isMulti = header.op === OpCode.MULTI;
    let node = 0;
    while (txns.next(op)) {
      this.#work += OP_WORK * Math.max(1, op.acl.length) + 2 * pathWork(op.path);
      node = this.#tree.apply(header, op, this.#firings);
      this.#sinks.applied?.(header, op);
      if (isMulti) this.#answerPart(header.zxid, op, node);
      if (this.#work >= this.#workMax && txns.hasNext) return false;
    }
    this.#tree.finish(header);
    this.#servingState.applied(header.zxid);
    this.#servingState.isApplying = false;
    this.#finish(header, op, node);
    return this.#work < this.#workMax;
  }

  /** The transaction is applied as a whole, and its last op is known. */
  #finish(header: TxnHeader, op: TxnOp, node: number): void {
    const connection = this.#connection;
    this.#connection = undefined;
    if (header.op === OpCode.MULTI) {
      if (connection !== undefined) this.#answerMulti(connection, header.zxid, op);
    } else if (op.op === OpCode.CLOSE_SESSION) this.#sessions.ended(header, connection);
    else if (header.op === OpCode.CLOSE_SESSION && op.op !== OpCode.ERROR) {
      this.#sessions.partlyEnded(header, connection);
    } else if (connection !== undefined) this.#answer(connection, header.zxid, op, node);
    this.#digests.note(header.zxid, this.#tree);
    this.#counters.values.commitCount++;
    this.#requests.applied();
    if (connection !== undefined) this.#requests.issuedAnswered(connection);
  }

  #answer(connection: Connection, zxid: Zxid, op: TxnOp, node: number): void {
    const { xid, receivedMs } = this.#gate;
    if (op.op === OpCode.CREATE_SESSION) {
      this.#sessions.created(connection, op.timeoutMs);
      this.#counters.answered(connection, this.#gate.op, -1, zxid, receivedMs);
      return;
    }
    if (op.op === OpCode.ERROR && op.code === ErrorCode.SESSION_MOVED) {
      // The client is elsewhere: it must not take this for an answer.
      this.#connections.close(connection);
      return;
    }
    this.#answers.answer(connection.ref, xid, zxid, op, node);
    this.#counters.answered(connection, this.#gate.op, xid, zxid, receivedMs);
  }

  /** One op of a multi was applied. The answer's end is {@link #answerMulti}. */
  #answerPart(zxid: Zxid, op: TxnOp, node: number): void {
    if (this.#connection === undefined || op.op === OpCode.ERROR) return;
    const { ref } = this.#connection;
    if (!this.#isAnswerOpen) this.#sinks.replies.multiBegin(ref, this.#gate.xid, zxid);
    this.#isAnswerOpen = true;
    this.#answers.part(ref, op, node);
  }

  /** @param op the multi's last op: the error, where it was refused */
  #answerMulti(connection: Connection, zxid: Zxid, op: TxnOp): void {
    const { replies } = this.#sinks;
    const { xid, receivedMs } = this.#gate;
    const { ref } = connection;
    const isRefused = op.op === OpCode.ERROR;
    if (isRefused && op.code === ErrorCode.SESSION_MOVED) {
      this.#connections.close(connection);
      return;
    }
    if (isRefused && op.opCount === 0) replies.header(ref, xid, zxid, op.code);
    else {
      if (!this.#isAnswerOpen) replies.multiBegin(ref, xid, zxid);
      if (isRefused) this.#answers.refusedParts(ref, op);
      replies.multiEnd(ref);
    }
    this.#counters.answered(connection, OpCode.MULTI, xid, zxid, receivedMs);
  }
}
