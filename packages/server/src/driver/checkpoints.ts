import { OpCode, type TxnHeader, type TxnOp, ZXID_NONE, type Zxid } from "@zooid/model";
import { DataWrites } from "@zooid/txn-log";
import type { DriverGround } from "./driver-ground.ts";

/** Bytes of log, or entries, after which a checkpoint is due. */
const DUE_BYTES = 16 * 1024 * 1024;
const DUE_ENTRIES = 50_000;
/** Bytes of a small entry in the log. */
const ENTRY_BYTES = 64;

/** Counts the growth of the log, and lets the state file follow the tree. */
export class Checkpoints {
  readonly #parts: DriverGround;
  #last: Zxid = ZXID_NONE;
  #bytes = 0;
  #entryCount = 0;
  readonly #dataWrites = new DataWrites();

  constructor(parts: DriverGround) {
    this.#parts = parts;
  }

  /** The tree was loaded from the state file. */
  loaded(): void {
    this.#last = this.#parts.replica.tree.applied;
    this.#dataWrites.clear();
    this.#reset();
  }

  /** An op of a transaction was applied. */
  applied(header: Readonly<TxnHeader>, op: Readonly<TxnOp>): void {
    if (header.op === OpCode.SET_DATA && op.op === OpCode.SET_DATA) this.#dataWrites.add(header.zxid, op.node);
  }

  /** Bytes were appended to the log. */
  appended(bytes: number): void {
    this.#bytes += bytes;
    // An estimate, which only decides how soon the next checkpoint is due.
    this.#entryCount += Math.ceil(bytes / ENTRY_BYTES);
  }

  /** Entries that were applied since the last checkpoint may have been counted before it. */
  get hasAppended(): boolean {
    return this.#entryCount > 0 || this.#parts.replica.tree.applied > this.#last;
  }

  get isDue(): boolean {
    return this.#bytes >= DUE_BYTES || this.#entryCount >= DUE_ENTRIES;
  }

  /** Lets the state file follow to what is applied, unless a transaction is applied in part. */
  take(): void {
    const { replica, hooks } = this.#parts;
    if (replica.isApplying) return;
    const { applied, digestHigh, digestLow } = replica.tree;
    // Appended bytes that are not applied yet count for the next checkpoint.
    if (applied <= this.#last) return;
    this.#last = applied;
    const dataWrites = this.#dataWrites.take();
    hooks.checkpoint({ zxid: applied, digestHigh, digestLow, bytes: this.#bytes, dataWrites });
    this.#reset();
  }

  #reset(): void {
    this.#bytes = 0;
    this.#entryCount = 0;
  }
}
