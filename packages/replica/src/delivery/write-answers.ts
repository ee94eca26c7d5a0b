import type { DataTree } from "@zooid/data-tree";
import { type ConnectionRef, ErrorCode, OpCode, type ReplySink, type TxnOp, type Zxid } from "@zooid/model";

/** Answers writes from the transactions that they became, which were just applied. */
export class WriteAnswers {
  readonly #tree: DataTree;
  readonly #replies: ReplySink;

  constructor(tree: DataTree, replies: ReplySink) {
    this.#tree = tree;
    this.#replies = replies;
  }

  /** @param node what {@link DataTree.apply} returned */
  answer(to: ConnectionRef, xid: number, zxid: Zxid, op: TxnOp, node: number): void {
    const replies = this.#replies;
    switch (op.op) {
      case OpCode.CREATE:
        replies.path(to, xid, zxid, op.path);
        break;
      case OpCode.CREATE2:
      case OpCode.CREATE_CONTAINER:
      case OpCode.CREATE_TTL:
        replies.pathAndStat(to, xid, zxid, op.path, this.#tree.view(node));
        break;
      case OpCode.SET_DATA:
      case OpCode.SET_ACL:
        replies.stat(to, xid, zxid, this.#tree.view(node));
        break;
      case OpCode.ERROR:
        replies.header(to, xid, zxid, op.code);
        break;
      default:
        replies.header(to, xid, zxid, ErrorCode.OK);
    }
  }

  part(to: ConnectionRef, op: TxnOp, node: number): void {
    const replies = this.#replies;
    switch (op.op) {
      case OpCode.CREATE:
        replies.partPath(to, op.path);
        break;
      case OpCode.CREATE2:
      case OpCode.CREATE_CONTAINER:
      case OpCode.CREATE_TTL:
        replies.partPathAndStat(to, op.path, this.#tree.view(node));
        break;
      case OpCode.SET_DATA:
        replies.partStat(to, this.#tree.view(node));
        break;
      default:
        replies.partEmpty(to, op.op);
    }
  }

  /** Of a failed multi every part is an error: 0 before the one that failed, its own code, "inconsistent" behind it. */
  refusedParts(to: ConnectionRef, op: TxnOp): void {
    for (let i = 0; i < op.opCount; i++) {
      const code = i < op.failedIndex ? ErrorCode.OK : i === op.failedIndex ? op.code : ErrorCode.RUNTIME_INCONSISTENCY;
      this.#replies.partError(to, code);
    }
  }
}
