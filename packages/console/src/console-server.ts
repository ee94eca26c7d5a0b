import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { deferBody, PipelinedRequests, SocketPlaces } from "@zooid/model";
import { Console, type ConsoleOptions } from "./console.ts";
import type { EnsembleLink } from "./ensemble-link.ts";

/** A further ensemble on the same port. */
export interface MoreEnsemble extends Pick<ConsoleOptions, "hosts" | "adminUrls"> {
  /** Letters, digits, `.`, `_` and `-`: its page is at `/ensembles/NAME/console/`. */
  readonly name: string;
}

export interface ConsoleServerOptions extends Omit<ConsoleOptions, "isLoopback" | "prefix" | "ensembles"> {
  /** 0 lets the system choose. */
  readonly port: number;
  /** `*` for every address. */
  readonly address: string;
  /**
   * Further ensembles, each with logins of its own: a password is sent to the servers of one
   * ensemble only. The first has the page at `/console/`. Default: none.
   */
  readonly more?: readonly MoreEnsemble[];
}

const HEADER_BYTES_MAX = 16 * 1024;
const HEADER_COUNT_MAX = 100;
/**
 * Places for connections, of which one address has half; those that wait for a request give way.
 */
const PLACES = { countMax: 200, shareMax: 100, reserveMax: 0 };
const HEADERS_MS = 5_000;
const REQUEST_MS = 60_000;
const IDLE_MS = 30_000;
/** It stands in paths and in the name of a cookie. */
const ENSEMBLE_NAME = /^[A-Za-z0-9][\w.-]{0,63}$/;
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|::1)$/i;

/** A console on a port of its own, in front of any ensemble. */
export class ConsoleServer implements AsyncDisposable {
  readonly #options: ConsoleServerOptions;
  readonly #consoles: readonly Console[];
  readonly #server: Server;

  constructor(options: ConsoleServerOptions) {
    this.#options = options;
    this.#consoles = consolesOf(options);
    const limits = {
      maxHeaderSize: HEADER_BYTES_MAX,
      headersTimeout: HEADERS_MS,
      requestTimeout: REQUEST_MS,
      keepAliveTimeout: IDLE_MS,
      noDelay: true,
    };
    const requests = new PipelinedRequests<Socket>();
    const serve = (message: IncomingMessage, response: ServerResponse): void => {
      const { socket } = message;
      response.once("close", () => requests.answered(socket));
      const begin = (): void => {
        if (!socket.destroyed) this.#serve(message, response);
      };
      if (!requests.add(socket, begin)) socket.destroy();
    };
    this.#server = createServer(limits, serve);
    this.#server.on("checkContinue", (message: IncomingMessage, response: ServerResponse) => {
      deferBody(message, response);
      this.#server.emit("request", message, response);
    });
    this.#server.maxHeadersCount = HEADER_COUNT_MAX;
    const places = new SocketPlaces(PLACES);
    this.#server.on("connection", (socket) => {
      places.connected(socket);
      socket.once("close", () => requests.closed(socket));
    });
    this.#server.on("request", (message, response) => {
      const { socket } = message;
      const isBusy = (): void => places.setBusy(socket, true);
      // A request counts when its body is there.
      if (message.headers["content-length"] === undefined && message.headers["transfer-encoding"] === undefined)
        isBusy();
      else message.once("end", isBusy);
      response.once("close", () => places.setBusy(socket, false));
    });
    this.#server.on("connect", (_message, socket) => socket.destroy());
  }

  #serve(message: IncomingMessage, response: ServerResponse): void {
    if (this.#consoles.some((each) => each.handle(message, response))) return;
    if (message.url === "/" && message.method === "GET") {
      response.writeHead(302, { Location: "/console/", "Content-Length": 0 }).end();
      return;
    }
    response.writeHead(404, { "Content-Type": "text/plain; charset=utf-8", "X-Content-Type-Options": "nosniff" });
    response.end("there is nothing here; the console is at /console/\n");
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
    await Promise.all(this.#consoles.map((each) => each[Symbol.asyncDispose]()));
  }
}

function consolesOf({ more = [], ...options }: ConsoleServerOptions): readonly Console[] {
  const isLoopback = LOOPBACK.test(options.address);
  const wrong = more.find(({ name }) => !ENSEMBLE_NAME.test(name));
  if (wrong !== undefined)
    throw new RangeError(`an ensemble's name has letters, digits, . _ and -, found "${wrong.name}"`);
  const ensembles: readonly EnsembleLink[] = [
    { name: options.name ?? options.hosts, prefix: "" },
    ...more.map(({ name }) => ({ name, prefix: `/ensembles/${name}` })),
  ];
  if (new Set(ensembles.map(({ name }) => name)).size < ensembles.length) {
    throw new RangeError("two ensembles have the same name");
  }
  // The words and the reports of a server in this process are those of the first ensemble.
  const { words: _words, ownServer: _own, ...shared } = options;
  return [
    new Console({ ...options, isLoopback, ensembles }),
    ...more.map(({ name, hosts, adminUrls = {} }) => {
      const prefix = `/ensembles/${name}`;
      return new Console({ ...shared, isLoopback, ensembles, prefix, name, hosts, adminUrls });
    }),
  ];
}
