import type { Socket } from "node:net";
import { createServer, type SecureContextOptions, type Server, type TLSSocket, type TlsOptions } from "node:tls";
import { type ClientShare, ClientShares, NO_PROXIES, type TrustedProxies } from "@zooid/model";
import { AddressTurns } from "../driver/address-turns.ts";
import { TurnOrder } from "../driver/turn-order.ts";
import { HandshakeBudget } from "./handshake-budget.ts";

/** Node's own default. */
const TIMEOUT_MS = 120_000;

/** @param certificateFault the code of the reason why the client's certificate was not accepted */
type Failed = (error: Error, certificateFault?: string) => void;

interface Waiting {
  readonly socket: Socket;
  readonly ready: (socket: TLSSocket) => void;
  readonly failed: Failed | undefined;
  /** Closes a handshake that takes too long. */
  readonly timer: NodeJS.Timeout;
}

/** A connection whose handshake may begin. */
interface Begun extends ClientShare {
  readonly socket: Socket;
}

/**
 * The server's side of TLS on connections that another listener accepted. A handshake takes
 * milliseconds of public-key arithmetic, on the event loop: one begins in a turn, and all of them
 * get a quarter of the time. Addresses (or /64s) take turns: one that opens many connections delays
 * its own. Connections of trusted proxies take turns among themselves.
 */
export class TlsAcceptor {
  /** It never listens: it receives accepted connections. */
  readonly #server: Server;
  /** Connections whose TLS handshake is not complete, by their address. */
  readonly #waiting = new Map<string, Waiting>();
  /** Connections whose client has sent its first bytes. */
  readonly #queue: AddressTurns<Begun>;
  readonly #clients: ClientShares;
  readonly #reporters = new WeakMap<object, Failed>();
  readonly #timeoutMs: number;
  readonly #budget = new HandshakeBudget(() => performance.now());
  #isBeginDue = false;

  /** @param options `handshakeTimeout` counts from {@link accept} on */
  constructor(options: TlsOptions, trustedProxies: TrustedProxies = NO_PROXIES) {
    const { handshakeTimeout = TIMEOUT_MS } = options;
    this.#clients = new ClientShares(trustedProxies);
    this.#queue = new AddressTurns(new TurnOrder({ now: () => performance.now(), proxiesShare: trustedProxies.share }));
    this.#timeoutMs = handshakeTimeout;
    this.#server = createServer(options);
    this.#server.on("secureConnection", (socket) => this.#take(socket)?.ready(socket));
    this.#server.on("tlsClientError", (error, socket) => {
      const waiting = this.#take(socket);
      waiting?.failed?.(error);
      waiting?.socket.destroy(error);
      // A refused certificate is reported as a closed connection, after the connection has closed.
      const { authorizationError: fault } = socket;
      if (waiting === undefined && fault) this.#reporters.get(underlying(socket))?.(error, String(fault));
    });
  }

  /** Connections with a handshake in progress. */
  get waitingCount(): number {
    return this.#waiting.size;
  }

  /**
   * @param ready receives the TLS socket, once it can be used
   * @param failed receives the error, before the connection is closed
   * @param counted what the connection counts as. Default: by its address, and the trusted proxies
   */
  accept(socket: Socket, ready: (socket: TLSSocket) => void, failed?: Failed, counted?: ClientShare): void {
    const origin = originOf(socket);
    const { allowHalfOpen } = socket;
    // A client that disconnects during a handshake must not be waited for.
    socket.allowHalfOpen = false;
    const secured = (around: TLSSocket): void => {
      around.allowHalfOpen = allowHalfOpen;
      ready(around);
    };
    const timer = setTimeout(() => {
      this.#take(socket)?.failed?.(new Error(`it took longer than ${this.#timeoutMs} ms`));
      socket.destroy();
    }, this.#timeoutMs);
    if (failed !== undefined) this.#reporters.set(socket, failed);
    this.#waiting.set(origin, { socket, ready: secured, failed, timer });
    socket.once("close", () => {
      clearTimeout(timer);
      if (this.#waiting.get(origin)?.socket === socket) this.#waiting.delete(origin);
    });
    const share = counted ?? this.#clients.of(socket.remoteAddress ?? "", socket.remotePort ?? 0);
    if (socket.readableLength > 0) this.#enqueue({ socket, ...share });
    else socket.once("readable", () => this.#enqueue({ socket, ...share }));
  }

  /** Settings for new connections. */
  setSecureContext(options: SecureContextOptions): void {
    this.#server.setSecureContext(options);
  }

  /** Closes the connections with a handshake in progress. */
  stop(): void {
    for (const { socket } of this.#waiting.values()) socket.destroy();
  }

  #enqueue(begun: Begun): void {
    this.#queue.add(begun);
    this.#armBegin();
  }

  #armBegin(): void {
    if (this.#isBeginDue || this.#queue.count === 0) return;
    this.#isBeginDue = true;
    const waitMs = this.#budget.waitMs();
    if (waitMs > 0) setTimeout(() => this.#begin(), waitMs);
    else setImmediate(() => this.#begin());
  }

  #begin(): void {
    const startMs = performance.now();
    while (this.#queue.count > 0 && !this.#beginNext());
    // The platform reads the client's first bytes, and answers them, before this callback.
    process.nextTick(() => {
      this.#budget.spend(performance.now() - startMs);
      this.#isBeginDue = false;
      this.#armBegin();
    });
  }

  /** Starts one handshake of the address that is next. @returns false if the client is gone */
  #beginNext(): boolean {
    const socket = this.#queue.take()?.socket;
    if (socket === undefined || socket.destroyed) return false;
    this.#server.emit("connection", socket);
    return true;
  }

  #take(socket: Socket): Waiting | undefined {
    const origin = originOf(socket);
    const waiting = this.#waiting.get(origin);
    this.#waiting.delete(origin);
    clearTimeout(waiting?.timer);
    return waiting;
  }
}

/**
 * The connection below TLS, in a field that Node.js does not document: without it refused
 * certificates are not reported.
 */
function underlying(socket: TLSSocket): object {
  const parent: unknown = Reflect.get(socket, "_parent");
  return typeof parent === "object" && parent !== null ? parent : socket;
}

function originOf(socket: Socket): string {
  return `${socket.remoteAddress ?? ""} ${socket.remotePort ?? 0}`;
}
