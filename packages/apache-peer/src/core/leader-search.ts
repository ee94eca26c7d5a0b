import { Backoff, reachLimitMs } from "@zooid/model";

/** A port at which a leader, or a follower for its observers, takes learners. */
export interface QuorumAddress {
  /** A name or an address, IPv6 without brackets. */
  readonly host: string;
  readonly port: number;
}

export interface Attempt {
  readonly address: QuorumAddress;
  /** Time to wait before it. */
  readonly afterMs: number;
  /** Maximum time until the address accepts or refuses the connection. */
  readonly reachMs: number;
}

const ROUND_MS_LEAST = 50;
const ROUND_MS_MOST = 5000;
/** A link that lasted this long was none that ends again at once. */
const SETTLED_MS = 10_000;

/**
 * Which address is tried next. Only the leader listens at the quorum port: followers refuse at
 * once, so trying all in turn finds it within a round. A round without a leader is followed by a
 * wait that doubles; so is a link that ended soon after the leader had sent everything.
 */
export class LeaderSearch {
  readonly #addresses: readonly QuorumAddress[];
  readonly #backoff: Backoff;
  /** By address: attempts without any answer since the last answer. */
  readonly #silentCounts: number[];
  #at = 0;
  /** Attempts since a leader was found. */
  #failed = 0;
  #isHasty = false;

  /** @param random at least 0, below 1 */
  constructor(addresses: readonly QuorumAddress[], random: () => number) {
    this.#addresses = addresses;
    this.#silentCounts = addresses.map(() => 0);
    this.#backoff = new Backoff({ leastMs: ROUND_MS_LEAST, mostMs: ROUND_MS_MOST, jitter: 0.5, random });
  }

  /** Whether every address was tried since a leader was found. */
  get isRoundOver(): boolean {
    return this.#failed > 0 && this.#failed % this.#addresses.length === 0;
  }

  next(): Attempt {
    const address = this.#addresses[this.#at];
    if (address === undefined) throw new RangeError("a search needs an address");
    const afterMs = this.isRoundOver || this.#isHasty ? this.#backoff.nextDelayMs() : 0;
    return { address, afterMs, reachMs: reachLimitMs(this.#silentCount) };
  }

  /**
   * The attempt has failed; the next one is made at the next address.
   *
   * @param isSilent whether the address neither accepted nor refused the connection
   */
  fail(isSilent: boolean): void {
    this.#silentCounts[this.#at] = isSilent ? this.#silentCount + 1 : 0;
    this.#isHasty = false;
    this.#failed++;
    this.#at = (this.#at + 1) % this.#addresses.length;
  }

  /**
   * A link to a leader that had sent everything has ended. It is tried again first: the link may
   * have ended for a reason of ours.
   */
  lose(lastedMs: number): void {
    this.#failed = 0;
    this.#silentCounts[this.#at] = 0;
    this.#isHasty = lastedMs < SETTLED_MS;
    if (!this.#isHasty) this.#backoff.reset();
  }

  get #silentCount(): number {
    return this.#silentCounts[this.#at] ?? 0;
  }
}
