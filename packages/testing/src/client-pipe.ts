import type { TransportConnection, TransportEvents } from "@zooid/client";
import type { ConnectionRef } from "@zooid/model";
import type { SimServer } from "@zooid/simulator";
import { Framer, JuteWriter, readConnectRequest, readConnectResponse } from "@zooid/wire";
import type { ClientLink, Direction } from "./client-link.ts";

const FRAME_BYTES_MAX = 1 << 20;

/** The parts of the world that a connection needs. */
export interface PipeWorld {
  readonly nowMs: number;
  after(delayMs: number, run: () => void): void;
  delayMs(): number;
  /** A client is about to be called. */
  touch(): void;
  /** A client has sent something. */
  expectRun(): void;
}

/** One connection of a client to a server: both directions in order, delayed, held back or lost. */
export class ClientPipe implements TransportConnection {
  readonly writer: JuteWriter = new JuteWriter();
  readonly #sid: number;
  readonly #events: TransportEvents;
  readonly #link: ClientLink;
  readonly #world: PipeWorld;
  readonly #framer = new Framer(FRAME_BYTES_MAX);
  #server: SimServer | undefined;
  #ref: ConnectionRef | undefined;
  #forget: (() => void) | undefined;
  #isGreeted = false;
  #isAnswered = false;
  /** Each end notices in its own time that the connection has ended. */
  #hasClientLeft = false;
  #hasServerLeft = false;
  #isClosing = false;
  #requestsAtMs = 0;
  #answersAtMs = 0;

  constructor(sid: number, events: TransportEvents, link: ClientLink, world: PipeWorld) {
    this.#sid = sid;
    this.#events = events;
    this.#link = link;
    this.#world = world;
    link.pipes.add(this);
  }

  /**
   * The server has accepted the connection. @param forget called when the server is to forget it
   */
  open(server: SimServer, ref: ConnectionRef, forget: () => void): void {
    if (this.#hasClientLeft) return forget();
    this.#server = server;
    this.#ref = ref;
    this.#forget = forget;
    this.#world.touch();
    this.#events.opened();
  }

  write(bytes: Buffer, written: () => void): boolean {
    const copy = Buffer.from(bytes);
    this.#world.expectRun();
    this.#world.after(0, () => {
      this.#world.touch();
      written();
    });
    this.#deliver("requests", () => this.#arrive(copy));
    return true;
  }

  /** The client has left. */
  destroy(): void {
    if (!this.#hasClientLeft) this.#end();
  }

  /** The server ends the connection after what it has sent. */
  closing(): void {
    this.#isClosing = true;
  }

  /** Sends the replies of a server's step together. */
  flush(): void {
    if (this.writer.end > 0) {
      const chunk = Buffer.from(this.writer.bytes.subarray(0, this.writer.end));
      this.writer.clear();
      if (!this.#isAnswered) this.#readSession(chunk);
      this.#deliver("answers", () => this.#events.data(chunk));
    }
    if (this.#isClosing) {
      this.#isClosing = false;
      this.#deliver("answers", () => this.lost());
    }
  }

  /** The connection is broken, and both ends notice. */
  lost(hasServerLeft = false): void {
    if (hasServerLeft) this.#hasServerLeft = true;
    if (this.#hasClientLeft) return;
    this.#end();
    this.#world.touch();
    this.#events.closed(undefined);
  }

  #end(): void {
    this.#hasClientLeft = true;
    this.#link.pipes.delete(this);
    const [server, ref, forget] = [this.#server, this.#ref, this.#forget];
    if (server === undefined || ref === undefined) return;
    // Bytes in flight may still arrive.
    this.#world.after(5 * this.#world.delayMs(), () => {
      if (this.#hasServerLeft) return;
      this.#hasServerLeft = true;
      forget?.();
      server.disconnect(ref);
    });
  }

  /** In order, after what is in flight; what is held back waits for the link. */
  #deliver(direction: Direction, arrive: () => void): void {
    const run = (): void => {
      this.#link.pass(direction, this.#sid, () => {
        if (direction === "requests" ? this.#hasServerLeft : this.#hasClientLeft) return;
        this.#world.touch();
        arrive();
      });
    };
    // Each arrives a little after the one before, since equal delays do not keep an order.
    const delayMs = this.#world.delayMs();
    const last = direction === "requests" ? this.#requestsAtMs : this.#answersAtMs;
    const { nowMs } = this.#world;
    const atMs = Math.max(last + 0.001, nowMs + delayMs);
    if (direction === "requests") this.#requestsAtMs = atMs;
    else this.#answersAtMs = atMs;
    this.#world.after(atMs - nowMs, run);
  }

  #arrive(bytes: Buffer): void {
    const [server, ref] = [this.#server, this.#ref];
    if (server === undefined || ref === undefined) return;
    this.#framer.push(bytes, (chunk, start, end) => {
      const frame = chunk.slice(start, end);
      if (this.#isGreeted) server.receive(ref, frame);
      else server.connect(ref, readConnectRequest(frame, 0, frame.length));
      this.#isGreeted = true;
      return true;
    });
  }

  /** The first answer grants a session, or none. */
  #readSession(chunk: Buffer): void {
    this.#isAnswered = true;
    const { sessionId, password } = readConnectResponse(chunk, 4, chunk.length);
    const { bytes, start, end } = password;
    if (sessionId !== 0n) this.#link.session = { id: sessionId, password: bytes.slice(start, end) };
  }
}
