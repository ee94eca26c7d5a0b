/**
 * A client's connections in virtual time: bytes that arrive late and in order, are held back, or
 * are lost.
 */
import type { TransportConnection, TransportEvents } from "@zooid/client";
import type { ConnectionRef } from "@zooid/model";
import type { SimServer } from "@zooid/simulator";
import { Framer, JuteWriter, readConnectRequest } from "@zooid/wire";
import type { Line } from "./world.ts";

/** The way of one client to all servers, which can be cut, refused and frozen. */
export class SimulatedLine implements Line {
  readonly pipes: Set<Pipe> = new Set();
  isRefusing = false;
  #frozen = { requests: false, answers: false };
  readonly #held: { readonly direction: "requests" | "answers"; readonly arrive: () => void }[] = [];

  cut(): void {
    for (const pipe of [...this.pipes]) pipe.lost();
  }

  refuse(): void {
    this.isRefusing = true;
  }

  accept(): void {
    this.isRefusing = false;
  }

  freeze(direction: "requests" | "answers" | "both"): void {
    if (direction !== "answers") this.#frozen.requests = true;
    if (direction !== "requests") this.#frozen.answers = true;
  }

  thaw(): void {
    this.#frozen = { requests: false, answers: false };
    for (const { arrive } of this.#held.splice(0)) arrive();
  }

  pass(direction: "requests" | "answers", arrive: () => void): void {
    if (this.#frozen[direction]) this.#held.push({ direction, arrive });
    else arrive();
  }
}

/** What a connection needs of the world around it. */
export interface Post {
  after(delayMs: number, run: () => void): void;
  delayMs(): number;
  /** A client is about to be called. */
  touch(): void;
}

/** One connection of a client to a server: both directions in order, late, held back or lost. */
export class Pipe implements TransportConnection {
  readonly writer: JuteWriter = new JuteWriter();
  readonly #events: TransportEvents;
  readonly #line: SimulatedLine;
  readonly #post: Post;
  readonly #framer = new Framer(1 << 20);
  #server: SimServer | undefined;
  #ref: ConnectionRef | undefined;
  #forget: (() => void) | undefined;
  #isGreeted = false;
  /** Each end learns in its own time that the connection has ended. */
  #hasClientLeft = false;
  #hasServerLeft = false;
  #isClosing = false;
  #requestsAtMs = 0;
  #answersAtMs = 0;

  constructor(events: TransportEvents, line: SimulatedLine, post: Post) {
    this.#events = events;
    this.#line = line;
    this.#post = post;
    line.pipes.add(this);
  }

  open(server: SimServer, ref: ConnectionRef, forget: () => void): void {
    if (this.#hasClientLeft) return forget();
    this.#server = server;
    this.#ref = ref;
    this.#forget = forget;
    this.#post.touch();
    this.#events.opened();
  }

  write(bytes: Buffer, written: () => void): boolean {
    const copy = Buffer.from(bytes);
    this.#post.after(0, () => {
      this.#post.touch();
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

  flush(): void {
    if (this.writer.end > 0) {
      const chunk = Buffer.from(this.writer.bytes.subarray(0, this.writer.end));
      this.writer.clear();
      this.#deliver("answers", () => this.#events.data(chunk));
    }
    if (this.#isClosing) {
      this.#isClosing = false;
      this.#deliver("answers", () => this.lost());
    }
  }

  /** The connection is broken, and both ends learn of it. */
  lost(hasServerLeft = false): void {
    if (hasServerLeft) this.#hasServerLeft = true;
    if (this.#hasClientLeft) return;
    this.#end();
    this.#post.touch();
    this.#events.closed(undefined);
  }

  #end(): void {
    this.#hasClientLeft = true;
    this.#line.pipes.delete(this);
    const [server, ref, forget] = [this.#server, this.#ref, this.#forget];
    if (server === undefined || ref === undefined) return;
    // Bytes in flight may still arrive.
    this.#post.after(5 * this.#post.delayMs(), () => {
      if (this.#hasServerLeft) return;
      this.#hasServerLeft = true;
      forget?.();
      server.disconnect(ref);
    });
  }

  /** In order, after what is in flight; what is held back waits for the line. */
  #deliver(direction: "requests" | "answers", arrive: () => void): void {
    const run = (): void => {
      this.#line.pass(direction, () => {
        if (direction === "requests" ? this.#hasServerLeft : this.#hasClientLeft) return;
        this.#post.touch();
        arrive();
      });
    };
    // Each arrives a little after the one before, since equal delays do not keep an order.
    const delayMs = this.#post.delayMs();
    const last = direction === "requests" ? this.#requestsAtMs : this.#answersAtMs;
    const atMs = Math.max(last + 0.001, performance.now() + delayMs);
    if (direction === "requests") this.#requestsAtMs = atMs;
    else this.#answersAtMs = atMs;
    this.#post.after(atMs - performance.now(), run);
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
}
