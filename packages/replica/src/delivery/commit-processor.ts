import type { WatchSink } from "@zooid/data-tree";
import { copyBytes, newTxnHeader, newTxnOp, OpCode, PRICES, type TxnHeader, type TxnOp, type Zxid } from "@zooid/model";
import type { CommittedEntries } from "@zooid/zab";
import type { Connection } from "../connections/connection.ts";
import type { RequestParts } from "../parts/requests.ts";
import { pathWork } from "../path-work.ts";
import { NO_CONNECTION } from "../writes/in-flight-writes.ts";
import { WriteAnswers } from "./write-answers.ts";

const { appliedOpUs, appliedBytesPerUsLog2, pathOfWriteTimes, firedWatchUs } = PRICES;
const KEPT_BYTES_MIN = 4096;
/** A larger buffer is replaced with the next transaction. */
const KEPT_BYTES_MAX = 256 * 1024;

/**
 * Applies committed transactions to the tree, fires their watches, and answers the clients of this
 * server that wait for them.
 *
 * A transaction of many ops, or with many watchers, is applied in several turns. Until it is
 * complete reads wait (`ServingState.isApplying`), so that no client sees a part of it, and no
 * other transaction is applied. Writes are prepared meanwhile: the nodes of this transaction are
 * among the leader's pending changes until its end.
 */
export class CommitProcessor {
  readonly #parts: RequestParts;
  readonly #answers: WriteAnswers;
  readonly #firings: WatchSink;
  // Every transaction is decoded into these.
  readonly #header: TxnHeader = newTxnHeader();
  readonly #op: TxnOp = newTxnOp();
  /** Work of this turn: ops, and the notifications that they fired. */
  #work = 0;
  /** The connection that waits for the open transaction, if it is one of this server's. */
  #connection: Connection | undefined;
  #kept: Buffer = Buffer.allocUnsafeSlow(KEPT_BYTES_MIN);

  constructor(parts: RequestParts) {
    this.#parts = parts;
    this.#answers = new WriteAnswers(parts);
    const { notifications } = parts;
    this.#firings = {
      mayRead: (ref, acl) => {
        this.#work += firedWatchUs;
        return notifications.mayRead(ref, acl);
      },
      event: (ref, zxid, type, path) => notifications.event(ref, zxid, type, path),
    };
  }

  /**
   * Applies one entry of the log at start. @returns the leader's wall clock when it was prepared
   */
  replay(zxid: Zxid, bytes: Uint8Array, start: number, end: number): number {
    const { tools, tree } = this.#parts;
    const header = this.#header;
    tools.txns.open(bytes, start, end, header);
    header.zxid = zxid;
    // rule: one-function-applies
    while (tools.txns.next(this.#op)) tree.apply(header, this.#op, undefined);
    tree.finish(header);
    return header.timeMs;
  }

  /**
   * Applies a committed transaction, fires its watches, and answers the client that waits for it,
   * in this order.
   *
   * @returns false when the turn's work is done: {@link resume} applies the rest, if there is one
   */
  deliver(entry: CommittedEntries): boolean {
    const { tools, servingState } = this.#parts;
    // Its zxid is read from it where it is stored: as an argument it would be an object.
    const { bytes, start, end } = entry;
    const header = this.#header;
    this.#work += (end - start) >> appliedBytesPerUsLog2;
    tools.txns.open(bytes, start, end, header);
    if (header.op === OpCode.MULTI || header.op === OpCode.CLOSE_SESSION) {
      // It may take several turns, and the bytes are lent for this call.
      tools.txns.open(this.#keep(bytes, start, end), 0, end - start, header);
      // A multi may have no parts: then there is no last op, and none of an earlier transaction
      // counts.
      this.#op.op = header.op;
    }
    header.zxid = entry.zxid;
    this.#connection = this.#connectionThatWaits(header);
    this.#answers.begin();
    servingState.isApplying = true;
    return this.#advance();
  }

  /**
   * A new turn: applies the rest of a transaction. False when the work of this turn is done, too.
   */
  resume(): boolean {
    this.#work = 0;
    return !this.#parts.servingState.isApplying || this.#advance();
  }

  /** Whether the work of this turn is done. */
  get isSpent(): boolean {
    return this.#work >= this.#parts.config.applyWorkPerTurn;
  }

  /** The role ends: applies the rest of a transaction at once. */
  complete(): void {
    while (this.#parts.servingState.isApplying) this.resume();
  }

  /** Its requests before this write, which wait for nothing else, are answered first. */
  #connectionThatWaits(header: TxnHeader): Connection | undefined {
    const { config, connections, inFlightWrites, syncs, waiting } = this.#parts;
    if (header.origin !== config.sid) return undefined;
    // No client waits for a write of an earlier role of this server.
    if (!inFlightWrites.take(header.originSeq) || inFlightWrites.connection === NO_CONNECTION) return undefined;
    const connection = connections.get(inFlightWrites.connection);
    if (connection === undefined) return undefined;
    if (connection.oldestSync !== undefined) syncs.answerDueOf(connection);
    if (connection.isHeldBack) waiting.releaseNow(connection);
    return connection;
  }

  /** Copies the bytes into a buffer of this object. */
  #keep(bytes: Uint8Array, start: number, end: number): Uint8Array {
    if (this.#kept.length < end - start || this.#kept.length > KEPT_BYTES_MAX) {
      this.#kept = Buffer.allocUnsafeSlow(Math.max(KEPT_BYTES_MIN, end - start));
    }
    copyBytes(bytes, start, end, this.#kept, 0);
    return this.#kept;
  }

  /** Applies op by op until there are no more, or the work of this turn is done. */
  #advance(): boolean {
    const { config, tools, tree, sinks, servingState } = this.#parts;
    const { txns } = tools;
    const header = this.#header;
    const op = this.#op;
    const isMulti = header.op === OpCode.MULTI;
    let node = 0;
    while (txns.next(op)) {
      this.#work += appliedOpUs * Math.max(1, op.acl.length) + pathOfWriteTimes * pathWork(op.path);
      node = tree.apply(header, op, this.#firings);
      this.#work += tree.watches.takeWork();
      this.#noteListing();
      sinks.applied?.(header, op);
      if (isMulti && this.#connection !== undefined) this.#answers.part(this.#connection, header.zxid, op, node);
      if (this.#work >= config.applyWorkPerTurn && txns.hasNext) return false;
    }
    tree.finish(header);
    servingState.applied(header.zxid);
    servingState.isApplying = false;
    this.#finish(header, op, node);
    return this.#work < config.applyWorkPerTurn;
  }

  /**
   * Reports a node whose listing stock clients cannot read any more, once for each time that it
   * grows so large.
   */
  #noteListing(): void {
    const { tree, sinks } = this.#parts;
    const node = tree.takeGrownListing();
    if (node === 0) return;
    const [path, count, bytes] = [tree.pathOf(node), tree.childCount(node), tree.listingBytes(node)];
    sinks.note({ kind: "large-listing", path, count, bytes });
  }

  /** The transaction is applied completely; `op` is its last one. */
  #finish(header: TxnHeader, op: TxnOp, node: number): void {
    const { sessionEnds, digests, tree, counters, waiting, inFlightWrites } = this.#parts;
    const connection = this.#connection;
    this.#connection = undefined;
    if (header.op === OpCode.MULTI) {
      if (connection !== undefined) this.#answers.multi(connection, header.zxid, op);
    } else if (op.op === OpCode.CLOSE_SESSION) sessionEnds.ended(header, connection);
    else if (header.op === OpCode.CLOSE_SESSION && op.op !== OpCode.ERROR) sessionEnds.partlyEnded(header, connection);
    else if (connection !== undefined) this.#answers.single(connection, header.zxid, op, node);
    digests.note(header.zxid, tree);
    counters.committed();
    inFlightWrites.applied();
    waiting.answerMore();
    if (connection !== undefined) waiting.issuedAnswered(connection);
  }
}
