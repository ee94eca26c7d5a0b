import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { checkArgument, type Rule, rules, wholeNumberRule, wordRule } from "@zooid/model";

interface Link {
  readonly client: Socket;
  readonly server: Socket;
}

/** The target of a relay. */
export interface RelayTarget {
  /** Default 127.0.0.1. */
  readonly host?: string;
  readonly port: number;
}

/** A server of any kind is one. */
const targetRule: Rule = {
  expected: "an object with a port from 0 to 65535, and maybe a host",
  accepts: (value) => {
    const { host, port } = (value ?? {}) as Partial<RelayTarget>;
    return wholeNumberRule(0, 65535).accepts(port) && (host === undefined || rules.text.accepts(host));
  },
};
const directionRule = wordRule("requests", "answers", "both");

/** @throws ArgumentError */
export function checkTarget(where: string, target: unknown): void {
  checkArgument(where, "the target", target, targetRule);
}

/**
 * A proxy between a client and a server that cuts, freezes or refuses connections. Clients connect
 * to its `port` on 127.0.0.1.
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

  /**
   * On a free port.
   *
   * @param target read for each connection: a server may come back on another port
   */
  static async start(target: RelayTarget): Promise<Relay> {
    checkTarget("Relay", target);
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

  /** Number of connections ever accepted, refused ones not counted. */
  get acceptedCount(): number {
    return this.#acceptedCount;
  }

  /** Resets every connection at once. */
  cut(): void {
    for (const { client, server } of [...this.#links]) {
      // A socket that is being ended cannot be reset, and would keep the process alive.
      if (client.writableEnded) client.destroy();
      else client.resetAndDestroy();
      server.destroy();
    }
  }

  /** Closes new connections at once, until `accept`. Existing ones stay. */
  refuse(): void {
    this.#accepts = false;
  }

  accept(): void {
    this.#accepts = true;
  }

  /** Holds back all data of a direction until `thaw`. */
  freeze(direction: "requests" | "answers" | "both" = "both"): void {
    checkArgument("freeze", "the direction", direction, directionRule);
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
        // The following close event is sufficient.
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
