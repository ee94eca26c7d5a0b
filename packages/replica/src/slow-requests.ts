import {
  type ByteSlice,
  isWrite,
  opName,
  type SessionId,
  sessionIdFromHalves,
  sliceText,
  type Zxid,
} from "@zooid/model";
import type { ZabPeer } from "@zooid/zab";
import type { ReplicaConfig } from "./config.ts";
import type { Connection } from "./connections/connection.ts";
import { CommitMarks } from "./delivery/commit-marks.ts";
import type { ServingState } from "./serving-state.ts";

/**
 * A request that took as long as `slowRequestMs` or longer, with the times of its stages in
 * milliseconds.
 */
export interface SlowRequest {
  readonly kind: "slow-request";
  /** The operation's name, or its number. */
  readonly op: string;
  /**
   * At most 256 characters; empty where the request has none, or it is not known. Data are never
   * part of it.
   */
  readonly path: string;
  readonly session: SessionId | undefined;
  readonly address: string;
  readonly xid: number;
  /** The write's transaction. */
  readonly zxid: Zxid | undefined;
  /** From the turn that read it to the turn that answers it. */
  readonly totalMs: number;
  readonly stages: RequestStages;
}

/**
 * The stages of a request. A stage is undefined where it does not exist, or where its time is not
 * known any more. `syncMs` and `commitMs` both begin when the log gets the write, and overlap.
 */
export interface RequestStages {
  /**
   * Time that a read waited behind earlier requests of its connection, or for the leader's
   * confirmation (sync).
   */
  readonly waitMs?: number | undefined;
  /** Time until a leader's write was proposed. */
  readonly queueMs?: number | undefined;
  /** Time of another server's write to the leader and back as a proposal. */
  readonly forwardMs?: number | undefined;
  /** Time until this server's disk had it. */
  readonly syncMs?: number | undefined;
  /** Until this server knew that a quorum had it. */
  readonly commitMs?: number | undefined;
  /** From then on, until the tree had it and the answer was made. */
  readonly applyMs?: number | undefined;
}

const PATH_CHARS_MAX = 256;

/** The parts of a replica that slow requests use: its sinks and counters are typed by them. */
interface SlowRequestParts {
  readonly config: Pick<ReplicaConfig, "slowRequestMs">;
  readonly servingState: ServingState;
  readonly zab: Pick<ZabPeer, "committed" | "lastProposed">;
  readonly sinks: { note(event: SlowRequest): void };
}

/**
 * Notices slow requests. Below the threshold a request costs one comparison, and a batch three
 * marks.
 */
export class SlowRequests {
  readonly #parts: SlowRequestParts;
  readonly #proposed = new CommitMarks();
  readonly #durable = new CommitMarks();
  readonly #committed = new CommitMarks();

  constructor(parts: SlowRequestParts) {
    this.#parts = parts;
  }

  /** Duration from which a request is slow. */
  get thresholdMs(): number {
    return this.#parts.config.slowRequestMs;
  }

  get #isWanted(): boolean {
    return this.thresholdMs !== Number.POSITIVE_INFINITY;
  }

  /** Marks how far this server has come, at the end of each turn. */
  look(): void {
    if (!this.#isWanted) return;
    const { zab, servingState } = this.#parts;
    this.#proposed.reached(zab.lastProposed, servingState.nowMs);
    this.#committed.reached(zab.committed, servingState.nowMs);
  }

  /** This server's log has everything up to a zxid. */
  durable(zxid: Zxid): void {
    if (!this.#isWanted) return;
    this.#durable.reached(zxid, this.#parts.servingState.nowMs);
  }

  /** A slow request is answered. @param zxid of its transaction, if it is a write */
  answered(
    connection: Connection,
    request: {
      readonly op: number;
      readonly xid: number;
      readonly zxid: number;
      readonly path?: ByteSlice | undefined;
    },
    receivedMs: number,
  ): void {
    // How far this turn has come: its end, which marks it, is later.
    this.look();
    const { sinks, servingState } = this.#parts;
    const { op, xid, zxid, path } = request;
    const { session, address } = connection;
    sinks.note({
      kind: "slow-request",
      op: opName(op) ?? `operation ${op}`,
      address,
      xid,
      path: path === undefined ? "" : pathText(path),
      session: session === undefined ? undefined : sessionIdFromHalves(session.idHigh, session.idLow),
      zxid: isWrite(op) && zxid > 0 ? (zxid as Zxid) : undefined,
      totalMs: servingState.nowMs - receivedMs,
      stages: isWrite(op) ? this.#writeStages(zxid as Zxid, receivedMs) : { waitMs: servingState.nowMs - receivedMs },
    });
  }

  #writeStages(zxid: Zxid, receivedMs: number): RequestStages {
    const { servingState } = this.#parts;
    const proposedMs = this.#proposed.timeOf(zxid);
    const durableMs = this.#durable.timeOf(zxid);
    const committedMs = this.#committed.timeOf(zxid);
    const since = (from: number | undefined, to: number | undefined): number | undefined =>
      from === undefined || to === undefined ? undefined : Math.max(0, to - from);
    const untilProposed = since(receivedMs, proposedMs);
    return {
      ...(servingState.isLeading ? { queueMs: untilProposed } : { forwardMs: untilProposed }),
      syncMs: since(proposedMs, durableMs),
      commitMs: since(proposedMs, committedMs),
      applyMs: since(committedMs, servingState.nowMs),
    };
  }
}

function pathText(path: ByteSlice): string {
  const end = Math.min(path.end, path.start + PATH_CHARS_MAX);
  return sliceText({ bytes: path.bytes, start: path.start, end });
}
