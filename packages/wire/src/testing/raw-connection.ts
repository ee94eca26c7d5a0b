import { once } from "node:events";
import { connect, type Socket } from "node:net";

/** No wait of a test is longer, unless it says so. */
const DEADLINE_MS = 15_000;

export interface RawTarget {
  readonly port: number;
  /** Default: loopback. */
  readonly host?: string;
  /** The longest wait for a frame. Default 15 s. */
  readonly deadlineMs?: number;
}

/**
 * A connection for tests that knows of ZooKeeper's protocol no more than the length in front of
 * each frame. It uses no codec of this repository, so that clients on top of it may check the
 * codec's bytes.
 */
export class RawConnection implements AsyncDisposable {
  readonly socket: Socket;
  readonly #deadlineMs: number;
  #received: Buffer = Buffer.alloc(0);
  #isClosed = false;
  #wake: (() => void) | undefined;

  constructor(socket: Socket, deadlineMs: number = DEADLINE_MS) {
    this.socket = socket;
    this.#deadlineMs = deadlineMs;
    socket.on("data", (chunk) => {
      this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk]);
      this.#wake?.();
    });
    socket.on("error", () => {
      // A reset is one way in which a server closes.
    });
    socket.on("close", () => {
      this.#isClosed = true;
      this.#wake?.();
    });
  }

  /** Begins to connect; what is sent meanwhile goes out once the connection is there. */
  static to({ port, host = "127.0.0.1", deadlineMs = DEADLINE_MS }: RawTarget): RawConnection {
    return new RawConnection(connect({ port, host, noDelay: true }), deadlineMs);
  }

  /** Bytes that came and were not taken yet. */
  get receivedBytes(): number {
    return this.#received.length;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  send(...bytes: readonly Uint8Array[]): void {
    this.socket.write(Buffer.concat(bytes));
  }

  /** Sends bytes with their length in front. */
  sendFrame(...payload: readonly Uint8Array[]): void {
    this.send(framed(Buffer.concat(payload)));
  }

  /** The next frame without its length. Rejects when the connection ends before it. */
  async frame(): Promise<Buffer> {
    const frame = await this.frameOrEnd();
    if (frame === undefined) throw new Error(`the connection was closed with ${this.#received.length} bytes unread`);
    return frame;
  }

  /**
   * The next frame without its length; undefined where the connection ends before it. Rejects when
   * nothing comes for a long time.
   */
  async frameOrEnd(): Promise<Buffer | undefined> {
    await this.until("a frame", () => this.#frameBytes() !== undefined || this.#isClosed);
    const bytes = this.#frameBytes();
    if (bytes === undefined) return undefined;
    const frame = this.#received.subarray(4, 4 + bytes);
    this.#received = this.#received.subarray(4 + bytes);
    return frame;
  }

  /** Everything until the server closes the connection. */
  async rest(): Promise<Buffer> {
    await this.until("the close", () => this.#isClosed);
    return this.#received;
  }

  /** Waits for a condition on what came. */
  async until(what: string, condition: () => boolean): Promise<void> {
    const deadline = performance.now() + this.#deadlineMs;
    while (!condition()) {
      const leftMs = deadline - performance.now();
      if (leftMs <= 0) throw new Error(`waited ${this.#deadlineMs} ms for ${what}`);
      await new Promise<void>((resolve) => {
        const timer = Number.isFinite(leftMs) ? setTimeout(resolve, leftMs) : undefined;
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isClosed) return;
    this.socket.destroy();
    await once(this.socket, "close");
  }

  #frameBytes(): number | undefined {
    if (this.#received.length < 4) return undefined;
    const length = this.#received.readInt32BE(0);
    return this.#received.length >= 4 + length ? length : undefined;
  }
}

/** Bytes with their length in front. */
export function framed(payload: Uint8Array): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(payload.length);
  return Buffer.concat([length, payload]);
}
