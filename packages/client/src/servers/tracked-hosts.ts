import type { Observable } from "rxjs";
import { addressText, type HostAddress } from "./connect-string.ts";
import type { EnsembleConfig } from "./ensemble-config.ts";
import type { HostProvider } from "./host-list.ts";
import { isAmong, serversToMoveTo } from "./rebalance.ts";

/** A client that follows the configuration. */
export interface TrackingClient {
  /** Whether it connects to ports with TLS only. */
  readonly isSecure: boolean;
  readonly random: () => number;
  /** The connected server, if any. */
  readonly current: () => HostAddress | undefined;
  readonly moveTo: (hosts: readonly HostAddress[]) => void;
}

/**
 * The servers of the ensemble's configuration, followed by the initial ones: published addresses
 * that are unreachable from here must not lock a client out.
 */
export class TrackedHosts implements HostProvider {
  readonly #named: HostProvider;
  #learned: readonly HostAddress[] = [];

  constructor(named: HostProvider) {
    this.#named = named;
  }

  hosts(): readonly HostAddress[] {
    const byAddress = new Map([...this.#learned, ...this.#named.hosts()].map((host) => [addressText(host), host]));
    return [...byAddress.values()];
  }

  /**
   * Follows the configuration until the client ends or must not read it; then the last known
   * servers stay.
   */
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
   * Compares two configurations, never one with a connect string, in which a name may stand for
   * many servers. A server that the earlier configuration did not list, because there was none or
   * because it is reached by another address, is not left: its fate is unknown.
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
