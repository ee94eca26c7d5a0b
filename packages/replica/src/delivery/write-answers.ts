import { type ConnectionRef, ErrorCode, OpCode, type TxnOp, type Zxid } from "@zooid/model";
import type { Connection } from "../connections/connection.ts";
import type { SessionParts } from "../parts/sessions.ts";

/**
 * Answers the write that was just taken from `InFlightWrites`, from its applied transaction. A
 * write that was refused because its session has moved is not answered: its connection is closed,
 * for the client is connected to another server.
 */
export class WriteAnswers {
  readonly #parts: SessionParts;
  /** The answer to a multi is begun. */
  #isMultiOpen = false;

  constructor(parts: SessionParts) {
    this.#parts = parts;
  }

  /** A transaction begins. */
  begin(): void {
    this.#isMultiOpen = false;
  }

  /** @param node the result of `DataTree.apply` */
  single(connection: Connection, zxid: Zxid, op: TxnOp, node: number): void {
    const { inFlightWrites, sessionCreation, counters, connections } = this.#parts;
    const { xid, receivedMs } = inFlightWrites;
    if (op.op === OpCode.CREATE_SESSION) {
      sessionCreation.created(connection, op.timeoutMs);
      counters.answered(connection, inFlightWrites.op, -1, zxid, receivedMs);
      return;
    }
    if (op.op === OpCode.ERROR && op.code === ErrorCode.SESSION_MOVED) {
      connections.close(connection);
      return;
    }
    this.#answer(connection.ref, xid, zxid, op, node);
    const path = op.op === OpCode.ERROR ? undefined : op.path;
    counters.answered(connection, inFlightWrites.op, xid, zxid, receivedMs, path);
  }

  #answer(to: ConnectionRef, xid: number, zxid: Zxid, op: TxnOp, node: number): void {
    const { inFlightWrites, sinks, tree } = this.#parts;
    const { replies } = sinks;
    switch (op.op) {
      case OpCode.CREATE:
        replies.path(to, xid, zxid, op.path);
        break;
      case OpCode.CREATE2:
      case OpCode.CREATE_CONTAINER:
      case OpCode.CREATE_TTL:
        replies.pathAndStat(to, xid, zxid, op.path, tree.view(node));
        break;
      case OpCode.SET_DATA:
      case OpCode.SET_ACL:
        if (inFlightWrites.op === OpCode.RECONFIG) replies.data(to, xid, zxid, tree.view(node));
        else replies.stat(to, xid, zxid, tree.view(node));
        break;
      case OpCode.ERROR:
        replies.header(to, xid, zxid, op.code);
        break;
      default:
        replies.header(to, xid, zxid, ErrorCode.OK);
    }
  }

  /** An op of a multi was applied. {@link multi} ends the answer. */
  part({ ref }: Connection, zxid: Zxid, op: TxnOp, node: number): void {
    if (op.op === OpCode.ERROR) return;
    const { inFlightWrites, sinks, tree } = this.#parts;
    const { replies } = sinks;
    if (!this.#isMultiOpen) replies.multiBegin(ref, inFlightWrites.xid, zxid);
    this.#isMultiOpen = true;
    switch (op.op) {
      case OpCode.CREATE:
        replies.partPath(ref, op.path);
        break;
      case OpCode.CREATE2:
      case OpCode.CREATE_CONTAINER:
      case OpCode.CREATE_TTL:
        replies.partPathAndStat(ref, op.path, tree.view(node));
        break;
      case OpCode.SET_DATA:
        replies.partStat(ref, tree.view(node));
        break;
      default:
        replies.partEmpty(ref, op.op);
    }
  }

  /** @param op the multi's last op: the error, where it was refused */
  multi(connection: Connection, zxid: Zxid, op: TxnOp): void {
    const { inFlightWrites, sinks, counters, connections } = this.#parts;
    const { replies } = sinks;
    const { xid, receivedMs } = inFlightWrites;
    const { ref } = connection;
    const isRefused = op.op === OpCode.ERROR;
    if (isRefused && op.code === ErrorCode.SESSION_MOVED) {
      connections.close(connection);
      return;
    }
    if (isRefused && op.opCount === 0) replies.header(ref, xid, zxid, op.code);
    else {
      if (!this.#isMultiOpen) replies.multiBegin(ref, xid, zxid);
      if (isRefused) this.#refusedParts(ref, op);
      replies.multiEnd(ref);
    }
    counters.answered(connection, OpCode.MULTI, xid, zxid, receivedMs);
  }

  /** OK before the part that failed, its own code there, "inconsistent" after it. */
  #refusedParts(to: ConnectionRef, op: TxnOp): void {
    for (let i = 0; i < op.opCount; i++) {
      const code = i < op.failedIndex ? ErrorCode.OK : i === op.failedIndex ? op.code : ErrorCode.RUNTIME_INCONSISTENCY;
      this.#parts.sinks.replies.partError(to, code);
    }
  }
}
