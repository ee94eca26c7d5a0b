import { type ServerId, type SessionId, sessionIdFromHalves } from "@zooid/model";

export interface SessionIdParts {
  readonly sid: ServerId;
  /**
   * How often the server was started: ids of different starts differ even if the clock went back.
   */
  readonly bootCount: number;
  /** How many sessions this start has made. */
  readonly counter: number;
  readonly random: number;
}

/**
 * A session's id, which is never used again. The top byte is the server's, as tools expect; never
 * 0xff, which marks TTL nodes.
 *
 * ```
 * ┌───────┬────────────────┬─────────────┬────────────┐
 * │ sid 8 │ boot count 16  │ counter 28  │ random 12  │
 * └───────┴────────────────┴─────────────┴────────────┘
 * ```
 */
export function newSessionId({ sid, bootCount, counter, random }: SessionIdParts): SessionId {
  const count = counter % 2 ** 28;
  const high = (sid << 24) | ((bootCount & 0xffff) << 8) | (count >>> 20);
  const low = (count << 12) | (random & 0xfff);
  return sessionIdFromHalves(high, low);
}
