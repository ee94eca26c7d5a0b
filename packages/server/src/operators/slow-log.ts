import { counted, formatSessionId, formatZxid } from "@zooid/model";
import type { RequestStages, SlowRequest } from "@zooid/replica";
import type { LogFields } from "./log-fields.ts";

/** Lines that are written within one window; the others are counted. */
const LINES_PER_WINDOW = 5;
const WINDOW_MS = 10_000;

export interface SlowLogOptions {
  /** Infinity: nothing is slow. */
  readonly thresholdMs: number;
  warn(text: string, fields: LogFields): void;
  /** A monotonic clock. */
  nowMs(): number;
}

/** One turn of the event loop, at its end. */
export interface EndedTurn {
  readonly tookMs: number;
  readonly answered: number;
  readonly applied: number;
}

/**
 * Logs requests that took long, with their stages, and turns of the event loop that did. All of
 * them are counted; of a flood the first lines are written, and at the end of the window one about
 * the slowest of the others.
 */
export class SlowLog {
  /** Duration from which a request or a turn is slow. */
  thresholdMs: number;
  /** Requests since the start. */
  count = 0;
  readonly #warn: SlowLogOptions["warn"];
  readonly #nowMs: () => number;
  /** Slow requests of this turn, which are logged once it has sent its answers. */
  #pending: SlowRequest[] = [];
  #windowStartMs = Number.NEGATIVE_INFINITY;
  #lines = 0;
  #suppressed = 0;
  #slowest: SlowRequest | undefined;

  constructor({ thresholdMs, warn, nowMs }: SlowLogOptions) {
    this.thresholdMs = thresholdMs;
    this.#warn = warn;
    this.#nowMs = nowMs;
  }

  /** Whether {@link endTurn} is to be called, for a turn that took no time. */
  get hasPending(): boolean {
    return this.#pending.length > 0;
  }

  /** A slow request was answered in this turn. */
  request(request: SlowRequest): void {
    this.count++;
    if (this.#mayWrite()) this.#pending.push(request);
    else if (this.#slowest === undefined || request.totalMs > this.#slowest.totalMs) this.#slowest = request;
  }

  /** The turn has sent its answers. */
  endTurn({ tookMs, answered, applied }: EndedTurn): void {
    const pending = this.#pending;
    this.#pending = [];
    for (const request of pending) this.#warn(...lineOf(request, tookMs));
    if (tookMs < this.thresholdMs || !this.#mayWrite()) return;
    this.#warn(
      `one turn of the event loop took ${tookMs} ms: it answered ${counted(answered, "request")} and applied ${counted(applied, "transaction")}, and all other clients waited`,
      { event: "slow-turn", durationMs: tookMs },
    );
  }

  /** Called each second: writes what a window that is over has suppressed. */
  tick(): void {
    if (this.#suppressed > 0 && this.#nowMs() - this.#windowStartMs >= WINDOW_MS) this.#endWindow();
  }

  #mayWrite(): boolean {
    const nowMs = this.#nowMs();
    if (nowMs - this.#windowStartMs >= WINDOW_MS) {
      this.#endWindow();
      this.#windowStartMs = nowMs;
    }
    if (this.#lines < LINES_PER_WINDOW) {
      this.#lines++;
      return true;
    }
    this.#suppressed++;
    return false;
  }

  #endWindow(): void {
    const [suppressed, slowest] = [this.#suppressed, this.#slowest];
    this.#lines = 0;
    this.#suppressed = 0;
    this.#slowest = undefined;
    if (suppressed === 0) return;
    const more = `${suppressed} more slow requests or turns in ${WINDOW_MS / 1000} s`;
    if (slowest === undefined) {
      this.#warn(more, { event: "slow-request", suppressed });
      return;
    }
    const [text, fields] = lineOf(slowest);
    this.#warn(`${more}, the slowest: ${text}`, { ...fields, suppressed });
  }
}

const STAGES: readonly (readonly [keyof RequestStages, string])[] = [
  ["waitMs", "behind earlier requests or the leader's confirmation"],
  ["queueMs", "until it was proposed"],
  ["forwardMs", "by the leader, until it was proposed"],
  ["syncMs", "until this server's disk had it"],
  ["commitMs", "from the proposal until a quorum had it"],
  ["applyMs", "until it was applied"],
];

function lineOf(request: SlowRequest, sendMs?: number): [text: string, fields: LogFields] {
  const { op, path, session, address, xid, zxid, totalMs, stages } = request;
  const name = op.toLowerCase();
  const times = STAGES.flatMap(([stage, meaning]) => {
    const ms = stages[stage];
    return ms === undefined ? [] : [`${ms} ms ${meaning}`];
  });
  if (sendMs !== undefined) times.push(`${sendMs} ms to answer and send, with all of its turn`);
  const client = session === undefined ? address : `session ${formatSessionId(session)} at ${address}`;
  return [
    `${name}${path === "" ? "" : ` ${path}`} of ${client} took ${totalMs} ms: ${times.join(", ")}`,
    {
      event: "slow-request",
      op: name,
      address,
      xid,
      durationMs: totalMs,
      ...(path === "" ? {} : { path }),
      ...(session === undefined ? {} : { session: formatSessionId(session) }),
      ...(zxid === undefined ? {} : { zxid: formatZxid(zxid) }),
      ...stages,
      ...(sendMs === undefined ? {} : { sendMs }),
    },
  ];
}
