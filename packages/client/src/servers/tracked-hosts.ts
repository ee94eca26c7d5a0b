import type { Observable } from "rxjs";
import { formatAddress, type HostAddress } from "./connect-string.ts";
import type { EnsembleConfig } from "./ensemble-config.ts";
import type { HostProvider } from "./host-list.ts";
import { isAmong, serversToMoveTo } from "./rebalance.ts";

/** Who goes where the configuration leads. */
export interface TrackingClient {
  /** Whether it comes to ports that speak TLS, and to no others. */
  readonly isSecure: boolean;
  readonly random: () => number;
  /** The server that is connected, if one is. */
  readonly current: () => HostAddress | undefined;
  readonly moveTo: (hosts: readonly HostAddress[]) => void;
}

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
  follow(config$: Observable<EnsembleConfig>, client: TrackingClient): void {
    config$.subscribe({
      next: ({ servers }) => {
        const addresses = servers.map((server) =>
          client.isSecure ? server.secureClientAddress : server.clientAddress,
        );
        this.#learn(
          addresses.filter((address) => address !== undefined),
          client,
        );
      },
      error: () => {},
    });
  }

  /**
   * Two configurations are compared, never one with a connect string, in which a name may stand for many servers. A server that the earlier
   * one did not name, because there was none or because it is reached by another address, is not left: nobody knows what has become of it.
   */
  #learn(after: readonly HostAddress[], { current, random, moveTo }: TrackingClient): void {
    const before = this.#learned;
    this.#learned = after;
    const server = current();
    if (server === undefined || !isAmong(server, before)) return;
    const hosts = serversToMoveTo({ before, after, current: server, random });
    if (hosts !== undefined) moveTo(hosts);
  }
}
