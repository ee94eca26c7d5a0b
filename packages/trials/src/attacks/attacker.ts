import { connect, type Socket } from "node:net";
import type { JuteWriter } from "@zooid/wire";
import { connectRequest, request } from "@zooid/wire/testing/raw-client";

/** No wait of an attack is longer. */
const DEADLINE_MS = 60_000;
const FRAME_LENGTH_BYTES = 4;
const HEADER_BYTES = 16;

export interface AttackerOptions {
  readonly port: number;
  readonly localAddress?: string;
  readonly timeoutMs?: number;
  /** False for a connection that never asks for a session. Default true. */
  readonly hasSession?: boolean;
}

/**
 * A connection that sends as much as the server takes, and looks at no more of the answers than
 * their headers: measuring a server on the same machine leaves the client little time.
 */
export class Attacker implements AsyncDisposable {
  readonly #socket: Socket;
  readonly #header = Buffer.alloc(FRAME_LENGTH_BYTES + HEADER_BYTES);
  #headerBytes = 0;
  #bodyBytesLeft = 0;
  #isConnected = false;
  #wake: (() => void)[] = [];
  #xid = 0;
  /** Answers by error code; events are not counted. */
  readonly codes: Map<number, number> = new Map();
  answerCount = 0;
  isClosed = false;

  private constructor(socket: Socket, hasSession: boolean) {
    this.#socket = socket;
    this.#isConnected = !hasSession;
    socket.on("data", (chunk) => this.#receive(chunk));
    socket.on("error", () => socket.destroy());
    socket.on("drain", () => this.#wakeAll());
    socket.on("close", () => {
      this.isClosed = true;
      this.#wakeAll();
    });
  }

  static async open(options: AttackerOptions): Promise<Attacker> {
    const { port, localAddress, timeoutMs = 30_000, hasSession = true } = options;
    const socket = connect({
      port,
      host: "127.0.0.1",
      noDelay: true,
      ...(localAddress === undefined ? {} : { localAddress }),
    });
    const attacker = new Attacker(socket, hasSession);
    socket.on("connect", () => attacker.#wakeAll());
    await attacker.#until("a connection", () => !socket.connecting);
    if (!hasSession) return attacker;
    socket.write(connectRequest({ timeoutMs }));
    await attacker.#until("a session", () => attacker.#isConnected);
    return attacker;
  }

  /** A request's frame with the next xid. */
  frame(op: number, body: (writer: JuteWriter) => void = () => {}): Buffer {
    return request(++this.#xid, op, body);
  }

  /**
   * Writes frames as fast as the server reads them. Resolves once all are written, or the
   * connection is closed.
   */
  async flood(frames: Iterable<Uint8Array>): Promise<void> {
    for (const frame of frames) {
      if (this.isClosed) return;
      if (this.#socket.write(frame)) continue;
      await this.#until("the server to read", () => !this.#socket.writableNeedDrain);
    }
  }

  /**
   * Sends one request and waits for its answer. @returns its error code; undefined where the
   * connection was closed instead
   */
  async ask(op: number, body?: (writer: JuteWriter) => void): Promise<number | undefined> {
    const count = this.answerCount;
    this.#socket.write(this.frame(op, body));
    await this.untilAnswers(count + 1);
    return this.answerCount > count ? this.#header.readInt32BE(HEADER_BYTES) : undefined;
  }

  /** Sends requests and waits for all answers. */
  async askAll(frames: readonly Uint8Array[]): Promise<void> {
    const count = this.answerCount + frames.length;
    await this.flood(frames);
    await this.untilAnswers(count);
  }

  /** Waits until `count` answers have arrived in all, or the connection is closed. */
  async untilAnswers(count: number): Promise<void> {
    await this.#until(`${count} answers`, () => this.answerCount >= count);
  }

  /** Ends the connection and leaves the session to the server. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#socket.destroy();
    await this.#until("the close", () => this.isClosed);
  }

  #receive(chunk: Buffer): void {
    for (let at = 0; at < chunk.length; ) {
      if (this.#bodyBytesLeft > 0) {
        const taken = Math.min(this.#bodyBytesLeft, chunk.length - at);
        this.#bodyBytesLeft -= taken;
        at += taken;
        continue;
      }
      const taken = Math.min(this.#header.length - this.#headerBytes, chunk.length - at);
      chunk.copy(this.#header, this.#headerBytes, at, at + taken);
      this.#headerBytes += taken;
      at += taken;
      if (this.#headerBytes < this.#header.length) continue;
      this.#headerBytes = 0;
      this.#bodyBytesLeft = this.#header.readInt32BE(0) - HEADER_BYTES;
      this.#count();
    }
    this.#wakeAll();
  }

  #count(): void {
    if (!this.#isConnected) {
      this.#isConnected = true;
      return;
    }
    if (this.#header.readInt32BE(FRAME_LENGTH_BYTES) === -1) return;
    const code = this.#header.readInt32BE(HEADER_BYTES);
    this.codes.set(code, (this.codes.get(code) ?? 0) + 1);
    this.answerCount++;
  }

  #wakeAll(): void {
    for (const wake of this.#wake.splice(0)) wake();
  }

  async #until(what: string, condition: () => boolean): Promise<void> {
    const deadline = performance.now() + DEADLINE_MS;
    while (!condition() && !this.isClosed) {
      const leftMs = deadline - performance.now();
      if (leftMs <= 0) throw new Error(`waited ${DEADLINE_MS} ms for ${what}; ${this.answerCount} answers came`);
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, leftMs);
      this.#wake.push(resolve);
      await promise;
      clearTimeout(timer);
    }
  }
}
