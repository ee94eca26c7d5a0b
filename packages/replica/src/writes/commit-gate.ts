import { assert, type ConnectionRef } from "@zooid/model";

/** The first size of the ring; it doubles when more writes wait. A power of two. */
const RING_FIRST = 1024;

/** For a write that no client of this server waits for: an expiry, for example. */
export const NO_CONNECTION = -1 as ConnectionRef;

/**
 * This server's own writes between prepare and commit, in the order in which they were sent off. Commits of them arrive in that
 * order, each naming its sequence number; that, not the session and xid, finds who waits for it.
 */
export class CommitGate {
  #connections = new Int32Array(RING_FIRST);
  #xids = new Int32Array(RING_FIRST);
  #ops = new Int32Array(RING_FIRST);
  #receivedMs = new Float64Array(RING_FIRST);
  #sizes = new Int32Array(RING_FIRST);
  #sizeBytes = 0;
  #mask = RING_FIRST - 1;
  #head = 1;
  #next = 1;

  /** What the last `take` found. */
  connection: ConnectionRef = NO_CONNECTION;
  xid = 0;
  op = 0;
  receivedMs = 0;

  /** Writes sent off and not yet committed. */
  get count(): number {
    return this.#next - this.#head;
  }

  /** Bytes of the requests behind them. */
  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  /** Notes a write and returns its sequence number, which its transaction carries. */
  put(connection: ConnectionRef, xid: number, op: number, nowMs: number, sizeBytes: number): number {
    if (this.count > this.#mask) this.#grow();
    const slot = this.#next & this.#mask;
    this.#connections[slot] = connection;
    this.#xids[slot] = xid;
    this.#ops[slot] = op;
    this.#receivedMs[slot] = nowMs;
    this.#sizes[slot] = sizeBytes;
    this.#sizeBytes += sizeBytes;
    return this.#next++;
  }

  /** Finds who waits for the committed write, and lets it go. False for one that is not of this life, or from before {@link clear}. */
  take(sequence: number): boolean {
    if (sequence < this.#head || sequence >= this.#next) return false;
    assert(sequence === this.#head, () => `own writes commit in order: ${sequence} came where ${this.#head} was due`);
    const slot = this.#head & this.#mask;
    this.connection = this.#connections[slot] as ConnectionRef;
    this.xid = this.#xids[slot] as number;
    this.op = this.#ops[slot] as number;
    this.receivedMs = this.#receivedMs[slot] as number;
    this.#sizeBytes -= this.#sizes[slot] as number;
    this.#head++;
    return true;
  }

  /**
   * Numbers from here on. Transactions of earlier lives of this server may still be on their way, so no two lives may share numbers; a
   * server that lost its disk does not know how many it had, which is why chance has a part in where one begins.
   */
  startAt(sequence: number): void {
    assert(this.count === 0, "numbers change when nobody waits");
    this.#head = sequence;
    this.#next = sequence;
  }

  /** Nobody waits any more: what was sent off may commit or not. Sequence numbers go on. */
  clear(): void {
    this.#head = this.#next;
    this.#sizeBytes = 0;
  }

  #grow(): void {
    const size = (this.#mask + 1) * 2;
    const mask = size - 1;
    const grown = {
      connections: new Int32Array(size),
      xids: new Int32Array(size),
      ops: new Int32Array(size),
      receivedMs: new Float64Array(size),
      sizes: new Int32Array(size),
    };
    for (let i = this.#head; i < this.#next; i++) {
      grown.connections[i & mask] = this.#connections[i & this.#mask] as number;
      grown.xids[i & mask] = this.#xids[i & this.#mask] as number;
      grown.ops[i & mask] = this.#ops[i & this.#mask] as number;
      grown.sizes[i & mask] = this.#sizes[i & this.#mask] as number;
      grown.receivedMs[i & mask] = this.#receivedMs[i & this.#mask] as number;
    }
    this.#connections = grown.connections;
    this.#xids = grown.xids;
    this.#ops = grown.ops;
    this.#receivedMs = grown.receivedMs;
    this.#sizes = grown.sizes;
    this.#mask = mask;
  }
}
