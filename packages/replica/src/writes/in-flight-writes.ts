import { assert, type ConnectionRef } from "@zooid/model";
import type { Connection } from "../connections/connection.ts";
import type { GroundParts } from "../parts/ground.ts";
import type { Session } from "../sessions/session-tracker.ts";
import type { Requester } from "./txn-proposer.ts";
import type { WritingConnection } from "./write-shares.ts";

/** The first size of the ring; it doubles when more writes wait. A power of two. */
const RING_FIRST = 1024;

/**
 * Stands for the connection of a write that no client of this server waits for: the end of an
 * expired session, for example.
 */
export const NO_CONNECTION = -1 as ConnectionRef;

/**
 * This server's own writes between the request and the commit, in the order of their sequence
 * numbers. A transaction carries the number of its write, and own writes commit in that order: the
 * number, not the session and xid, finds the client that waits for the answer.
 *
 * A number is never used twice, not even by another life of the server:
 * 1. Server S2 forwards a client's write as number 7 to the leader S1, and crashes.
 * 2. S2 restarts and follows S1 again, which commits the old number 7 meanwhile.
 * 3. If S2's first write had the number 7 now, its client would be answered with the old write.
 */
export class InFlightWrites {
  readonly #parts: Pick<GroundParts, "servingState" | "writeShares">;
  /** Reused: the proposer copies it where it keeps it. */
  readonly #requester: { -readonly [K in keyof Requester]: Requester[K] };
  #connections = new Int32Array(RING_FIRST);
  #xids = new Int32Array(RING_FIRST);
  #ops = new Int32Array(RING_FIRST);
  #receivedMs = new Float64Array(RING_FIRST);
  #sizes = new Int32Array(RING_FIRST);
  #prices = new Int32Array(RING_FIRST);
  /** Whose share each write is charged to. */
  #charged: (WritingConnection | undefined)[] = new Array(RING_FIRST);
  /** The write that {@link take} took last, until it is applied: where its price is charged. */
  #applying: WritingConnection | undefined;
  #applyingPriceUs = 0;
  /** The number that the next write had when a large one was applied last. */
  #afterLarge = 0;
  #sizeBytes = 0;
  #mask = RING_FIRST - 1;
  #head = 1;
  #next = 1;

  /** The client's request behind the write that {@link take} took last. */
  connection: ConnectionRef = NO_CONNECTION;
  xid = 0;
  op = 0;
  receivedMs = 0;

  constructor(
    parts: Pick<GroundParts, "servingState" | "writeShares"> & {
      readonly config: Pick<GroundParts["config"], "sid">;
    },
  ) {
    this.#parts = parts;
    this.#requester = { sessionHigh: 0, sessionLow: 0, origin: parts.config.sid, originSeq: 0, cxid: 0, op: 0 };
  }

  /** Writes that are not committed. */
  get count(): number {
    return this.#next - this.#head;
  }

  /** The number of the next write: those before it are in flight now, or were. */
  get nextSequence(): number {
    return this.#next;
  }

  /**
   * Whether a large write that came when the next number was `sequence` may be prepared: the writes
   * before it are applied, and those that came while an earlier large one was in flight.
   *
   * 1. A client sends two multis of twenty thousand parts. The second one waits for the first one.
   * 2. Another client's small write comes, and is proposed behind the first multi.
   * 3. The first multi is applied, and the small write is not yet durable. If the second multi were
   *    prepared now, the small write could not be applied before all of the second one is prepared.
   */
  mayPrepareLarge(sequence: number): boolean {
    return this.#head >= Math.max(sequence, this.#afterLarge);
  }

  /** Bytes of their requests. */
  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  /** Adds a client's write. @returns its sequence number */
  issue(
    connection: Pick<Connection, "ref" | "issued" | "isProxied" | "share" | "workUs" | "addressWork">,
    xid: number,
    op: number,
    sizeBytes: number,
    priceUs = 0,
  ): number {
    connection.issued++;
    const sequence = this.#put(connection.ref, xid, op, sizeBytes);
    if (priceUs > 0) {
      this.#prices[sequence & this.#mask] = priceUs;
      this.#charged[sequence & this.#mask] = connection;
      this.#parts.writeShares.charge(connection, priceUs);
    }
    return sequence;
  }

  /** Adds a write that no client has sent. @returns its sequence number */
  issueWithoutClient(op: number): number {
    return this.#put(NO_CONNECTION, 0, op, 0);
  }

  /**
   * The requester of a write, valid until the next call.
   *
   * @param session undefined where the write concerns no session
   */
  requester(
    session: Pick<Session, "idHigh" | "idLow"> | undefined,
    xid: number,
    op: number,
    sequence: number,
  ): Requester {
    const requester = this.#requester;
    requester.sessionHigh = session?.idHigh ?? 0;
    requester.sessionLow = session?.idLow ?? 0;
    requester.cxid = xid;
    requester.op = op;
    requester.originSeq = sequence;
    return requester;
  }

  /**
   * Takes out a committed write and shows the request behind it. False for a write of another life
   * of this server, or from before {@link clear}. Its price stays charged until {@link applied}.
   */
  take(sequence: number): boolean {
    if (sequence < this.#head || sequence >= this.#next) return false;
    assert(sequence === this.#head, () => `own writes commit in order: ${sequence} came where ${this.#head} was due`);
    const slot = this.#head & this.#mask;
    this.connection = this.#connections[slot] as ConnectionRef;
    this.xid = this.#xids[slot] as number;
    this.op = this.#ops[slot] as number;
    this.receivedMs = this.#receivedMs[slot] as number;
    this.#sizeBytes -= this.#sizes[slot] as number;
    this.#applying = this.#charged[slot];
    this.#applyingPriceUs = this.#prices[slot] as number;
    this.#charged[slot] = undefined;
    this.#head++;
    return true;
  }

  /**
   * The write that was taken last is applied, which may have taken several turns:
   *
   * 1. Two clients each send a multi of twenty thousand parts, and a third one sends a small write.
   * 2. The first multi is committed, and a part of it is applied.
   * 3. If its price counted no more, the second multi would be prepared now, before the rest of the
   *    first one is applied, and the small write would wait for both.
   */
  applied(): void {
    const connection = this.#applying;
    if (connection === undefined) return;
    this.#applying = undefined;
    if (this.#parts.writeShares.isLarge(this.#applyingPriceUs)) this.#afterLarge = this.#next;
    this.#parts.writeShares.discharge(connection, this.#applyingPriceUs);
  }

  /** The first sequence number of this life of the server. */
  startAt(sequence: number): void {
    assert(this.count === 0, "sequence numbers change while no write is in flight");
    this.#head = sequence;
    this.#next = sequence;
  }

  /**
   * The role has ended: no client waits any more, whether the writes commit or not. Sequence
   * numbers are not used again.
   */
  clear(): void {
    this.applied();
    for (let i = this.#head; i < this.#next; i++) this.#discharge(i & this.#mask);
    // rule: numbers-of-writes-go-on
    this.#head = this.#next;
    this.#sizeBytes = 0;
  }

  #discharge(slot: number): void {
    const connection = this.#charged[slot];
    if (connection === undefined) return;
    this.#parts.writeShares.discharge(connection, this.#prices[slot] as number);
    this.#charged[slot] = undefined;
  }

  #put(connection: ConnectionRef, xid: number, op: number, sizeBytes: number): number {
    if (this.count > this.#mask) this.#grow();
    const slot = this.#next & this.#mask;
    this.#connections[slot] = connection;
    this.#xids[slot] = xid;
    this.#ops[slot] = op;
    this.#receivedMs[slot] = this.#parts.servingState.nowMs;
    this.#sizes[slot] = sizeBytes;
    this.#sizeBytes += sizeBytes;
    return this.#next++;
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
      prices: new Int32Array(size),
    };
    const charged: (WritingConnection | undefined)[] = new Array(size);
    for (let i = this.#head; i < this.#next; i++) {
      grown.connections[i & mask] = this.#connections[i & this.#mask] as number;
      grown.xids[i & mask] = this.#xids[i & this.#mask] as number;
      grown.ops[i & mask] = this.#ops[i & this.#mask] as number;
      grown.sizes[i & mask] = this.#sizes[i & this.#mask] as number;
      grown.prices[i & mask] = this.#prices[i & this.#mask] as number;
      charged[i & mask] = this.#charged[i & this.#mask];
      grown.receivedMs[i & mask] = this.#receivedMs[i & this.#mask] as number;
    }
    this.#connections = grown.connections;
    this.#xids = grown.xids;
    this.#ops = grown.ops;
    this.#receivedMs = grown.receivedMs;
    this.#sizes = grown.sizes;
    this.#prices = grown.prices;
    this.#charged = charged;
    this.#mask = mask;
  }
}
