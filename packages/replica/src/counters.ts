import { type ByteSlice, isWrite, LatencyBuckets, OpCode, opName, sliceText } from "@zooid/model";
import type { Connection } from "./connections/connection.ts";
import { Histogram } from "./histogram.ts";
import type { ServingState } from "./serving-state.ts";
import type { SlowRequests } from "./slow-requests.ts";

/** Counts since start, and gauges. */
export interface ReplicaCounters {
  packetsReceived: number;
  packetsSent: number;
  latencyMsMin: number;
  latencyMsMax: number;
  latencyMsTotal: number;
  latencyCount: number;
  commitCount: number;
  expiredSessions: number;
  authFailures: number;
  /**
   * Writes of this server's clients that were refused since the disk of the leader, or of a quorum,
   * has no room.
   */
  refusedForRoom: number;
  /**
   * Writes refused for a hard quota, by the first name of their path; for a limited number of
   * names.
   */
  readonly quotaExceeded: Map<string, number>;
  /** Latencies in milliseconds, pings aside. */
  readonly reads: Histogram;
  readonly writes: Histogram;
  /** The same by operation, for those that were answered at least once. */
  readonly byOperation: Map<number, LatencyBuckets>;
}

/**
 * Counts what clients send and how long they wait for the answer, for the server and for each
 * connection.
 */
export class Counters {
  readonly #values: ReplicaCounters = newCounters();
  readonly #servingState: ServingState;
  /**
   * Answers of the same operation that took equally long, the last ones, which {@link values} adds
   * to all others. Requests that arrive together are answered in one turn, so runs are long.
   */
  #runOp = 0;
  #runMs = 0;
  #runLength = 0;
  readonly #slow: SlowRequests;
  #slowMs: number;

  constructor(servingState: ServingState, slow: SlowRequests) {
    this.#servingState = servingState;
    this.#slow = slow;
    this.#slowMs = slow.thresholdMs;
  }

  /** Another threshold of slow requests is in force. */
  thresholdChanged(): void {
    this.#slowMs = this.#slow.thresholdMs;
  }

  get values(): ReplicaCounters {
    this.#endRun();
    return this.#values;
  }

  reset(): void {
    this.#runLength = 0;
    Object.assign(this.#values, newCounters());
  }

  received(connection: Connection): void {
    this.#values.packetsReceived++;
    connection.stats.received++;
  }

  committed(): void {
    this.#values.commitCount++;
  }

  /** A write of this path was refused for a hard quota. */
  quotaExceeded(path: Readonly<ByteSlice>): void {
    countNamespace(this.#values.quotaExceeded, path);
  }

  /** @param path of the request, where it is at hand; for slow ones */
  answered(
    connection: Connection,
    op: number,
    xid: number,
    zxid: number,
    receivedMs: number,
    path?: Readonly<ByteSlice>,
  ): void {
    const { nowMs } = this.#servingState;
    const latencyMs = nowMs - receivedMs;
    connection.stats.answered(op, xid, zxid, latencyMs, nowMs);
    this.#values.packetsSent++;
    if (op === OpCode.PING) return;
    if (op !== this.#runOp || latencyMs !== this.#runMs) {
      this.#endRun();
      this.#runOp = op;
      this.#runMs = latencyMs;
    }
    this.#runLength++;
    if (latencyMs >= this.#slowMs) this.#slow.answered(connection, { op, xid, zxid, path }, receivedMs);
  }

  #endRun(): void {
    const op = this.#runOp;
    const latencyMs = this.#runMs;
    const times = this.#runLength;
    if (times === 0) return;
    this.#runLength = 0;
    const counters = this.#values;
    if (latencyMs < counters.latencyMsMin) counters.latencyMsMin = latencyMs;
    if (latencyMs > counters.latencyMsMax) counters.latencyMsMax = latencyMs;
    counters.latencyMsTotal += latencyMs * times;
    counters.latencyCount += times;
    if (isWrite(op)) counters.writes.note(latencyMs, times);
    else counters.reads.note(latencyMs, times);
    let buckets = counters.byOperation.get(op);
    if (buckets === undefined) {
      // A client may send any number as an operation.
      if (opName(op) === undefined) return;
      buckets = new LatencyBuckets();
      counters.byOperation.set(op, buckets);
    }
    buckets.note(latencyMs, times);
  }
}

/** Operators read all of them at once. */
const NAMESPACES_MAX = 1000;
/** A longer name, which clients choose, is no label of a metric. */
export const NAMESPACE_CHARS_MAX = 256;

/** Counts the first name of a path; a name beyond as many as there may be is not counted. */
export function countNamespace(counts: Map<string, number>, path: Readonly<ByteSlice>): void {
  const namespace = sliceText(path).split("/", 2)[1] ?? "";
  if (namespace.length > NAMESPACE_CHARS_MAX) return;
  const before = counts.get(namespace);
  if (before !== undefined || counts.size < NAMESPACES_MAX) counts.set(namespace, (before ?? 0) + 1);
}

function newCounters(): ReplicaCounters {
  return {
    packetsReceived: 0,
    packetsSent: 0,
    latencyMsMin: Number.POSITIVE_INFINITY,
    latencyMsMax: 0,
    latencyMsTotal: 0,
    latencyCount: 0,
    commitCount: 0,
    expiredSessions: 0,
    authFailures: 0,
    refusedForRoom: 0,
    quotaExceeded: new Map(),
    reads: new Histogram(),
    writes: new Histogram(),
    byOperation: new Map(),
  };
}
