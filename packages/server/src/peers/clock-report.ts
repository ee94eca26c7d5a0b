import type { ServerId } from "@zooid/model";
import type { WriteLine } from "../operators/log-fields.ts";

/** Beyond it the clocks of two servers are not the same. */
const OFFSET_MS_MAX = 2000;
/** Interval of the lines about a clock that stays off. */
const REPEAT_MS = 3_600_000;

interface OtherClock {
  readonly aheadMs: number;
  /** When a line named it last; undefined while it is right. */
  readonly warnedMs: number | undefined;
}

/**
 * Compares the wall clocks of the other servers with this one's, and warns of one that is off by
 * more than two seconds. The other server does the same, so that the logs of both have it: neither
 * knows which of the two is right.
 */
export class ClockReport {
  readonly #info: WriteLine;
  readonly #warn: WriteLine;
  readonly #nowMs: () => number;
  readonly #clocks = new Map<ServerId, OtherClock>();

  /** @param parts.nowMs monotonic */
  constructor(parts: { readonly info: WriteLine; readonly warn: WriteLine; readonly nowMs: () => number }) {
    this.#info = parts.info;
    this.#warn = parts.warn;
    this.#nowMs = parts.nowMs;
  }

  /** Milliseconds by which the clocks of other servers are ahead, as last compared. */
  get offsets(): ReadonlyMap<ServerId, number> {
    return new Map([...this.#clocks].map(([sid, { aheadMs }]) => [sid, aheadMs]));
  }

  /** @param roundTripMs of the comparison, which is exact to half of it */
  compared(sid: ServerId, aheadMs: number, roundTripMs: number): void {
    const warnedMs = this.#clocks.get(sid)?.warnedMs;
    const isOff = Math.abs(aheadMs) - roundTripMs / 2 > OFFSET_MS_MAX;
    const isRight = Math.abs(aheadMs) + roundTripMs / 2 <= OFFSET_MS_MAX;
    const nowMs = this.#nowMs();
    if (isOff && (warnedMs === undefined || nowMs - warnedMs >= REPEAT_MS)) {
      this.#clocks.set(sid, { aheadMs, warnedMs: nowMs });
      const place = aheadMs > 0 ? "ahead of" : "behind";
      const seconds = (Math.abs(aheadMs) / 1000).toFixed(1);
      this.#warn(
        `the clock of server ${sid} is ${seconds} s ${place} this server's: synchronize the clocks of both machines (NTP)`,
        { event: "clock-off", peer: sid },
      );
      return;
    }
    if (isRight && warnedMs !== undefined)
      this.#info(`the clock of server ${sid} agrees with this server's again`, { event: "clock-right", peer: sid });
    this.#clocks.set(sid, { aheadMs, warnedMs: isRight ? undefined : warnedMs });
  }

  /** The ensemble has these servers only. */
  keep(listed: ReadonlySet<ServerId>): void {
    for (const sid of this.#clocks.keys()) if (!listed.has(sid)) this.#clocks.delete(sid);
  }
}
