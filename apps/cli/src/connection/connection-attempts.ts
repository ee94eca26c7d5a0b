/**
 * Observes a client's attempts to connect, so that a command that cannot be sent fails at once, as
 * in zkCli, instead of waiting for as long as the client keeps trying.
 */
import type { Transport } from "@zooid/client";

export class ConnectionAttempts {
  readonly #hostCount: number;
  readonly #hosts = new Set<string>();
  readonly #waiting = new Set<string>();
  #lastFault: string | undefined;
  #onFailure: (() => void)[] = [];

  /** @param hostCount number of hosts in the connect string */
  constructor(hostCount: number) {
    this.#hostCount = hostCount;
  }

  /** The transport for the client. */
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

  /** The system's error of the last failed attempt. */
  get lastFault(): string | undefined {
    return this.#lastFault;
  }

  /** Restarts the count, since there is a connection or a new waiter. */
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
    for (const fail of this.#onFailure.splice(0)) fail();
  }
}
