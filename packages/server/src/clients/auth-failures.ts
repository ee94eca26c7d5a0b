import { addressShare, BUDGETS } from "@zooid/model";

/**
 * People mistype: delays begin after some failures, and the count is cleared after a time without
 * one.
 */
const { free: FREE_COUNT, delayMsFirst: FIRST_DELAY_MS, forgetMs: FORGET_MS } = BUDGETS.authFailures;
/** Addresses that are remembered; the one whose last failure is oldest is dropped first. */
const ADDRESS_COUNT_MAX = 10_000;

export interface AuthFailuresOptions {
  /** The longest delay; 0 for none. */
  readonly delayMsMax: number;
  /** Whether clients on this machine are never delayed. */
  readonly sparesLoopback: boolean;
}

interface Failures {
  count: number;
  lastMs: number;
}

/**
 * Slows down password guessing: the answer to a failed authentication is delayed by a time that
 * grows with the failures of its address, or of its /64: a host chooses the rest of its address as
 * it likes.
 */
export class AuthFailures {
  #options: AuthFailuresOptions;
  /** In the order of the last failure. */
  readonly #byAddress = new Map<string, Failures>();

  constructor(options: AuthFailuresOptions) {
    this.#options = options;
  }

  /** Other options from the next failure on; failures so far count. */
  change(options: AuthFailuresOptions): void {
    this.#options = options;
  }

  /** Counts a failure. @returns the delay of its answer */
  delayMs(address: string, nowMs: number): number {
    const { delayMsMax, sparesLoopback } = this.#options;
    if (delayMsMax === 0 || (sparesLoopback && isLoopbackAddress(address))) return 0;
    const share = addressShare(address);
    const before = this.#byAddress.get(share);
    const count = before === undefined || nowMs - before.lastMs >= FORGET_MS ? 1 : before.count + 1;
    this.#byAddress.delete(share);
    this.#byAddress.set(share, { count, lastMs: nowMs });
    if (this.#byAddress.size > ADDRESS_COUNT_MAX) this.#forgetOldest();
    if (count <= FREE_COUNT) return 0;
    return Math.min(FIRST_DELAY_MS * 2 ** (count - FREE_COUNT - 1), delayMsMax);
  }

  #forgetOldest(): void {
    for (const address of this.#byAddress.keys()) {
      this.#byAddress.delete(address);
      return;
    }
  }
}

/** An address in Java's format. */
function isLoopbackAddress(address: string): boolean {
  return address.startsWith("127.") || address === "0:0:0:0:0:0:0:1";
}
