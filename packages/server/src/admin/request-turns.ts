import type { Socket } from "node:net";
import { BUDGETS, type ClientShare, ClientShares, NO_PROXIES, PipelinedRequests } from "@zooid/model";
import { AddressTurns } from "../driver/address-turns.ts";
import { TimeShare } from "../driver/time-share.ts";
import { TurnOrder } from "../driver/turn-order.ts";

const COST_MS_MAX = 100;
/**
 * The bytes of a connection that the parser gets at a time: the heads of some requests, or a piece
 * of a body.
 */
const PIECE_BYTES = 4 * 1024;
const BODY_PIECE_BYTES = 32 * 1024;

interface Request {
  readonly socket: Socket;
  /** Whether its body is there. */
  readonly complete: boolean;
  /** Bytes of it that came and are not read. */
  readonly readableLength: number;
  readonly readableHighWaterMark: number;
}

interface Due extends ClientShare {
  readonly socket: Socket;
  readonly begin: () => void;
}

/**
 * When HTTP requests are parsed and begun: one of a connection at a time, the addresses in turn,
 * one in a turn of the event loop, for a quarter of its time. An answer that grows with the state
 * is made in slices beside that.
 *
 * Node's parser takes all that has come at once: 2,500 requests in 64 KiB, which is 20 ms of the
 * event loop even where none is answered. So it gets what has come piece by piece.
 */
export class RequestTurns {
  readonly #requests = new PipelinedRequests<Socket>();
  readonly #due: AddressTurns<Due>;
  readonly #order: TurnOrder;
  readonly #clients = new ClientShares(NO_PROXIES);
  readonly #share: TimeShare;
  readonly #now: () => number;
  /** Connections with bytes that wait for their turn. */
  readonly #readable = new WeakSet<Socket>();
  /** The request that each connection has last sent. */
  readonly #last = new WeakMap<Socket, Request>();
  #isArmed = false;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#order = new TurnOrder({ now, proxiesShare: NO_PROXIES.share });
    this.#due = new AddressTurns(this.#order);
    this.#share = new TimeShare({ now, ...BUDGETS.httpRequests, costMsMax: COST_MS_MAX });
  }

  /** A socket is connected, and HTTP's parser listens to it. */
  connected(socket: Socket): void {
    socket.once("close", () => this.#requests.closed(socket));
    // With the first of these listeners the socket gives out nothing but what is read from it.
    const becameReadable = (): void => {
      if (this.#readable.has(socket)) return;
      this.#readable.add(socket);
      this.#enqueue(socket, () => this.#read(socket, becameReadable));
    };
    socket.on("readable", becameReadable);
    socket.on("resume", becameReadable);
  }

  /**
   * A request came.
   *
   * @param begin carries it out; not called for a connection that is closed before
   */
  add(message: Request, begin: () => void): void {
    const { socket } = message;
    this.#last.set(socket, message);
    if (!this.#requests.add(socket, () => this.#enqueue(socket, begin))) socket.destroy();
  }

  /** The answer of the request that was begun on this connection is over. */
  answered(socket: Socket): void {
    this.#requests.answered(socket);
  }

  #enqueue(socket: Socket, begin: () => void): void {
    this.#due.add({ socket, begin, ...this.#clients.of(socket.remoteAddress ?? "", socket.remotePort ?? 0) });
    this.#arm();
  }

  #read(socket: Socket, becameReadable: () => void): void {
    this.#readable.delete(socket);
    const last = this.#last.get(socket);
    const isBody = last?.complete === false;
    // What is not read of a body waits at the socket: when it is read, the parser resumes that.
    if (isBody && last.readableLength >= last.readableHighWaterMark) return;
    const bytesMax = isBody ? BODY_PIECE_BYTES : PIECE_BYTES;
    if (socket.readableLength > bytesMax) {
      socket.read(bytesMax);
      becameReadable();
    } else socket.read();
  }

  #arm(): void {
    if (this.#isArmed || this.#due.count === 0) return;
    this.#isArmed = true;
    const waitMs = this.#share.waitMs();
    if (waitMs > 0) setTimeout(() => this.#turn(), waitMs);
    else this.#turn();
  }

  #turn(): void {
    let startMs = 0;
    let share: string | undefined;
    setImmediate(() => {
      startMs = this.#now();
      share = this.#beginNext();
    });
    // It runs when all is done that the request could do at once, the callbacks of its promises
    // among it.
    setImmediate(() => {
      const tookMs = this.#now() - startMs;
      this.#share.spend(tookMs);
      if (share !== undefined) this.#order.charge(share, tookMs);
      this.#isArmed = false;
      this.#arm();
    });
  }

  /** @returns the address that had its turn */
  #beginNext(): string | undefined {
    for (let next = this.#due.take(); next !== undefined; next = this.#due.take()) {
      if (next.socket.destroyed) continue;
      next.begin();
      return next.share;
    }
    return undefined;
  }
}
