import { counted, formatZxid, type Zxid } from "@zooid/model";
import { Histogram } from "@zooid/replica";
import type { SnapshotExport } from "@zooid/txn-log";
import type { ImportedSessions } from "@zooid/txn-log/sqlite";
import type { LogFields } from "../operators/log-fields.ts";
import type { SnapshotCommandsConfig } from "./http-options.ts";

/** The reason why a snapshot is not sent or not restored. The statuses are Apache's. */
export class SnapshotRefusal {
  readonly status: 400 | 409 | 429 | 500 | 503;
  readonly error: string;
  /** With status 429: milliseconds until the same request is allowed. */
  readonly retryAfterMs: number | undefined;

  constructor(status: SnapshotRefusal["status"], error: string, retryAfterMs?: number) {
    this.status = status;
    this.error = error;
    this.retryAfterMs = retryAfterMs;
  }
}

/** The server's state as a whole, for snapshot and restore. */
export interface WholeState {
  /** The reason why neither is possible, if so. */
  readonly reason: string | undefined;
  /** The same for restore only, now. */
  restoreReason(): string | undefined;
  /** The current state, including every acknowledged write. */
  exportSnapshot(): Promise<SnapshotExport>;
  /**
   * Replaces the whole state by a snapshot. If the snapshot is not valid, it rejects and nothing is
   * changed. Resolves with the snapshot's position when it is served.
   */
  restore(pieces: AsyncIterable<Uint8Array>, sessions: ImportedSessions): Promise<Zxid>;
  /** A monotonic clock in milliseconds. */
  nowMs(): number;
  info(text: string, fields: LogFields): void;
  warn(text: string, fields: LogFields): void;
}

/** A rate limit: one request in each interval. */
class RateLimit {
  readonly #intervalMs: number;
  #nextMs = Number.NEGATIVE_INFINITY;

  constructor(intervalMs: number) {
    this.#intervalMs = intervalMs;
  }

  allows(nowMs: number): boolean {
    if (this.waitMs(nowMs) > 0) return false;
    this.#nextMs = nowMs + this.#intervalMs;
    return true;
  }

  waitMs(nowMs: number): number {
    return Math.max(0, this.#nextMs - nowMs);
  }
}

/**
 * The interval of snapshots is a thousandth of that of restores, as in Apache, which reads the same
 * number as microseconds for them.
 */
const SNAPSHOTS_PER_RESTORE = 1000;

/** The admin commands `snapshot` and `restore`: authorization, rate limits and counters. */
export class SnapshotEndpoint {
  readonly #config: SnapshotCommandsConfig;
  readonly #state: WholeState;
  readonly #snapshots: RateLimit;
  readonly #restores: RateLimit;
  #isRestoring = false;
  snapshotErrors = 0;
  snapshotsLimited = 0;
  restoreErrors = 0;
  restoresLimited = 0;
  /** Durations of restores, in milliseconds. */
  readonly restoreMs: Histogram = new Histogram();

  constructor(config: SnapshotCommandsConfig, state: WholeState) {
    this.#config = config;
    this.#state = state;
    this.#snapshots = new RateLimit(config.intervalMs / SNAPSHOTS_PER_RESTORE);
    this.#restores = new RateLimit(config.intervalMs);
  }

  get isRestoring(): boolean {
    return this.#isRestoring;
  }

  /** @param who the requester, for the log */
  async take(who: string): Promise<SnapshotExport | SnapshotRefusal> {
    const state = this.#state;
    if (!this.#config.isSnapshotEnabled) return new SnapshotRefusal(503, "Snapshot command is disabled");
    if (state.reason !== undefined) return new SnapshotRefusal(503, state.reason);
    if (this.#isRestoring) return new SnapshotRefusal(503, BUSY);
    if (!this.#snapshots.allows(state.nowMs())) {
      this.snapshotsLimited++;
      return new SnapshotRefusal(429, LIMITED, this.#snapshots.waitMs(state.nowMs()));
    }
    try {
      const snapshot = await state.exportSnapshot();
      const { nodeCount, position, sizeBytes } = snapshot;
      state.info(
        `a snapshot of ${counted(nodeCount, "znode")} at ${formatZxid(position.zxid)}, ${sizeBytes} bytes, goes to ${who}`,
        { event: "snapshot-taken" },
      );
      return snapshot;
    } catch (error) {
      this.snapshotErrors++;
      state.warn(`no snapshot could be taken for ${who}: ${textOf(error)}`, { event: "snapshot-failed" });
      return new SnapshotRefusal(500, textOf(error));
    }
  }

  /**
   * @param pieces of the body; undefined if there is none
   * @param sessions of the snapshot: `keep`, `drop`, or what the request has in their place
   */
  async restore(
    who: string,
    type: string | undefined,
    pieces: AsyncIterable<Uint8Array> | undefined,
    sessions = "drop",
  ): Promise<Zxid | SnapshotRefusal> {
    const state = this.#state;
    if (!this.#config.isRestoreEnabled) return new SnapshotRefusal(503, "Restore command is disabled");
    const reason = state.reason ?? state.restoreReason();
    if (reason !== undefined) return new SnapshotRefusal(state.reason === undefined ? 409 : 503, reason);
    if (sessions !== "keep" && sessions !== "drop") {
      return new SnapshotRefusal(400, `sessions is keep or drop, not ${JSON.stringify(sessions)}`);
    }
    if (mediaType(type) !== OCTETS) return new SnapshotRefusal(400, `a snapshot is sent as ${OCTETS}`);
    if (pieces === undefined) return new SnapshotRefusal(400, "no snapshot was sent");
    if (this.#isRestoring) return new SnapshotRefusal(503, BUSY);
    if (!this.#restores.allows(state.nowMs())) {
      this.restoresLimited++;
      return new SnapshotRefusal(429, LIMITED, this.#restores.waitMs(state.nowMs()));
    }
    this.#isRestoring = true;
    const startMs = state.nowMs();
    try {
      const zxid = await state.restore(pieces, sessions);
      this.restoreMs.note(Math.round(state.nowMs() - startMs));
      return zxid;
    } catch (error) {
      this.restoreErrors++;
      state.warn(`a snapshot that ${who} sent is not restored: ${textOf(error)}`, { event: "restore-failed" });
      return new SnapshotRefusal(500, textOf(error));
    } finally {
      this.#isRestoring = false;
    }
  }
}

const OCTETS = "application/octet-stream";
const LIMITED = "too soon after the last request; admin.rateLimiterIntervalInMS sets the interval";
const BUSY = "a snapshot is being restored";

/** The media type without its parameters. */
function mediaType(type: string | undefined): string | undefined {
  return type?.split(";", 1)[0]?.trim().toLowerCase();
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
