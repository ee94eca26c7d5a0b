/** How long all connections may be read in a turn. */
const TURN_MS = 4;
/** How long one of them may. */
const CONNECTION_MS = 1;
/**
 * The same for small requests. A request waits until other connections have had their shares: of sixteen with a full millisecond each, for
 * 16 ms and more while V8 has not compiled the code yet.
 */
const CONNECTION_MS_SMALL = 0.25;
/** Bytes of answers in one turn. */
const TURN_BYTES = 16 * 1024 * 1024;
/** Requests between two looks at the clock, unless they cost more than most. */
const REQUESTS_PER_LOOK = 8;
/** The work of requests, as the replica counts it, between two looks at the clock. */
const WORK_PER_LOOK = 256;

/**
 * How long requests may be read in one turn of the event loop. Time counts, not the number of
 * requests: one of twenty bytes may list a hundred thousand nodes. For the bounds of a single
 * request see the limits in docs/architecture.md.
 */
export class TurnBudget {
  readonly #now: () => number;
  #turnEndMs = 0;
  #bytesEnd = 0;
  /** When the share of a connection began. */
  #connectionMs = 0;
  #requests = 0;
  #workSeen = 0;
  /** The turn has done other things than read since then. */
  #pausedAtMs: number | undefined;

  /** @param now a monotonic clock in milliseconds */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** A turn begins. @param bytesSent bytes of answers so far */
  begin(bytesSent: number): void {
    this.#turnEndMs = this.#now() + TURN_MS;
    this.#pausedAtMs = undefined;
    this.#bytesEnd = bytesSent + TURN_BYTES;
  }

  /** The time from now until a connection is admitted is not used for reading, and is not counted. */
  pause(): void {
    this.#pausedAtMs ??= this.#now();
  }

  /** Whether the turn has room to read a connection, whose share begins then. */
  admits(bytesSent: number): boolean {
    const nowMs = this.#now();
    if (this.#pausedAtMs !== undefined) {
      this.#turnEndMs += nowMs - this.#pausedAtMs;
      this.#pausedAtMs = undefined;
    }
    this.#connectionMs = nowMs;
    this.#requests = 0;
    return nowMs < this.#turnEndMs && bytesSent < this.#bytesEnd;
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
    return nowMs >= this.#turnEndMs || nowMs - this.#connectionMs >= (isSmall ? CONNECTION_MS_SMALL : CONNECTION_MS);
  }
}
