import { EventEmitter } from "node:events";
import type { ByteSource, ByteTaker } from "../shared-reads.ts";

/** How a {@link RelaySocket} gets its bytes to the other end. */
export interface RelayWay {
  /** Takes bytes on, which are valid during the call. */
  send(bytes: Uint8Array): void;
  /** Has what was taken on sent. */
  flush(): void;
  /** Bytes that were taken on and not sent yet. */
  waitingBytes(): number;
  /** This end was closed; called once, behind all that was sent. */
  close(): void;
}

/** No piece is longer, so that whatever else goes the same way comes between. */
const PIECE_BYTES = 256 * 1024;

/** One end of a stream that a third server carries, in place of the socket that there would be otherwise. */
export class RelaySocket extends EventEmitter<{ error: [Error]; close: []; drain: [] }> implements ByteSource {
  readonly #way: RelayWay;
  #take: ByteTaker | undefined;
  /** What came before anybody took it. */
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

  /** Whoever carries it says so if it is too much. */
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

  /** Bytes came from the other end; they are valid during the call. */
  arrived(bytes: Uint8Array): void {
    if (this.#isClosed) return;
    const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    if (this.#take === undefined) this.#early.push(Buffer.from(view));
    else this.#take(view);
  }

  cork(): void {
    // What is written goes out at the end in any case.
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

  destroySoon(): void {
    this.destroy();
  }

  destroy(): this {
    if (this.#isClosed) return this;
    this.#isClosed = true;
    this.#way.close();
    setImmediate(() => this.emit("close"));
    return this;
  }

  /** The other end, or what lies between, is gone. It is told of afterwards, as of a socket that ends. */
  lost(reason: string): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    setImmediate(() => {
      this.emit("error", new Error(reason));
      this.emit("close");
    });
  }
}
