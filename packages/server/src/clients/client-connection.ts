import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";
import type { ClientShare, ConnectionRef } from "@zooid/model";
import { hostPort } from "@zooid/model";
import { type BufferPool, Framer, JuteWriter, readConnectRequest, WireError } from "@zooid/wire";
import type { SlicedAnswer } from "../admin/answer-slices.ts";
import type { ReadTurns } from "../driver/read-turns.ts";
import type { RefusalLog } from "../operators/refusal-log.ts";
import { type ConnectionPhase, type PhaseEvent, phaseAfter } from "./connection-phase.ts";
import { FirstBytes } from "./first-bytes.ts";
import { ReadState } from "./read-state.ts";
import { receive } from "./shared-reads.ts";
import type { Traffic } from "./traffic.ts";
import { untilDrained } from "./until-drained.ts";

/** The driver, as a connection needs it. */
export interface ConnectionHost {
  readonly pool: BufferPool;
  readonly limits: ConnectionLimits;
  readonly refusals: RefusalLog;
  readonly traffic: Traffic;
  /** Schedules which connections are read in this turn. */
  readonly reads: ReadTurns<ClientConnection>;
  /** Called before any bytes are read, so that a turn is open. */
  wake(): void;
  /** Bytes of a four-letter word with its argument; 4 for an unknown word. */
  wordBytes(word: string): number;
  /** The answer to a four-letter word; undefined if these bytes are none. */
  fourLetterWord(word: string, argument: Buffer, connection: ClientConnection): string | SlicedAnswer | undefined;
  /** Handles the first frame of a connection. @returns false if the server does not serve */
  connect(connection: ClientConnection, frame: ReturnType<typeof readConnectRequest>): boolean;
  /** Handles a further frame. @returns false if no more may be read for now */
  onClientFrame(connection: ClientConnection, bytes: Uint8Array, start: number, end: number): boolean;
  /** Requests of a connection were taken: writes may be prepared. */
  hasRead(): void;
  /** The connection has bytes to send at the end of the turn, or is to be closed then. */
  dirty(connection: ClientConnection): void;
  /** The last bytes are written: `closeSocket` is to be called. */
  ended(connection: ClientConnection): void;
  /** The socket is closed. */
  closed(connection: ClientConnection): void;
}

export interface ConnectionLimits {
  /** `jute.maxbuffer`: the largest frame after the first. */
  readonly frameBytesMax: number;
  /** Unsent bytes of a slow reader from which its requests are left unread. */
  readonly outputBytesHigh: number;
  /** Unsent bytes of a slow reader from which it is cut off. */
  readonly outputBytesMax: number;
  /** Time in which a closing connection accepts none of its last bytes until it is cut off. */
  readonly closingMs: number;
}

/** Frames and answers of this length cost more than most. */
const LARGE_BYTES = 4096;

/** One client's socket: cuts bytes into frames, and writes the answers of a turn at once. */
export class ClientConnection {
  readonly socket: Socket;
  readonly ref: ConnectionRef;
  /** The peer's address in Java's format, without the port. */
  readonly address: string;
  /** The share that it counts as where clients have shares, see {@link ClientShare}. */
  readonly share: string;
  readonly isProxied: boolean;
  readonly port: number;
  /** The time of the accept, by the wall clock and by the monotonic clock. */
  readonly establishedMs: number;
  readonly acceptedAtMs: number;
  /** Whether the client sent the read-only byte. */
  sentReadOnly = false;
  /** Its output will be flushed: after it was read, or at the end of this turn. */
  isDirty = false;
  /** An answer, or the close, is among what will be flushed: its client waits for that. */
  isAwaited = false;
  /** It is being read; the answers are flushed right after, while its data is in the CPU caches. */
  isReading = false;
  readonly writer: JuteWriter;
  readonly #host: ConnectionHost;
  readonly #framer: Framer;
  readonly #firstBytes = new FirstBytes();
  #phase: ConnectionPhase = "first bytes";
  readonly #state = new ReadState();
  /** Bytes that arrived and are left for a later turn. */
  #chunk: Buffer | undefined;
  /** The socket is paused. */
  #isPaused = false;
  /** The delay of {@link withhold}. */
  #withheld: NodeJS.Timeout | undefined;

  constructor(
    socket: Socket,
    identity: { ref: ConnectionRef; address: string; counted: ClientShare; nowMs: number; wallMs: number },
    host: ConnectionHost,
  ) {
    this.socket = socket;
    this.ref = identity.ref;
    this.address = identity.address;
    this.share = identity.counted.share;
    this.isProxied = identity.counted.isProxied;
    this.port = socket.remotePort ?? 0;
    this.establishedMs = identity.wallMs;
    this.acceptedAtMs = identity.nowMs;
    this.#host = host;
    this.writer = new JuteWriter(host.pool);
    this.#framer = new Framer(host.limits.frameBytesMax, host.pool);
    socket.setNoDelay(true);
    socket.on("error", () => {
      // The close event follows. A client that disconnects is not reported to operators.
    });
    socket.on("close", () => {
      this.#becomes("closed");
      clearTimeout(this.#withheld);
      host.closed(this);
    });
    // A client that ends its side is gone, unless it waits for the answer to a four-letter word.
    socket.on("end", () => {
      if (this.#phase === "answering") return;
      if (this.#phase === "requests") host.traffic.drops++;
      host.wake();
      host.reads.pause();
      this.close();
    });
    socket.on("drain", () => this.#drained());
    receive(socket, (chunk) => this.#read(chunk));
  }

  /** `/address:port`, as Apache prints a peer. */
  get peer(): string {
    return `/${hostPort(this.address, this.port)}`;
  }

  get isClosing(): boolean {
    return this.#phase === "closing" || this.#phase === "ending";
  }

  get hasSession(): boolean {
    return this.#phase === "requests";
  }

  #becomes(event: PhaseEvent): void {
    this.#phase = phaseAfter(this.#phase, event);
  }

  /** Resumes reading after `receive` returned false. */
  resume(): void {
    this.#state.resume();
    this.#readOn();
  }

  /** Reads the bytes that an earlier turn left. */
  readLater(): void {
    this.#state.dequeue();
    const chunk = this.#chunk;
    this.#chunk = undefined;
    if (chunk !== undefined) this.#take(chunk);
    this.#cutKept();
  }

  /** Closes the socket after its pending output, at the end of the turn. */
  close(): void {
    this.#becomes("close");
    this.#host.dirty(this);
  }

  /** Delays unsent answers, and a close that follows them; no requests are read meanwhile. */
  withhold(delayMs: number): void {
    clearTimeout(this.#withheld);
    this.#state.withhold();
    this.#withheld = setTimeout(() => {
      this.#host.wake();
      this.release();
      this.#host.dirty(this);
      this.#readOn();
    }, delayMs);
  }

  /** Ends the delay of {@link withhold}. */
  release(): void {
    clearTimeout(this.#withheld);
    this.#withheld = undefined;
    this.#state.release();
  }

  /** Closes the connection at once: unsent bytes are lost. */
  cutOff(): void {
    this.#becomes("close");
    // Under TLS the underlying socket cannot be reset.
    if (this.socket instanceof TLSSocket) this.socket.destroy();
    else this.socket.resetAndDestroy();
  }

  /** Closes the connection of a client with too many unsent bytes. */
  cutOffSlowReader(waitingBytes: number): void {
    this.#host.refusals.note(
      "slow-reader",
      this.peer,
      `${waitingBytes} bytes wait for a client that does not read them`,
    );
    this.cutOff();
  }

  // Output

  /** Sends the answers of this turn. */
  flush(): void {
    const { socket, writer } = this;
    this.isDirty = false;
    this.isAwaited = false;
    if (this.#withheld !== undefined) return;
    if (writer.end > 0) {
      const { end } = writer;
      const buffer = writer.detach();
      if (socket.writable) {
        this.#host.traffic.bytesSent += end;
        socket.write(buffer.bytes.subarray(0, end));
        // A buffer that the kernel copied is free again; one that waits for a slow reader is left
        // to the garbage collector.
        if (socket.writableLength > 0) this.#checkBacklog();
        else {
          this.#host.pool.giveWritten(buffer);
          // No drain event follows. Other connections get their turn before this one continues.
          if (this.#state.isChoked) setImmediate(() => this.#drained());
        }
      }
    }
    if (this.#phase === "closing" && !socket.destroyed) {
      this.#becomes("written");
      this.#host.ended(this);
    }
  }

  /**
   * Closes the socket after its last bytes; a peer that does not accept them is cut off after a
   * timeout.
   */
  closeSocket(): void {
    const { socket } = this;
    if (socket.destroyed) return;
    // Nothing is left to be sent or read: a shutdown before the close would only take time. TLS
    // ends with a message of its own.
    if (socket.readableEnded && socket.writableLength === 0 && !(socket instanceof TLSSocket)) {
      socket.destroy();
      return;
    }
    socket.setTimeout(this.#host.limits.closingMs, () => socket.destroy());
    socket.destroySoon();
  }

  #checkBacklog(): void {
    const waiting = this.socket.writableLength;
    const { outputBytesHigh, outputBytesMax } = this.#host.limits;
    if (waiting > outputBytesMax) this.cutOffSlowReader(waiting);
    else if (waiting > outputBytesHigh) {
      this.#state.choke();
      this.#setPaused(true);
    }
  }

  #drained(): void {
    if (!this.#state.isChoked) return;
    this.#state.drain();
    this.#readOn();
  }

  // Input

  #read(chunk: Buffer): void {
    this.#host.wake();
    this.#host.traffic.bytesReceived += chunk.length;
    // Bytes that arrived earlier and wait for a later turn are read first.
    if (!this.#state.isQueued && this.#host.reads.hasRoomFor(this)) {
      this.#take(chunk);
      return;
    }
    // The chunk is valid during the call only.
    this.#chunk = Buffer.concat(this.#chunk === undefined ? [chunk] : [this.#chunk, chunk]);
    this.#setPaused(true);
    this.#queue();
  }

  /** Lets a later turn continue to read. */
  #queue(): void {
    if (this.#state.isQueued) return;
    const hasHadShare = this.#state.isSpent;
    this.#state.queue();
    this.#host.reads.later(this, hasHadShare);
  }

  #take(chunk: Buffer): void {
    this.isReading = true;
    this.#guard(() => {
      if (this.isClosing) return;
      if (this.#phase === "first bytes") this.#takeFirst(chunk);
      else this.#framer.push(chunk, this.#sink);
    });
    this.isReading = false;
    this.#host.hasRead();
    if (this.isDirty) this.flush();
    if (this.#framer.isStopped) this.#setPaused(true);
    if (this.#state.isSpent) this.#queue();
  }

  #takeFirst(chunk: Buffer): void {
    const first = this.#firstBytes.take(chunk, {
      wordBytes: (word) => this.#host.wordBytes(word),
      answer: (word, argument) => this.#host.fourLetterWord(word, argument, this),
    });
    if (first === undefined) return;
    if (first.kind === "frames") {
      this.#becomes("frames");
      this.#framer.push(first.bytes, this.#sink);
      return;
    }
    if (first.kind === "long answer") {
      this.#becomes("long answer");
      void this.#answer(first.answer);
      return;
    }
    if (first.kind === "refused") this.#host.refusals.note(first.code, this.peer, first.reason);
    if (first.text !== "") {
      const answer = Buffer.from(first.text);
      this.writer.raw(answer, 0, answer.length);
    }
    this.close();
  }

  /** Sends an answer as the client takes it, and closes. */
  async #answer(answer: SlicedAnswer): Promise<void> {
    try {
      await using sent = answer;
      for (let chunk = await sent.next(); chunk !== undefined && !this.isClosing; chunk = await sent.next()) {
        this.writer.raw(chunk, 0, chunk.length);
        this.flush();
        await untilDrained(this.socket);
      }
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.#host.refusals.note("word", this.peer, `the answer to its four-letter word failed: ${reason}`);
    }
    this.#host.wake();
    this.close();
  }

  readonly #sink = (bytes: Uint8Array, start: number, end: number): boolean => {
    if (this.#phase === "requests") return this.#request(bytes, start, end);
    if (this.#phase === "connect request") this.#connect(bytes, start, end);
    return false;
  };

  #connect(bytes: Uint8Array, start: number, end: number): void {
    const request = readConnectRequest(bytes, start, end);
    this.sentReadOnly = request.readOnly !== undefined;
    this.#becomes("connect request");
    // Requests wait until the session is open.
    this.#state.hold();
    if (!this.#host.connect(this, request)) this.close();
  }

  /** @returns whether the next frame may follow */
  #request(bytes: Uint8Array, start: number, end: number): boolean {
    const { end: outputBefore } = this.writer;
    if (!this.#host.onClientFrame(this, bytes, start, end)) this.#state.hold();
    // One chunk holds thousands of requests, each of which may have an answer of a mebibyte, or
    // cost milliseconds.
    if (this.writer.end > this.#host.limits.outputBytesHigh) this.#state.choke();
    const isLarge = end - start + this.writer.end - outputBefore > LARGE_BYTES;
    if (this.#host.reads.isShareSpent(this, isLarge)) this.#state.spend();
    return this.#state.isReady;
  }

  /** Closes the connection of a client that sent invalid bytes. */
  #guard(read: () => void): void {
    try {
      read();
    } catch (error) {
      if (!(error instanceof WireError)) throw error;
      this.#host.refusals.note(error.code, this.peer, error.message);
      this.close();
    }
  }

  #readOn(): void {
    if (!this.#mayRead) return;
    this.#host.wake();
    if (this.#state.isQueued) return;
    if (this.#host.reads.hasRoomFor(this)) this.#cutKept();
    else this.#queue();
  }

  get #mayRead(): boolean {
    return !this.isClosing && !this.#state.isBlocked;
  }

  /** Cuts the framer's stored bytes into requests. */
  #cutKept(): void {
    if (!this.#mayRead || this.#state.isQueued) return;
    this.#guard(() => this.#framer.resume(this.#sink));
    if (!this.#framer.isStopped) this.#setPaused(false);
    else if (this.#state.isSpent) this.#queue();
  }

  #setPaused(isPaused: boolean): void {
    if (isPaused === this.#isPaused || this.isClosing) return;
    this.#isPaused = isPaused;
    if (isPaused) this.socket.pause();
    else this.socket.resume();
  }
}
