import type { Driver } from "../driver/driver.ts";
import type { ClientTaker } from "../tls/client-tls.ts";

type Client = Parameters<ClientTaker>;

/** Clients that connect during recovery. They wait, unread, until the server can answer. */
export class EarlyClients {
  readonly #clients: Client[] = [];

  add(...client: Client): void {
    const [socket] = client;
    socket.on("error", () => {
      // It disconnected before it was served.
    });
    this.#clients.push(client);
  }

  /** Hands those that are still connected to the driver. */
  acceptAll(driver: Pick<Driver, "accept">): void {
    for (const client of this.#clients.splice(0)) {
      if (!client[0].destroyed) driver.accept(...client);
    }
  }

  destroyAll(): void {
    for (const [socket] of this.#clients.splice(0)) socket.destroy();
  }
}
