import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { Console, type ConsoleOptions } from "./console.ts";

export interface ConsoleServerOptions extends Omit<ConsoleOptions, "isLoopback"> {
  /** 0 lets the system choose. */
  readonly port: number;
  /** `*` for every address. */
  readonly address: string;
}

const HEADER_BYTES_MAX = 16 * 1024;
const HEADER_COUNT_MAX = 100;
const CONNECTIONS_MAX = 200;
const HEADERS_MS = 5_000;
const REQUEST_MS = 60_000;
const IDLE_MS = 30_000;
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|::1)$/i;

/** A console on a port of its own, in front of any ensemble. */
export class ConsoleServer implements AsyncDisposable {
  readonly #options: ConsoleServerOptions;
  readonly #console: Console;
  readonly #server: Server;

  constructor(options: ConsoleServerOptions) {
    this.#options = options;
    this.#console = new Console({ ...options, isLoopback: LOOPBACK.test(options.address) });
    const limits = {
      maxHeaderSize: HEADER_BYTES_MAX,
      headersTimeout: HEADERS_MS,
      requestTimeout: REQUEST_MS,
      keepAliveTimeout: IDLE_MS,
      noDelay: true,
    };
    this.#server = createServer(limits, (message, response) => {
      if (this.#console.handle(message, response)) return;
      if (message.url === "/" && message.method === "GET") {
        response.writeHead(302, { Location: "/console/", "Content-Length": 0 }).end();
        return;
      }
      response.writeHead(404, { "Content-Type": "text/plain; charset=utf-8", "X-Content-Type-Options": "nosniff" });
      response.end("there is nothing here; the console is at /console/\n");
    });
    this.#server.maxHeadersCount = HEADER_COUNT_MAX;
    this.#server.maxConnections = CONNECTIONS_MAX;
    this.#server.on("connect", (_message, socket) => socket.destroy());
  }

  /** Resolves once the port is bound; rejects with the system's error when it cannot be. */
  async listen(): Promise<void> {
    const { port, address } = this.#options;
    this.#server.listen({ port, ...(address === "*" ? {} : { host: address }) });
    await once(this.#server, "listening");
  }

  /** The bound port. */
  get port(): number {
    const bound = this.#server.address();
    return bound !== null && typeof bound === "object" ? bound.port : this.#options.port;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#server.listening) {
      const closed = once(this.#server, "close");
      this.#server.close();
      this.#server.closeAllConnections();
      await closed;
    }
    await this.#console[Symbol.asyncDispose]();
  }
}
