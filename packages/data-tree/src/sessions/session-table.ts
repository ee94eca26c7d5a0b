import { assert, mix32, PASSWORD_HASH_BYTES } from "@zooid/model";
import { IntColumn } from "../nodes/columns.ts";
import { HashTable } from "../nodes/hash-table.ts";

/**
 * The replicated table of sessions, and what is proposed about them. A session is a row; its id is
 * two signed halves.
 *
 * A row exists while anything is known of the session: that it is open, that its creation or its
 * end is proposed, or that nodes name it as their owner (an imported tree may hold ephemerals of
 * sessions that are gone).
 */

/** The row of no session: it is not open, and everything in it is 0. */
export const NO_SESSION = 0;

const PASSWORD_WORDS: number = PASSWORD_HASH_BYTES / 4;
/** Applied: what `has`, the digest and snapshots mean by a session. */
const OPEN = 1;
const CREATING = 2;
const CLOSING = 4;
/** The password follows from the id. */
const DERIVED = 8;

export class SessionTable {
  readonly #high = new IntColumn();
  readonly #low = new IntColumn();
  readonly #flags = new IntColumn();
  readonly #timeouts = new IntColumn();
  readonly #passwords = new IntColumn();
  readonly #firstNodes = new IntColumn();
  readonly #nodeCounts = new IntColumn();
  /** The next free row after each free row. */
  readonly #nextFree = new IntColumn();
  readonly #table = new HashTable();
  #end = 1;
  #freeRow: number = NO_SESSION;
  #openCount = 0;
  #derivedCount = 0;

  get openCount(): number {
    return this.#openCount;
  }

  /** Number of open sessions whose passwords follow from their ids. */
  get derivedCount(): number {
    return this.#derivedCount;
  }

  /** Every row is below it. */
  get end(): number {
    return this.#end;
  }

  find(high: number, low: number): number {
    let row = this.#table.first(hashOf(high, low));
    while (row !== NO_SESSION && (this.#low.get(row) !== low || this.#high.get(row) !== high)) row = this.#table.next();
    return row;
  }

  findOrAdd(high: number, low: number): number {
    const found = this.find(high, low);
    if (found !== NO_SESSION) return found;
    let row = this.#freeRow;
    if (row === NO_SESSION) row = this.#end++;
    else this.#freeRow = this.#nextFree.get(row);
    this.#high.set(row, high);
    this.#low.set(row, low);
    this.#table.insert(hashOf(high, low), row);
    return row;
  }

  high(row: number): number {
    return this.#high.get(row);
  }

  low(row: number): number {
    return this.#low.get(row);
  }

  timeoutMs(row: number): number {
    return this.#timeouts.get(row);
  }

  /** A copy. */
  passwordHash(row: number): Uint8Array {
    const bytes = new Uint8Array(PASSWORD_HASH_BYTES);
    const view = new DataView(bytes.buffer);
    for (let i = 0; i < PASSWORD_WORDS; i++) view.setInt32(i * 4, this.passwordWord(row, i));
    return bytes;
  }

  passwordWord(row: number, index: number): number {
    return this.#passwords.get(row * PASSWORD_WORDS + index);
  }

  isOpen(row: number): boolean {
    return (this.#flags.get(row) & OPEN) !== 0;
  }

  /** Open, or about to be, and its end not proposed. */
  isUsable(row: number): boolean {
    const flags = this.#flags.get(row);
    return (flags & (OPEN | CREATING)) !== 0 && (flags & CLOSING) === 0 && !this.isEnding(row);
  }

  /**
   * Whether a part of the session's end is applied and the rest is not: such a session has the
   * timeout 0.
   */
  isEnding(row: number): boolean {
    return this.isOpen(row) && this.#timeouts.get(row) === 0;
  }

  /** The first part of the session's end is applied. */
  beginClose(row: number): void {
    this.#timeouts.set(row, 0);
  }

  isKnown(row: number): boolean {
    return this.#flags.get(row) !== 0;
  }

  isClosing(row: number): boolean {
    return (this.#flags.get(row) & CLOSING) !== 0;
  }

  markCreating(row: number): void {
    this.#flags.set(row, this.#flags.get(row) | CREATING);
  }

  markClosing(row: number): void {
    this.#flags.set(row, this.#flags.get(row) | CLOSING);
  }

  open(row: number, timeoutMs: number, bytes: Uint8Array, start: number, end: number): void {
    const flags = this.#flags.get(row);
    assert((flags & OPEN) === 0, "a session that is created does not exist yet");
    assert(end - start <= PASSWORD_HASH_BYTES, "a password's hash has its fixed length");
    this.#flags.set(row, (flags & ~CREATING) | OPEN);
    this.#timeouts.set(row, timeoutMs);
    for (let i = 0; i < PASSWORD_WORDS; i++) {
      this.#passwords.set(row * PASSWORD_WORDS + i, wordAt(bytes, start + i * 4, end));
    }
    this.#openCount++;
  }

  /** The password of an open session follows from its id. */
  markDerived(row: number): void {
    this.#flags.set(row, this.#flags.get(row) | DERIVED);
    this.#derivedCount++;
  }

  /** The session is over. All that was proposed about it is applied. */
  close(row: number): void {
    if (this.isOpen(row)) this.#openCount--;
    if ((this.#flags.get(row) & DERIVED) !== 0) this.#derivedCount--;
    this.#flags.set(row, 0);
    this.#timeouts.set(row, 0);
    this.dropIfUnknown(row);
  }

  /** Forgets every proposed creation and end: they died with the leader. */
  discardPending(): void {
    for (let row = 1; row < this.#end; row++) {
      const flags = this.#flags.get(row);
      if ((flags & (CREATING | CLOSING)) === 0) continue;
      this.#flags.set(row, flags & (OPEN | DERIVED));
      this.dropIfUnknown(row);
    }
  }

  firstNode(row: number): number {
    return this.#firstNodes.get(row);
  }

  nodeCount(row: number): number {
    return this.#nodeCounts.get(row);
  }

  /** Kept for the list of the session's ephemerals. */
  setNodes(row: number, firstNode: number, countChange: number): void {
    this.#firstNodes.set(row, firstNode);
    this.#nodeCounts.set(row, this.#nodeCounts.get(row) + countChange);
  }

  dropIfUnknown(row: number): void {
    if (this.#flags.get(row) !== 0 || this.#nodeCounts.get(row) !== 0) return;
    this.#table.remove(hashOf(this.#high.get(row), this.#low.get(row)), row);
    this.#nextFree.set(row, this.#freeRow);
    this.#freeRow = row;
  }
}

function hashOf(high: number, low: number): number {
  return mix32(Math.imul(high, 0x9e3779b1) ^ low);
}

/** Four bytes, big-endian, zeros past the end. */
function wordAt(bytes: Uint8Array, at: number, end: number): number {
  let word = 0;
  for (let i = 0; i < 4; i++) word = (word << 8) | (at + i < end ? bytes[at + i] : 0);
  return word;
}
