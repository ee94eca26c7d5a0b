import { isIP, type Socket } from "node:net";
import { TLSSocket } from "node:tls";
import { crc32 } from "node:zlib";
import type { ServerId } from "@zooid/model";
import {
  type EnvelopeMessage,
  type FrameChunk,
  HANDSHAKE_FRAME_BYTES_MAX,
  type LinkRefuse,
  type LinkRefuseReason,
  PeerFrameReader,
  PeerFrameWriter,
  returnChunk,
  type SharedFrames,
} from "@zooid/peer-protocol";
import { type BufferPool, WireError, type WireErrorCode } from "@zooid/wire";
import { receive } from "../clients/shared-reads.ts";
import {
  Handshake,
  type HandshakeConfig,
  HandshakeError,
  type PeerIdentity,
  type SaidProtection,
} from "./handshake.ts";
import { SPEAKS_TLS } from "./peer-tls-reason.ts";
import { type Accepting, CLOSED, type PeerSocket, type PeerTransport } from "./peer-transport.ts";
import { RelaySocket } from "./relay-socket.ts";

/** How the other side is known, and who can read along. */
export interface LinkProtection {
  readonly hasTls: boolean;
  /** It has proved that it has a shared secret. */
  readonly hasProof: boolean;
  /** The other side's description of its links when it was made; undefined if it gave none. */
  readonly peerSaid: SaidProtection | undefined;
  /** This side's description then. */
  readonly said: SaidProtection;
  /** Whether a transport would accept the certificate of the other side. */
  isTrustedBy(transport: PeerTransport): boolean;
  /** Identifies the certificate that this server showed; undefined without TLS. */
  readonly certificate: string | undefined;
  /** The generation of the protection that this server made the link with; see `PeerSecurity`. */
  readonly generation: number;
}

/** A link, for reports. */
export interface ProtectedLink extends LinkProtection {
  readonly sid: ServerId;
  readonly isDialed: boolean;
  /** Closes it; the side that dials dials again. */
  renew(): void;
}

/** Why a link ends whose protection has changed. */
export const RENEWED = "it is made again with the secret or the certificates that were reloaded";

/** The settings that all connections of one kind share. */
export interface ConnectionSettings {
  readonly handshake: HandshakeConfig;
  readonly transport: PeerTransport;
  /** See `PeerSecurity`. */
  readonly generation: number;
  readonly pool: BufferPool;
  /** Timeout of connecting, until the address that is dialed answers or the stream is ready. */
  readonly connectTimeoutMs: number;
  /** Time for a known address to answer, within that. Default: all of it. */
  readonly reachMs?: number | undefined;
  /** Timeout of what is left of it, such as a TLS handshake, when the address has answered. */
  readonly readyTimeoutMs: number;
  /** Timeout of the handshake, from the first possible message. */
  readonly handshakeTimeoutMs: number;
  /** Timeout of the last bytes of a closing connection. */
  readonly closingTimeoutMs: number;
}

/** The reason of a refusal: `timeout` is a handshake that was not finished in time. */
export type RefusalKind = LinkRefuseReason | WireErrorCode | "timeout";

/** The reason why a connection ended. */
export interface ConnectionEnd {
  readonly reason: string;
  /** The objection of the other side, or of this side to the other. */
  readonly refusal: { readonly by: "this side" | "the other side"; readonly kind: RefusalKind } | undefined;
  /** It ended before the other side was known. */
  readonly isEarly: boolean;
  /** The other side's address accepted it, whatever came of it. */
  readonly isAnswered: boolean;
  /** The address did not answer in time. */
  readonly isSilent: boolean;
  /** The other side asks not to be dialed earlier. */
  readonly retryAfterMs: number;
}

export interface ConnectionHandler {
  /** Called before any bytes are read. */
  wake(): void;
  /** The address that was dialed accepts the connection. */
  answered?(): void;
  /** The handshake is complete. */
  opened(peer: PeerIdentity, roundTripMs: number | undefined): void;
  /** A message after the handshake. Its bytes are valid during the call, except for entries. */
  message(message: EnvelopeMessage): void;
  /** There is room again after {@link PeerConnection.isChoked}. */
  drained(): void;
  /** The connection ended, and this side did not close it. The last call. */
  ended(end: ConnectionEnd): void;
}

/**
 * One connection to another server: the handshake, then messages into frames and back. Nothing is
 * delivered after {@link close} or {@link destroy}.
 */
export class PeerConnection {
  /** The raw socket; once the transport is ready on both sides, the stream of the transport. */
  #socket: PeerSocket;
  readonly #settings: ConnectionSettings;
  readonly #certificate: string | undefined;
  readonly #handler: ConnectionHandler;
  readonly #handshake: Handshake;
  readonly #reader: PeerFrameReader;
  readonly #writer: PeerFrameWriter;
  #phase: "connecting" | "handshake" | "open" | "closed" = "connecting";
  #timer: NodeJS.Timeout | undefined;
  #saidHelloMs: number | undefined;
  #error: Error | undefined;
  #hasRead = false;
  /** The other side is being verified. */
  #isChecking = false;
  #isAnswered = false;
  #isSilent = false;

  private constructor(
    settings: ConnectionSettings,
    handler: ConnectionHandler,
    dialed: ServerId | undefined,
    open: (ready: (socket: PeerSocket) => void) => PeerSocket,
  ) {
    this.#settings = settings;
    this.#certificate = settings.transport.certificate;
    this.#handler = handler;
    this.#handshake = new Handshake(settings.handshake, dialed);
    this.#reader = new PeerFrameReader({ crc32, frameBytesMax: HANDSHAKE_FRAME_BYTES_MAX });
    const { frameBytesMax } = settings.handshake;
    this.#writer = new PeerFrameWriter({ pool: settings.pool, crc32, frameBytesMax });
    this.#limitConnecting(settings.connectTimeoutMs);
    const socket = open((ready) => this.#ready(ready, dialed !== undefined));
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.setKeepAlive(true, KEEP_ALIVE_MS);
    this.#watch(socket);
  }

  static dial(
    settings: ConnectionSettings,
    to: ServerId,
    address: { readonly host: string; readonly port: number },
    handler: ConnectionHandler,
  ): PeerConnection {
    const connection = new PeerConnection(settings, handler, to, (ready) =>
      settings.transport
        .connect(address, ready)
        .once("lookup", () => connection.#limitReaching())
        .once("connect", () => connection.#answered()),
    );
    if (isIP(address.host) !== 0) connection.#limitReaching();
    return connection;
  }

  /**
   * @param accepting as in {@link PeerTransport.accept}; the handler hears of an end without a
   *   reason
   */
  static accept(
    settings: ConnectionSettings,
    socket: Socket,
    handler: ConnectionHandler,
    accepting: Accepting,
  ): PeerConnection {
    return new PeerConnection(settings, handler, undefined, (ready) => {
      settings.transport.accept(socket, ready, accepting);
      return socket;
    });
  }

  /**
   * Connects through a stream that another server relays: to the server that is dialed, or from one
   * that connected.
   */
  static through(
    settings: ConnectionSettings,
    socket: RelaySocket,
    dialed: ServerId | undefined,
    handler: ConnectionHandler,
  ): PeerConnection {
    return new PeerConnection(settings, handler, dialed, (ready) => {
      setImmediate(() => ready(socket));
      return socket;
    });
  }

  /** How it is protected. */
  get protection(): LinkProtection {
    return {
      // A relayed stream has the TLS of the links that it goes through.
      hasTls: this.#socket instanceof TLSSocket || this.#socket instanceof RelaySocket,
      hasProof: this.#handshake.isProved,
      peerSaid: this.#handshake.peerSaid,
      said: this.#handshake.said,
      isTrustedBy: (transport) => transport.knowsIssuerOf?.(this.#socket) ?? true,
      certificate: this.#socket instanceof TLSSocket ? this.#certificate : undefined,
      generation: this.#settings.generation,
    };
  }

  /** Unsent bytes. */
  get bufferedBytes(): number {
    return this.#writer.pendingBytes + this.#socket.writableLength;
  }

  /** Whether there are messages for {@link flush}. */
  get hasGathered(): boolean {
    return this.#writer.pendingBytes > 0;
  }

  /** The system takes no more for now; {@link ConnectionHandler.drained} follows. */
  get isChoked(): boolean {
    return this.#socket.writableNeedDrain;
  }

  /** Resolves when the socket is closed. */
  gone(): Promise<void> {
    const socket = this.#socket;
    return socket.closed ? Promise.resolve() : new Promise((resolve) => socket.once("close", () => resolve()));
  }

  /** Queues a message. Throws a WireError when it is too long for any frame. */
  append(message: EnvelopeMessage): void {
    this.#writer.append(message);
  }

  /** Queues frames that other links send as well. @returns false if this link needs other frames */
  appendShared(frames: SharedFrames): boolean {
    return this.#writer.appendShared(frames);
  }

  /** Sends the queued messages, in one write. */
  flush(): void {
    const socket = this.#socket;
    const sent: FrameChunk[] = [];
    if (!socket.writable) {
      this.#writer.take(() => {});
      return;
    }
    socket.cork();
    this.#writer.take((chunk) => {
      const { buffer, end } = chunk;
      if (end === 0) return;
      sent.push(chunk);
      socket.write(end === buffer.length ? buffer : buffer.subarray(0, end));
    });
    socket.uncork();
    // Buffers that the kernel copied at once are free again, as are those copied for another link;
    // buffers that wait are left to the garbage collector.
    if (socket instanceof RelaySocket || socket.writableLength === 0)
      for (const chunk of sent) returnChunk(chunk, this.#settings.pool);
  }

  /** Closes it after its pending messages; nothing is delivered any more. */
  close(): void {
    if (this.#phase === "closed") return;
    if (this.#phase === "connecting") {
      this.destroy();
      return;
    }
    this.#phase = "closed";
    this.flush();
    this.#closeSoon();
  }

  /** Closes it at once; nothing is delivered any more. */
  destroy(): void {
    this.#phase = "closed";
    clearTimeout(this.#timer);
    this.#socket.destroy();
  }

  /** Sends a refusal with its reason, and closes it. */
  refuse(refusal: Omit<LinkRefuse, "kind">): void {
    if (this.#phase === "closed") return;
    this.append({ kind: "link-refuse", ...refusal });
    this.close();
  }

  #watch(socket: PeerSocket): void {
    socket.on("error", (error: Error) => {
      this.#error = error;
    });
    socket.on("close", () => this.#end(this.#reason));
  }

  get #reason(): string {
    if (this.#phase !== "open") return this.#settings.transport.reasonOf(this.#error);
    return this.#error?.message ?? CLOSED;
  }

  #ready(socket: PeerSocket, isDialer: boolean): void {
    if (this.#phase !== "connecting") {
      socket.destroy();
      return;
    }
    this.#phase = "handshake";
    if (socket !== this.#socket) this.#watch(socket);
    this.#socket = socket;
    socket.on("drain", () => {
      if (this.#phase === "open") this.#handler.drained();
    });
    this.#limitTime(this.#settings.handshakeTimeoutMs, () => this.#fail("timeout", "the handshake took too long"));
    const fault = isDialer ? this.#settings.transport.distrust(socket) : undefined;
    // The other side has nothing to say before a Hello, which it does not get.
    if (fault !== undefined) this.#refuseWith(this.#certificateFault(fault));
    else if (isDialer) {
      this.#say(this.#handshake.begin());
      this.flush();
    }
    // The last statement, because bytes that have arrived are read within the call. Entries of a
    // message are kept for longer than the bytes that are handed over.
    receive(socket, (chunk) => this.#read(Buffer.from(chunk)));
  }

  #say(message: EnvelopeMessage): void {
    if (message.kind === "hello") this.#saidHelloMs = performance.now();
    this.append(message);
  }

  #read(chunk: Buffer): void {
    if (this.#phase === "closed") return;
    this.#handler.wake();
    if (this.#isChecking) {
      this.#fail("auth", "it sent more before it was known which server it is");
      return;
    }
    const isTls = !this.#hasRead && chunk[0] === TLS_HANDSHAKE && chunk[1] === TLS_VERSION;
    this.#hasRead = true;
    try {
      this.#reader.push(chunk, (message, bytes, start, end) => {
        // The dialer may refuse a link that is open at the side that listens.
        if (message.kind === "link-refuse" && message.reason !== "busy") this.#refused(message);
        else if (this.#phase === "open") this.#handler.message(message);
        else this.#shakeHands(message, bytes.subarray(start, end));
        return this.#phase !== "closed";
      });
    } catch (error) {
      if (error instanceof HandshakeError) this.#refuseWith(error);
      else if (error instanceof WireError) this.#fail(error.code, isTls ? SPEAKS_TLS : error.message);
      else throw error;
    }
  }

  #shakeHands(message: EnvelopeMessage, body: Uint8Array): void {
    if (message.kind === "link-refuse") {
      this.#refused(message);
      return;
    }
    if (message.kind !== "hello") {
      this.#advance(message, body);
      return;
    }
    const { transport } = this.#settings;
    // First: a stranger learns nothing of this server's configuration.
    const distrust = transport.distrust(this.#socket);
    if (distrust !== undefined) throw this.#certificateFault(distrust);
    const identity = this.#handshake.check(message);
    const fault = transport.faultOf(this.#socket, identity);
    if (fault instanceof Promise) void this.#advanceLater(fault, message, Buffer.from(body));
    else {
      if (fault !== undefined) throw new HandshakeError({ reason: "auth", text: fault });
      this.#advance(message, body);
    }
  }

  #refused({ text, reason, retryAfterMs }: LinkRefuse): void {
    this.#finish({
      reason: `refused by the other side: ${text.slice(0, REFUSAL_CHARS_MAX)}`,
      refusal: { by: "the other side", kind: reason },
      isEarly: this.#phase !== "open",
      isAnswered: true,
      isSilent: false,
      retryAfterMs: Math.min(retryAfterMs, RETRY_AFTER_MS_MAX),
    });
  }

  /** The other side waits for this side's Hello: nothing arrives until then. */
  async #advanceLater(check: Promise<string | undefined>, hello: EnvelopeMessage, body: Uint8Array): Promise<void> {
    this.#isChecking = true;
    const fault = await check;
    this.#isChecking = false;
    if (this.#phase !== "handshake") return;
    this.#handler.wake();
    try {
      if (fault !== undefined) throw new HandshakeError({ reason: "auth", text: fault });
      this.#advance(hello, body);
    } catch (error) {
      if (!(error instanceof HandshakeError)) throw error;
      this.#refuseWith(error);
    }
  }

  #certificateFault(why: string): HandshakeError {
    const text = `server ${this.#settings.handshake.sid} does not accept the other server's certificate: ${why}`;
    return new HandshakeError({ reason: "auth", text });
  }

  #advance(message: EnvelopeMessage, body: Uint8Array): void {
    const saidHelloMs = this.#saidHelloMs;
    const peer = this.#handshake.receive(message, body, (reply) => this.#say(reply));
    this.flush();
    if (peer === undefined) return;
    clearTimeout(this.#timer);
    this.#phase = "open";
    const { frameBytesMax } = this.#settings.handshake;
    this.#reader.frameBytesMax = frameBytesMax;
    // The other side may accept only shorter frames; every server accepts at least those of a
    // handshake.
    this.#writer.frameBytesMax = Math.min(frameBytesMax, Math.max(peer.frameBytesMax, HANDSHAKE_FRAME_BYTES_MAX));
    this.#handler.opened(peer, saidHelloMs === undefined ? undefined : performance.now() - saidHelloMs);
  }

  #refuseWith({ reason, message }: HandshakeError): void {
    this.append({ kind: "link-refuse", reason, text: message, retryAfterMs: 0 });
    this.flush();
    this.#phase = "closed";
    this.#closeSoon();
    const refusal = { by: "this side", kind: reason } as const;
    const isSilent = false;
    this.#handler.ended({ reason: message, refusal, isEarly: true, isAnswered: true, isSilent, retryAfterMs: 0 });
  }

  /** Invalid or missing messages. */
  #fail(kind: RefusalKind, reason: string): void {
    this.#finish({ reason, refusal: { by: "this side", kind }, ...this.#progress, retryAfterMs: 0 });
  }

  #end(reason: string): void {
    this.#finish({ reason, refusal: undefined, ...this.#progress, retryAfterMs: 0 });
  }

  get #progress(): Pick<ConnectionEnd, "isEarly" | "isAnswered" | "isSilent"> {
    return {
      isEarly: this.#phase !== "open",
      isAnswered: this.#isAnswered || this.#phase !== "connecting",
      isSilent: this.#isSilent,
    };
  }

  #answered(): void {
    if (this.#phase === "closed" || this.#isAnswered) return;
    this.#isAnswered = true;
    if (this.#phase === "connecting") this.#limitConnecting(this.#settings.readyTimeoutMs);
    this.#handler.wake();
    this.#handler.answered?.();
  }

  #finish(end: ConnectionEnd): void {
    clearTimeout(this.#timer);
    if (this.#phase === "closed") return;
    this.destroy();
    this.#handler.wake();
    this.#handler.ended(end);
  }

  /**
   * Reads on, and discards, until the other side has read all and closes. Its next write would fail
   * at a socket that is destroyed here, and Node.js then drops what it has not read yet: a learner
   * would not learn which successor the leader has named.
   */
  #closeSoon(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#socket.destroy(), this.#settings.closingTimeoutMs);
    this.#timer.unref();
    this.#socket.end();
  }

  /** The address is known. Name servers may take longer than addresses. */
  #limitReaching(): void {
    const { connectTimeoutMs, reachMs } = this.#settings;
    if (reachMs === undefined || this.#phase !== "connecting" || this.#isAnswered) return;
    // A turn of the event loop that takes longer than the limit must not end an attempt whose
    // answer has come: it is read between the timers and `setImmediate`.
    this.#limitTime(Math.min(reachMs, connectTimeoutMs), () => setImmediate(() => this.#unreached()));
  }

  #unreached(): void {
    if (this.#phase !== "connecting" || this.#isAnswered) return;
    this.#isSilent = true;
    this.#end("connecting took too long");
  }

  #limitConnecting(ms: number): void {
    this.#limitTime(ms, () => {
      this.#isSilent = !this.#isAnswered;
      this.#end("connecting took too long");
    });
  }

  #limitTime(ms: number, expired: () => void): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(expired, ms);
  }
}

/**
 * The first two bytes of every TLS connection. No frame of a handshake is as long as they would
 * say.
 */
const TLS_HANDSHAKE = 0x16;
const TLS_VERSION = 0x03;
const KEEP_ALIVE_MS = 10_000;
const REFUSAL_CHARS_MAX = 300;
const RETRY_AFTER_MS_MAX = 60_000;
