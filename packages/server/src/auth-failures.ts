/** Failures of one address that cost it nothing: people mistype. */
const FREE_COUNT = 5;
const FIRST_DELAY_MS = 1000;
/** An address that has not failed for so long begins anew. */
const FORGET_MS = 60_000;
/** Addresses that are remembered; the one whose last failure is longest ago is forgotten first. */
const ADDRESS_COUNT_MAX = 10_000;

export interface AuthFailuresOptions {
  /** The longest delay; 0 for none. */
  readonly delayMsMax: number;
  /** Whoever comes from this machine itself is never delayed. */
  readonly sparesLoopback: boolean;
}

interface Failures {
  count: number;
  lastMs: number;
}

/** Makes guessing of passwords slow: the answer to a failed authentication comes the later, the more have failed at its address. */
export class AuthFailures {
  readonly #options: AuthFailuresOptions;
  /** In the order of the last failure. */
  readonly #byAddress = new Map<string, Failures>();

  constructor(options: AuthFailuresOptions) {
    this.#options = options;
  }

  /** Notes a failure, and says by how much its answer is to be late. */
  delayMs(address: string, nowMs: number): number {
    const { delayMsMax, sparesLoopback } = this.#options;
    if (delayMsMax === 0 || (sparesLoopback && isLoopbackAddress(address))) return 0;
    const before = this.#byAddress.get(address);
    const count = before === undefined || nowMs - before.lastMs >= FORGET_MS ? 1 : before.count + 1;
    this.#byAddress.delete(address);
    this.#byAddress.set(address, { count, lastMs: nowMs });
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

/** Of an address as Java prints it. */
function isLoopbackAddress(address: string): boolean {
  return address.startsWith("127.") || address === "0:0:0:0:0:0:0:1";
}
