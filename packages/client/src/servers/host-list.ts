import type { HostAddress } from "./connect-string.ts";
import { isAmong } from "./rebalance.ts";

/** Source of servers to try. Implement it to take hosts from elsewhere than a connect string. */
export interface HostProvider {
  /** The current hosts; never empty. */
  hosts(): readonly HostAddress[];
}

/**
 * The order in which servers are tried: names one after another in rounds, each resolved when its
 * turn comes, and all of its addresses before the next name. So a name with several addresses does
 * not get stuck at the first, and a changed address is found.
 */
export class HostList {
  readonly #provider: HostProvider;
  readonly #shuffle: boolean;
  readonly #random: () => number;
  #round: readonly HostAddress[] = [];
  #next = 0;
  #addresses: HostAddress[] = [];
  /** Addresses of the name that was resolved last. */
  #addressCount = 0;
  /** Preferred hosts of the next round. */
  #first: readonly HostAddress[] = [];

  /**
   * @param shuffle whether each round has its own random order; otherwise the given order is kept
   */
  constructor(
    provider: HostProvider,
    { shuffle, random }: { readonly shuffle: boolean; readonly random: () => number },
  ) {
    this.#provider = provider;
    this.#shuffle = shuffle;
    this.#random = random;
  }

  get hostCount(): number {
    return this.#provider.hosts().length;
  }

  /** Whether there is another address than the one that is tried. */
  get hasSeveral(): boolean {
    return this.hostCount > 1 || this.#addressCount > 1;
  }

  /** The hosts that none of these addresses is of. */
  without(addresses: readonly HostAddress[]): readonly HostAddress[] {
    return this.#provider.hosts().filter((host) => !addresses.some((address) => isAmong(address, [host])));
  }

  /** The next address of the name that was resolved last; undefined after the last one. */
  takeAddress(): HostAddress | undefined {
    return this.#addresses.shift();
  }

  /** The next name to resolve; undefined at the end of a round, after which a new one begins. */
  takeHost(): HostAddress | undefined {
    if (this.#next === 0) this.#round = this.#ordering();
    const host = this.#round[this.#next];
    if (host === undefined) this.#next = 0;
    else this.#next++;
    return host;
  }

  /** Tries an address before all others. */
  prefer(address: HostAddress): void {
    this.#addresses.unshift(address);
  }

  /** Restarts the round, with some hosts before all others. */
  restart(first: readonly HostAddress[]): void {
    this.#first = first;
    this.#next = 0;
    this.#addresses = [];
  }

  /** The addresses of a name. */
  resolved(addresses: readonly HostAddress[]): void {
    this.#addresses = this.#ordered(addresses);
    this.#addressCount = addresses.length;
  }

  #ordering(): readonly HostAddress[] {
    const first = this.#first;
    this.#first = [];
    const others = this.#provider.hosts().filter((host) => !first.includes(host));
    return [...this.#ordered(first), ...this.#ordered(others)];
  }

  #ordered(hosts: readonly HostAddress[]): HostAddress[] {
    const ordered = [...hosts];
    if (!this.#shuffle) return ordered;
    for (let i = ordered.length - 1; i > 0; i--) {
      const j = Math.floor(this.#random() * (i + 1));
      const [a, b] = [ordered[i], ordered[j]];
      if (a === undefined || b === undefined) continue;
      ordered[i] = b;
      ordered[j] = a;
    }
    return ordered;
  }
}
