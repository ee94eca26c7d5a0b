import type { TxnHeader, TxnOp } from "@zooid/model";
import type { DeliveryParts } from "../parts/delivery.ts";

/**
 * Serves the tree of another system's ensemble, which this server follows, to clients that accept
 * read-only service. Transactions are applied as they come; their watches fire.
 */
export class FollowedTransactions {
  readonly #parts: DeliveryParts;

  constructor(parts: DeliveryParts) {
    this.#parts = parts;
  }

  /**
   * There is a state to read.
   *
   * @param bootCount makes session ids differ from those of other starts
   */
  begin(bootCount: number): void {
    const { sessionCreation, servingState, tree } = this.#parts;
    sessionCreation.startAmongOthers(bootCount);
    servingState.serveReadOnly(tree.applied);
  }

  /** Another state comes: clients are disconnected, and read again behind {@link begin}. */
  end(): void {
    const { connections, servingState } = this.#parts;
    servingState.isReadOnly = false;
    connections.disconnectAll();
  }

  /** Applies one op of a transaction. Until {@link finish} no client reads the tree. */
  apply(header: TxnHeader, op: Readonly<TxnOp>): number {
    const { servingState, notifications, tree } = this.#parts;
    servingState.isApplying = true;
    const node = tree.apply(header, op, notifications);
    tree.watches.takeWork();
    return node;
  }

  /** The transaction is whole. */
  finish(header: TxnHeader): void {
    const { servingState, tree, digests, waiting } = this.#parts;
    tree.finish(header);
    servingState.applied(header.zxid);
    servingState.isApplying = false;
    digests.note(header.zxid, tree);
    waiting.answerMore();
  }
}
