import { BUDGETS } from "@zooid/model";

/** Time of reading all connections in one turn. */
const TURN_MS = BUDGETS.reading.turnMs;
/** Time of reading one of them. */
const CONNECTION_MS = BUDGETS.reading.connectionMs;
/**
 * The same for small requests. A request waits until other connections have had their shares: of
 * sixteen with a full millisecond each, for 16 ms and more while V8 has not compiled the code yet.
 */
const CONNECTION_MS_SMALL = BUDGETS.reading.connectionMsSmall;
/** Bytes of answers in one turn. */
const TURN_BYTES = 16 * 1024 * 1024;
/** Requests between two looks at the clock, unless they cost more than most. */
const REQUESTS_PER_LOOK = 8;
/** The least time of a turn behind one that took too long. */
const TURN_MS_LEAST = BUDGETS.reading.turnMsLeast;
/** The work of requests, as the replica counts it, between two looks at the clock. */
const WORK_PER_LOOK = 256;

export interface TurnBudgetOptions {
  /** A monotonic clock in milliseconds. */
  now(): number;
  /**
   * The part of a turn that connections of trusted proxies have before they wait for the others, as
   * a fraction.
   */
  readonly proxiesShare: number;
}

/**
 * How long requests may be read in one turn of the event loop. Time counts, not the number of
 * requests: one of twenty bytes may list a hundred thousand nodes. For the bounds of a single
 * request see the limits in docs/architecture.md.
 */
export class TurnBudget {
  readonly #now: () => number;
  /**
   * How long connections of trusted proxies may be read in a turn before they wait for the others.
   */
  readonly #proxiesMs: number;
  #turnEndMs = 0;
  /** By how much requests went beyond the end of the turn: the next one has less. */
  #beyondMs = 0;
  #isProxied = false;
  #proxiedMs = 0;
  #overshotMs = 0;
  #bytesEnd = 0;
  /** When the share of a connection began. */
  #connectionMs = 0;
  #requests = 0;
  #workSeen = 0;
  /** The turn has done other things than read since then. */
  #pausedAtMs: number | undefined;

  constructor({ now, proxiesShare }: TurnBudgetOptions) {
    this.#now = now;
    this.#proxiesMs = TURN_MS * proxiesShare;
  }

  /** A turn begins. @param bytesSent bytes of answers so far */
  begin(bytesSent: number): void {
    this.#turnEndMs = this.#now() + Math.max(TURN_MS_LEAST, TURN_MS - this.#beyondMs);
    this.#beyondMs = 0;
    this.#isProxied = false;
    this.#proxiedMs = 0;
    this.#pausedAtMs = undefined;
    this.#bytesEnd = bytesSent + TURN_BYTES;
  }

  /**
   * The time from now until a connection is admitted is not used for reading, and is not counted.
   */
  pause(): void {
    this.#pausedAtMs ??= this.#now();
  }

  /** Whether the turn has room to read a connection, whose share begins then. */
  admits(bytesSent: number): boolean {
    const nowMs = this.#now();
    if (this.#isProxied) this.#proxiedMs += (this.#pausedAtMs ?? nowMs) - this.#connectionMs;
    this.#isProxied = false;
    if (this.#pausedAtMs !== undefined) {
      this.#turnEndMs += nowMs - this.#pausedAtMs;
      this.#pausedAtMs = undefined;
    }
    this.#connectionMs = nowMs;
    this.#requests = 0;
    return nowMs < this.#turnEndMs && bytesSent < this.#bytesEnd;
  }

  /** Whether connections of trusted proxies have not had their share of the turn. */
  get hasRoomForProxies(): boolean {
    return this.#proxiedMs < this.#proxiesMs;
  }

  /** A connection that was admitted is read. */
  beginConnection(isProxied: boolean): void {
    this.#isProxied = isProxied;
  }

  /** By how much the connection whose share is spent went beyond it, with its last requests. */
  get overshotMs(): number {
    return this.#overshotMs;
  }

  /**
   * A request was executed.
   *
   * @param work the work of all requests so far, as the replica counts it
   * @param isLarge whether its frame or its answer was large
   * @returns whether its connection has had its share
   */
  isShareSpent(work: number, isLarge: boolean): boolean {
    const isSmall = !isLarge && work - this.#workSeen < WORK_PER_LOOK;
    if (++this.#requests < REQUESTS_PER_LOOK && isSmall) return false;
    this.#requests = 0;
    this.#workSeen = work;
    const nowMs = this.#now();
    const tookMs = nowMs - this.#connectionMs;
    this.#overshotMs = Math.max(0, tookMs - CONNECTION_MS);
    this.#beyondMs = Math.max(0, nowMs - this.#turnEndMs);
    return nowMs >= this.#turnEndMs || tookMs >= (isSmall ? CONNECTION_MS_SMALL : CONNECTION_MS);
  }
}
