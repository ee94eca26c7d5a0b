import type { Socket } from "node:net";
import { createServer, type SecureContextOptions, type Server, type TLSSocket, type TlsOptions } from "node:tls";

interface Waiting {
  readonly socket: Socket;
  readonly ready: (socket: TLSSocket) => void;
  readonly failed: ((error: Error) => void) | undefined;
}

/** Speaks the server's half of TLS on connections that a listener of ours took. */
export class TlsAcceptor {
  /** It never listens: it is handed connections. */
  readonly #server: Server;
  /** Connections that have not finished TLS's own handshake, by where they came from. */
  readonly #waiting = new Map<string, Waiting>();

  constructor(options: TlsOptions) {
    this.#server = createServer(options);
    this.#server.on("secureConnection", (socket) => this.#take(socket)?.ready(socket));
    this.#server.on("tlsClientError", (error, socket) => {
      const waiting = this.#take(socket);
      waiting?.failed?.(error);
      waiting?.socket.destroy(error);
    });
  }

  /** Connections whose handshake is under way. */
  get waitingCount(): number {
    return this.#waiting.size;
  }

  /**
   * @param ready handed the socket to speak through, once both sides can
   * @param failed told why not, before the connection is closed
   */
  accept(socket: Socket, ready: (socket: TLSSocket) => void, failed?: (error: Error) => void): void {
    const origin = originOf(socket);
    const { allowHalfOpen } = socket;
    // A client that leaves in the middle of a handshake must not be waited for.
    socket.allowHalfOpen = false;
    const secured = (around: TLSSocket): void => {
      around.allowHalfOpen = allowHalfOpen;
      ready(around);
    };
    this.#waiting.set(origin, { socket, ready: secured, failed });
    socket.once("close", () => {
      if (this.#waiting.get(origin)?.socket === socket) this.#waiting.delete(origin);
    });
    this.#server.emit("connection", socket);
  }

  /** What connections from now on are met with. */
  setSecureContext(options: SecureContextOptions): void {
    this.#server.setSecureContext(options);
  }

  /** Closes the connections whose handshake is under way. */
  stop(): void {
    for (const { socket } of this.#waiting.values()) socket.destroy();
  }

  #take(socket: Socket): Waiting | undefined {
    const origin = originOf(socket);
    const waiting = this.#waiting.get(origin);
    this.#waiting.delete(origin);
    return waiting;
  }
}

function originOf(socket: Socket): string {
  return `${socket.remoteAddress ?? ""} ${socket.remotePort ?? 0}`;
}
