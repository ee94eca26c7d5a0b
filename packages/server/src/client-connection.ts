import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";
import type { ConnectionRef } from "@zooid/model";
import { type BufferPool, Framer, JuteWriter, readConnectRequest, WireError } from "@zooid/wire";
import type { RefusalLog } from "./refusal-log.ts";
import { receive } from "./shared-reads.ts";
import type { Traffic } from "./traffic.ts";

/** What a connection asks of the driver. */
export interface ConnectionHost {
  readonly pool: BufferPool;
  readonly limits: ConnectionLimits;
  readonly refusals: RefusalLog;
  readonly traffic: Traffic;
  /** Called before anything that arrived is read, so that the turn has its time and its end. */
  wake(): void;
  /** How many bytes a four-letter word takes, its argument included; 4 for what is none. */
  wordBytes(word: string): number;
  /** The answer to a four-letter word, or undefined when these bytes are none. */
  fourLetterWord(word: string, argument: Buffer, connection: ClientConnection): string | undefined;
  /** Takes the first frame of a connection. False when the server does not serve. */
  connect(connection: ClientConnection, frame: ReturnType<typeof readConnectRequest>): boolean;
  /** Whether this turn may read a connection, whose share of it begins then: what some ask must not keep everything else waiting. */
  hasRoomInTurn(): boolean;
  /** A request was carried out: whether the connection has had its share of the turn. @param isLarge whether frame or answer was large */
  isShareSpent(isLarge: boolean): boolean;
  /**
   * Calls `readLater` in a later turn. Connections that came too late for this one go first, then those that have had their share of one,
   * each in the order of these calls.
   */
  later(connection: ClientConnection, hasHadShare: boolean): void;
  /** Takes a further frame; false when no more may be read for now. */
  receive(connection: ClientConnection, bytes: Uint8Array, start: number, end: number): boolean;
  /** The connection has bytes to send at the end of the turn, or is to be closed then. */
  dirty(connection: ClientConnection): void;
  /** The socket is gone. */
  closed(connection: ClientConnection): void;
}

export interface ConnectionLimits {
  /** `jute.maxbuffer`: the largest frame after the first. */
  readonly frameBytesMax: number;
  /** Bytes that wait for a slow reader before its requests are left unread. */
  readonly outputBytesHigh: number;
  /** Bytes that wait for a slow reader before it is cut off. */
  readonly outputBytesMax: number;
  /** How long a connection that is being closed may take none of what it is owed before it is cut off. */
  readonly closingMs: number;
}

/** Frames and answers of this length cost more than most. */
const LARGE_BYTES = 4096;
/** The first frame is 44 or 45 bytes; anything much longer is no ZooKeeper client. */
const FIRST_FRAME_BYTES_MAX = 1024;
const TELNET_INTERRUPT = "\xff\xf4\xff\xfd";
const HTTP_METHODS: ReadonlySet<string> = new Set([
  "GET ",
  "POST",
  "PUT ",
  "HEAD",
  "OPTI",
  "DELE",
  "PATC",
  "TRAC",
  "CONN",
]);

/**
 * One client's socket: bytes into frames, answers into one write a turn.
 *
 * What arrives first decides what it is: a four-letter word is answered and the connection closed; a connect request opens a
 * session; anything else is closed.
 */
export class ClientConnection {
  readonly socket: Socket;
  readonly ref: ConnectionRef;
  /** The peer as Java prints it, without the port. */
  readonly address: string;
  readonly port: number;
  /** When it came, by the wall clock and by the monotonic one. */
  readonly establishedMs: number;
  readonly acceptedAtMs: number;
  /** Whether the client sent the read-only byte. */
  sentReadOnly = false;
  /** Its writer is to be flushed: at the end of what is being read of it, or of this turn. */
  isDirty = false;
  /** Bytes of it are being read: what they bring is sent right behind them, while all that it takes is at hand. */
  isReading = false;
  readonly writer: JuteWriter;
  readonly #host: ConnectionHost;
  readonly #framer: Framer;
  #phase: "first bytes" | "connect request" | "requests" | "closing" = "first bytes";
  /** Fewer than four bytes have come yet. */
  #firstBytes: Buffer | undefined;
  #isPaused = false;
  /** The core takes no more for now; it says when. */
  #isHeld = false;
  /** A later turn reads on. */
  #isLater = false;
  /** It has had its share of this turn. */
  #hasHadShare = false;
  /** What came and is left for a later turn. */
  #chunk: Buffer | undefined;
  /** Too much waits for a slow reader: it is read again once that has left. */
  #isChoked = false;
  #isEnding = false;
  /** What it is to be sent is kept back until then, and nothing of it is read. */
  #withheld: NodeJS.Timeout | undefined;

  constructor(
    socket: Socket,
    identity: { ref: ConnectionRef; address: string; nowMs: number; wallMs: number },
    host: ConnectionHost,
  ) {
    this.socket = socket;
    this.ref = identity.ref;
    this.address = identity.address;
    this.port = socket.remotePort ?? 0;
    this.establishedMs = identity.wallMs;
    this.acceptedAtMs = identity.nowMs;
    this.#host = host;
    this.writer = new JuteWriter(host.pool);
    this.#framer = new Framer(host.limits.frameBytesMax, host.pool);
    socket.setNoDelay(true);
    socket.on("error", () => {
      // The close that follows tells all that matters: a client that is gone is no event.
    });
    socket.on("close", () => {
      this.#phase = "closing";
      clearTimeout(this.#withheld);
      host.closed(this);
    });
    // A client that sends no more is gone, except that it may still want the answer to a four-letter word.
    socket.on("end", () => {
      if (this.#phase === "requests") host.traffic.drops++;
      host.wake();
      this.close();
    });
    socket.on("drain", () => this.#drained());
    receive(socket, (chunk) => this.#read(chunk));
  }

  /** `/address:port`, as Apache prints a peer. */
  get peer(): string {
    return this.address.includes(":") ? `/[${this.address}]:${this.port}` : `/${this.address}:${this.port}`;
  }

  get isClosing(): boolean {
    return this.#phase === "closing";
  }

  get hasSession(): boolean {
    return this.#phase === "requests";
  }

  /** Reads on after `receive` said false. */
  resume(): void {
    this.#isHeld = false;
    this.#readOn();
  }

  /** Reads what an earlier turn had no room for. */
  readLater(): void {
    this.#isLater = false;
    this.#hasHadShare = false;
    const chunk = this.#chunk;
    this.#chunk = undefined;
    if (chunk !== undefined) this.#take(chunk);
    this.#cutOn();
  }

  /** Says no more than what was said: the socket is closed behind it at the end of the turn. */
  close(): void {
    this.#phase = "closing";
    this.#host.dirty(this);
  }

  /** Keeps what is not sent yet, and the end that follows it, back for a while; reads nothing meanwhile. */
  withhold(delayMs: number): void {
    clearTimeout(this.#withheld);
    this.#withheld = setTimeout(() => {
      this.#host.wake();
      this.release();
      this.#host.dirty(this);
      this.#readOn();
    }, delayMs);
  }

  /** Ends what {@link withhold} began. */
  release(): void {
    clearTimeout(this.#withheld);
    this.#withheld = undefined;
  }

  /** Ends the connection here and now: what was not sent is lost. */
  cutOff(): void {
    this.#phase = "closing";
    // Under TLS there is no socket of the system's at hand that could be reset.
    if (this.socket instanceof TLSSocket) this.socket.destroy();
    else this.socket.resetAndDestroy();
  }

  /** Ends the connection of a client for whom more waits than may. */
  cutOffSlowReader(waitingBytes: number): void {
    this.#host.refusals.note(
      "slow-reader",
      this.peer,
      `${waitingBytes} bytes wait for a client that does not read them`,
    );
    this.cutOff();
  }

  /** Sends what this turn wrote. */
  flush(): void {
    const { socket, writer } = this;
    this.isDirty = false;
    if (this.#withheld !== undefined) return;
    if (writer.end > 0) {
      const { end } = writer;
      const bytes = writer.detach();
      if (socket.writable) {
        this.#host.traffic.bytesSent += end;
        socket.write(end === bytes.length ? bytes : bytes.subarray(0, end));
        // What the kernel took at once is free again; a buffer that waits for a slow reader is left to the collector.
        if (socket.writableLength > 0) this.#checkBacklog();
        else {
          this.#host.pool.give(bytes);
          // No drain follows what the kernel took at once. Others get their turn before this client goes on.
          if (this.#isChoked) setImmediate(() => this.#drained());
        }
      }
    }
    if (this.#phase === "closing" && !socket.destroyed) this.#end();
  }

  /** Closes behind the last word; a peer that does not take it must not keep the connection for ever. */
  #end(): void {
    const { socket } = this;
    if (this.#isEnding) return;
    this.#isEnding = true;
    socket.setTimeout(this.#host.limits.closingMs, () => socket.destroy());
    socket.destroySoon();
  }

  #read(chunk: Buffer): void {
    this.#host.wake();
    this.#host.traffic.bytesReceived += chunk.length;
    // What came before and waits for its turn goes first.
    if (!this.#isLater && this.#host.hasRoomInTurn()) {
      this.#take(chunk);
      return;
    }
    // The chunk itself is valid for now only.
    this.#chunk = Buffer.concat(this.#chunk === undefined ? [chunk] : [this.#chunk, chunk]);
    this.#setPaused(true);
    this.#leave();
  }

  /** Goes on in a later turn. */
  #leave(): void {
    if (this.#isLater) return;
    this.#isLater = true;
    this.#host.later(this, this.#hasHadShare);
  }

  #take(chunk: Buffer): void {
    this.isReading = true;
    this.#guard(() => {
      if (this.#phase === "closing") return;
      if (this.#phase === "first bytes") this.#readFirst(chunk);
      else this.#framer.push(chunk, this.#sink);
    });
    this.isReading = false;
    if (this.isDirty) this.flush();
    if (this.#framer.isStopped) this.#setPaused(true);
    if (this.#hasHadShare) this.#leave();
  }

  readonly #sink = (bytes: Uint8Array, start: number, end: number): boolean => {
    if (this.#phase === "requests") {
      const { end: outputBefore } = this.writer;
      if (!this.#host.receive(this, bytes, start, end)) this.#isHeld = true;
      // A chunk holds thousands of requests, and each may be answered with a mebibyte, or cost milliseconds.
      if (this.writer.end > this.#host.limits.outputBytesHigh) this.#isChoked = true;
      const isLarge = end - start + this.writer.end - outputBefore > LARGE_BYTES;
      if (this.#host.isShareSpent(isLarge)) this.#hasHadShare = true;
      return !this.#isHeld && !this.#isChoked && !this.#hasHadShare && this.#withheld === undefined;
    }
    if (this.#phase !== "connect request") return false;
    const request = readConnectRequest(bytes, start, end);
    this.sentReadOnly = request.readOnly !== undefined;
    this.#phase = "requests";
    // What follows waits for the session.
    this.#isHeld = true;
    if (!this.#host.connect(this, request)) this.close();
    return false;
  };

  #readFirst(chunk: Buffer): void {
    const bytes = this.#firstBytes === undefined ? chunk : Buffer.concat([this.#firstBytes, chunk]);
    if (bytes.length < 4) {
      this.#firstBytes = Buffer.from(bytes);
      return;
    }
    const word = bytes.toString("latin1", 0, 4);
    const wordBytes = this.#host.wordBytes(word);
    if (bytes.length < wordBytes) {
      this.#firstBytes = Buffer.from(bytes);
      return;
    }
    this.#firstBytes = undefined;
    const argument = bytes.subarray(4, wordBytes);
    const answer = word === TELNET_INTERRUPT ? "" : this.#host.fourLetterWord(word, argument, this);
    if (answer !== undefined) {
      const encoded = Buffer.from(answer);
      this.writer.raw(encoded, 0, encoded.length);
      this.close();
      return;
    }
    const length = bytes.readInt32BE(0);
    if (length <= 0 || length > FIRST_FRAME_BYTES_MAX) {
      this.#refuseFirst(word, length);
      return;
    }
    this.#phase = "connect request";
    this.#framer.push(bytes, this.#sink);
  }

  #refuseFirst(word: string, length: number): void {
    if (HTTP_METHODS.has(word)) {
      this.#host.refusals.note(
        "http",
        this.peer,
        "an HTTP request came to the client port, which speaks ZooKeeper's protocol",
      );
      const body = "This is a ZooKeeper client port. It does not speak HTTP.\n";
      const answer = Buffer.from(
        `HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      );
      this.writer.raw(answer, 0, answer.length);
    } else if (word.startsWith("\x16\x03")) {
      this.#host.refusals.note("tls", this.peer, "a TLS handshake came to the client port, which is plain");
    } else {
      this.#host.refusals.note(
        "first-frame",
        this.peer,
        `the first frame claims ${length} bytes; a connect request has 44 or 45`,
      );
    }
    this.close();
  }

  /** Bytes that are no requests end their connection, and nothing else. */
  #guard(read: () => void): void {
    try {
      read();
    } catch (error) {
      if (!(error instanceof WireError)) throw error;
      this.#host.refusals.note(error.code, this.peer, error.message);
      this.close();
    }
  }

  #checkBacklog(): void {
    const waiting = this.socket.writableLength;
    const { outputBytesHigh, outputBytesMax } = this.#host.limits;
    if (waiting > outputBytesMax) this.cutOffSlowReader(waiting);
    else if (waiting > outputBytesHigh) {
      this.#isChoked = true;
      this.#setPaused(true);
    }
  }

  #drained(): void {
    if (!this.#isChoked) return;
    this.#isChoked = false;
    this.#readOn();
  }

  #readOn(): void {
    if (!this.#mayRead) return;
    this.#host.wake();
    if (this.#isLater) return;
    if (this.#host.hasRoomInTurn()) this.#cutOn();
    else this.#leave();
  }

  get #mayRead(): boolean {
    return this.#phase !== "closing" && !this.#isHeld && !this.#isChoked && this.#withheld === undefined;
  }

  #cutOn(): void {
    if (!this.#mayRead || this.#isLater) return;
    this.#guard(() => this.#framer.resume(this.#sink));
    if (!this.#framer.isStopped) this.#setPaused(false);
    else if (this.#hasHadShare) this.#leave();
  }

  #setPaused(paused: boolean): void {
    if (paused === this.#isPaused || this.#phase === "closing") return;
    this.#isPaused = paused;
    if (paused) this.socket.pause();
    else this.socket.resume();
  }
}
