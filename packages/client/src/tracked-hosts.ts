import type { Observable } from "rxjs";
import { formatAddress, type HostAddress } from "./connect-string.ts";
import type { EnsembleConfig } from "./ensemble-config.ts";
import type { HostProvider } from "./host-list.ts";

/**
 * The servers that the ensemble's configuration names, once it is known, and behind them those that were known from the beginning: an address
 * that is of no use here must not lock a client out.
 */
export class TrackedHosts implements HostProvider {
  readonly #named: HostProvider;
  #learned: readonly HostAddress[] = [];

  constructor(named: HostProvider) {
    this.#named = named;
  }

  hosts(): readonly HostAddress[] {
    const byAddress = new Map([...this.#learned, ...this.#named.hosts()].map((host) => [formatAddress(host), host]));
    return [...byAddress.values()];
  }

  /** Learns for as long as the client lives, or until it may not read the configuration: what is known then stays. */
  follow(config$: Observable<EnsembleConfig>): void {
    config$.subscribe({
      next: ({ servers }) => {
        this.#learned = servers.flatMap(({ clientAddress }) => clientAddress ?? []);
      },
      error: () => {},
    });
  }
}
