/**
 * Watches a client's attempts to connect, so that a command that cannot be sent says so at once, as zkCli does, instead of waiting for
 * as long as the client goes on trying.
 */
import type { Transport } from "@zooid/client";

export class ConnectionAttempts {
  readonly #hostCount: number;
  readonly #hosts = new Set<string>();
  readonly #waiting = new Set<string>();
  #lastFault: string | undefined;
  #onFailure: (() => void)[] = [];

  /** @param hostCount how many hosts the connect string names */
  constructor(hostCount: number) {
    this.#hostCount = hostCount;
  }

  /** The transport to give to the client. */
  observe(transport: Transport): Transport {
    return {
      resolve: async (host) => {
        const name = `${host.host}:${host.port}`;
        try {
          const addresses = await transport.resolve(host);
          this.#hosts.add(name);
          for (const address of addresses) this.#waiting.add(`${address.host}:${address.port}`);
          return addresses;
        } catch (error) {
          this.#hosts.add(name);
          this.#failed(error);
          throw error;
        }
      },
      connect: (address, events) => {
        const failed = (error: Error | undefined): void => {
          this.#waiting.delete(`${address.host}:${address.port}`);
          this.#failed(error);
        };
        const connection = transport.connect(address, {
          opened: () => events.opened(),
          data: (chunk) => events.data(chunk),
          drained: () => events.drained(),
          closed: (error) => {
            failed(error);
            events.closed(error);
          },
        });
        return {
          write: (bytes, written) => connection.write(bytes, written),
          // The client gives up an address that does not answer in time.
          destroy: () => {
            connection.destroy();
            failed(undefined);
          },
        };
      },
    };
  }

  /** What the system said of the last attempt that failed. */
  get lastFault(): string | undefined {
    return this.#lastFault;
  }

  /** Begins to count anew, since a connection stands or somebody new waits. */
  reset(): void {
    this.#hosts.clear();
    this.#waiting.clear();
  }

  /** Resolves when each address of each host has failed since the last reset. */
  allFailed(): Promise<void> {
    return new Promise((resolve) => this.#onFailure.push(resolve));
  }

  #failed(error: unknown): void {
    if (error instanceof Error) this.#lastFault = error.message;
    if (this.#waiting.size > 0 || this.#hosts.size < this.#hostCount) return;
    for (const tell of this.#onFailure.splice(0)) tell();
  }
}
