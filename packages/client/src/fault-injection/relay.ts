import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

interface Link {
  readonly client: Socket;
  readonly server: Socket;
}

/** Where a relay passes connections on to. */
export interface RelayTarget {
  /** Default 127.0.0.1. */
  readonly host?: string;
  readonly port: number;
}

/**
 * A connection's worst day: stands between a client and a server and cuts, freezes or refuses what goes through it. Clients connect to
 * its `port` on 127.0.0.1.
 */
export class Relay implements AsyncDisposable {
  readonly #listener: Server;
  readonly #target: RelayTarget;
  readonly #links = new Set<Link>();
  #accepts = true;
  #answersPass = true;
  #requestsPass = true;
  #acceptedCount = 0;

  private constructor(listener: Server, target: RelayTarget) {
    this.#listener = listener;
    this.#target = target;
    listener.on("connection", (client) => this.#link(client));
  }

  /** On a port of the system's choice. @param target looked at for each connection: a server may come back on another port */
  static async start(target: RelayTarget): Promise<Relay> {
    const listener = createServer({ pauseOnConnect: true });
    const relay = new Relay(listener, target);
    listener.listen(0, "127.0.0.1");
    await once(listener, "listening");
    return relay;
  }

  get port(): number {
    return (this.#listener.address() as AddressInfo).port;
  }

  get connectionCount(): number {
    return this.#links.size;
  }

  /** Connections ever accepted, refused ones not counted. */
  get acceptedCount(): number {
    return this.#acceptedCount;
  }

  /** Ends every connection at once, in the middle of whatever they carry. */
  cut(): void {
    for (const { client, server } of [...this.#links]) {
      // A socket that is being ended cannot be reset, and one that could not be would keep the process from ending.
      if (client.writableEnded) client.destroy();
      else client.resetAndDestroy();
      server.destroy();
    }
  }

  /** Closes whoever comes, without a word, until `accept`. What is connected stays. */
  refuse(): void {
    this.#accepts = false;
  }

  accept(): void {
    this.#accepts = true;
  }

  /** Lets nothing through in a direction, and keeps it, until `thaw`. */
  freeze(direction: "requests" | "answers" | "both" = "both"): void {
    if (direction !== "answers") this.#requestsPass = false;
    if (direction !== "requests") this.#answersPass = false;
    this.#apply();
  }

  thaw(): void {
    this.#requestsPass = true;
    this.#answersPass = true;
    this.#apply();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#accepts = false;
    const closed = once(this.#listener, "close");
    this.#listener.close();
    this.cut();
    await closed;
  }

  #link(client: Socket): void {
    if (!this.#accepts) {
      client.resetAndDestroy();
      return;
    }
    this.#acceptedCount++;
    const { host = "127.0.0.1", port } = this.#target;
    const server = connect({ host, port, noDelay: true });
    client.setNoDelay(true);
    const link = { client, server };
    this.#links.add(link);
    client.on("data", (chunk) => server.write(chunk));
    server.on("data", (chunk) => client.write(chunk));
    for (const socket of [client, server]) {
      socket.on("error", () => {
        // The close that follows says enough.
      });
      socket.once("close", () => {
        this.#links.delete(link);
        client.destroy();
        server.destroy();
      });
    }
    client.once("end", () => server.end());
    server.once("end", () => client.end());
    this.#flow(link);
  }

  #apply(): void {
    for (const link of this.#links) this.#flow(link);
  }

  #flow({ client, server }: Link): void {
    if (this.#requestsPass) client.resume();
    else client.pause();
    if (this.#answersPass) server.resume();
    else server.pause();
  }
}
