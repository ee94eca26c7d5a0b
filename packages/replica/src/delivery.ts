import type { DataTree, WatchSink } from "@zooid/data-tree";
import {
  ErrorCode,
  may,
  newTxnHeader,
  newTxnOp,
  OpCode,
  Permission,
  type ServerId,
  type TxnDecoder,
  type TxnHeader,
  type TxnOp,
  type Zxid,
} from "@zooid/model";
import type { AuthSchemes } from "./auth.ts";
import type { ClientRequests } from "./client-requests.ts";
import type { ClientSessions } from "./client-sessions.ts";
import { type CommitGate, NO_CONNECTION } from "./commit-gate.ts";
import type { Connection } from "./connection.ts";
import type { Connections } from "./connections.ts";
import type { Counters } from "./counters.ts";
import type { DigestHistory } from "./digest-history.ts";
import type { ReplicaSinks } from "./sinks.ts";
import type { Standing } from "./standing.ts";
import { WriteAnswers } from "./write-answers.ts";

interface DeliveryParts {
  readonly sid: ServerId;
  readonly txns: TxnDecoder;
  readonly sinks: ReplicaSinks;
  readonly tree: DataTree;
  readonly auth: AuthSchemes;
  readonly digests: DigestHistory;
  readonly standing: Standing;
  readonly connections: Connections;
  readonly counters: Counters;
  readonly gate: CommitGate;
  readonly sessions: ClientSessions;
  readonly requests: ClientRequests;
}

/** What is committed: applied to the tree, shown to watches, and answered where the client is this server's. */
export class Delivery {
  readonly #sid: ServerId;
  readonly #txns: TxnDecoder;
  readonly #sinks: ReplicaSinks;
  readonly #tree: DataTree;
  readonly #digests: DigestHistory;
  readonly #standing: Standing;
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

  constructor(parts: DeliveryParts) {
    const { auth, connections, sinks } = parts;
    this.#sid = parts.sid;
    this.#txns = parts.txns;
    this.#sinks = sinks;
    this.#tree = parts.tree;
    this.#digests = parts.digests;
    this.#standing = parts.standing;
    this.#connections = connections;
    this.#counters = parts.counters;
    this.#gate = parts.gate;
    this.#sessions = parts.sessions;
    this.#requests = parts.requests;
    this.#answers = new WriteAnswers(parts.tree, sinks.replies);
    this.#firings = {
      mayRead: (ref, acl) => {
        const connection = connections.get(ref);
        return connection !== undefined && may(auth.rules, connection.identities, acl, Permission.READ);
      },
      event: (ref, zxid, type, path) => sinks.replies.event(ref, zxid, type, path),
    };
  }

  /** Applies one entry of the log at start; nobody is answered. @returns the leader's wall clock when it was made */
  replay(zxid: Zxid, bytes: Uint8Array, start: number, end: number): number {
    const txns = this.#txns;
    const header = this.#header;
    txns.open(bytes, start, end, header);
    header.zxid = zxid;
    while (txns.next(this.#op)) this.#tree.apply(header, this.#op, undefined);
    this.#tree.finish(header);
    return header.timeMs;
  }

  /** Applies a committed transaction, fires its watches, and answers the client that waits for it, in this order. */
  deliver(zxid: Zxid, bytes: Uint8Array, start: number, end: number): void {
    const header = this.#header;
    const op = this.#op;
    this.#txns.open(bytes, start, end, header);
    header.zxid = zxid;
    const gate = this.#gate;
    let connection: Connection | undefined;
    if (header.origin === this.#sid) {
      // What an earlier role of this server was asked has nobody who waits for it.
      if (gate.take(header.originSeq) && gate.connection !== NO_CONNECTION) {
        connection = this.#connections.get(gate.connection);
      }
      this.#requests.answerSyncs();
    }
    if (header.op === OpCode.MULTI) this.#applyMulti(header, op, connection);
    else this.#applySimple(header, op, connection);
    this.#digests.note(zxid, this.#tree);
    this.#counters.values.commitCount++;
    if (connection !== undefined) this.#requests.issuedAnswered(connection);
  }

  #applySimple(header: TxnHeader, op: TxnOp, connection: Connection | undefined): void {
    const txns = this.#txns;
    let node = 0;
    while (txns.next(op)) {
      node = this.#tree.apply(header, op, this.#firings);
      this.#sinks.applied?.(header, op);
    }
    this.#tree.finish(header);
    this.#standing.applied(header.zxid);
    if (op.op === OpCode.CLOSE_SESSION) this.#sessions.ended(header, connection);
    else if (connection !== undefined) this.#answer(connection, header.zxid, op, node);
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

  #applyMulti(header: TxnHeader, op: TxnOp, connection: Connection | undefined): void {
    const { replies } = this.#sinks;
    const txns = this.#txns;
    const { xid, receivedMs } = this.#gate;
    const ref = connection?.ref;
    let isOpen = false;
    let isRefused = false;
    while (txns.next(op)) {
      const node = this.#tree.apply(header, op, this.#firings);
      this.#sinks.applied?.(header, op);
      if (op.op === OpCode.ERROR) {
        isRefused = true;
        break;
      }
      if (ref === undefined) continue;
      if (!isOpen) replies.multiBegin(ref, xid, header.zxid);
      isOpen = true;
      this.#answers.part(ref, op, node);
    }
    this.#tree.finish(header);
    this.#standing.applied(header.zxid);
    if (connection === undefined || ref === undefined) return;
    if (isRefused && op.code === ErrorCode.SESSION_MOVED) {
      this.#connections.close(connection);
      return;
    }
    if (isRefused && op.opCount === 0) {
      replies.header(ref, xid, header.zxid, op.code);
    } else {
      if (!isOpen) replies.multiBegin(ref, xid, header.zxid);
      if (isRefused) this.#answers.refusedParts(ref, op);
      replies.multiEnd(ref);
    }
    this.#counters.answered(connection, OpCode.MULTI, xid, header.zxid, receivedMs);
  }
}
