import { EventEmitter } from "node:events";
import type { ByteSource, ByteTaker } from "../clients/shared-reads.ts";

/** The carrier of a {@link RelaySocket}'s bytes. */
export interface RelayWay {
  /** Queues bytes, which are valid during the call. */
  send(bytes: Uint8Array): void;
  /** Sends the queued bytes. */
  flush(): void;
  /** Queued bytes that are not sent yet. */
  waitingBytes(): number;
  /** This end was closed; called once, after all its bytes. */
  close(): void;
}

/** The longest piece, so that other messages on the same link come between. */
const PIECE_BYTES = 256 * 1024;

/** One end of a stream that a third server relays, in place of a socket. */
export class RelaySocket extends EventEmitter<{ error: [Error]; close: []; drain: [] }> implements ByteSource {
  readonly #way: RelayWay;
  #take: ByteTaker | undefined;
  /** Bytes that arrived before `accept`. */
  #early: Buffer[] = [];
  #isClosed = false;

  constructor(way: RelayWay) {
    super();
    this.#way = way;
  }

  get closed(): boolean {
    return this.#isClosed;
  }

  get writable(): boolean {
    return !this.#isClosed;
  }

  get writableLength(): number {
    return this.#isClosed ? 0 : this.#way.waitingBytes();
  }

  /** The carrier limits the queued bytes. */
  get writableNeedDrain(): boolean {
    return false;
  }

  setNoDelay(): this {
    return this;
  }

  setKeepAlive(): this {
    return this;
  }

  begin(take: ByteTaker): void {
    this.#take = take;
    const early = this.#early;
    this.#early = [];
    for (const bytes of early) take(bytes);
  }

  /** Bytes arrived from the other end; they are valid during the call. */
  arrived(bytes: Uint8Array): void {
    if (this.#isClosed) return;
    const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    if (this.#take === undefined) this.#early.push(Buffer.from(view));
    else this.#take(view);
  }

  cork(): void {
    // `end` sends the queued bytes in any case.
  }

  write(bytes: Uint8Array): boolean {
    for (let at = 0; at < bytes.length && !this.#isClosed; at += PIECE_BYTES) {
      this.#way.send(bytes.subarray(at, at + PIECE_BYTES));
    }
    return true;
  }

  uncork(): void {
    if (!this.#isClosed) this.#way.flush();
  }

  /** The other end closes when it has read all: there is nothing to wait for here. */
  end(): void {
    this.destroy();
  }

  destroy(): this {
    if (this.#isClosed) return this;
    this.#isClosed = true;
    this.#way.close();
    setImmediate(() => this.emit("close"));
    return this;
  }

  /** The other end, or the carrier, is gone. As with a socket, the end is reported later. */
  lost(reason: string): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    setImmediate(() => {
      this.emit("error", new Error(reason));
      this.emit("close");
    });
  }
}
