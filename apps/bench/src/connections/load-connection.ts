import { Socket } from "node:net";
import { isConnectedToItself, OpCode, SESSION_NONE, type SessionId, type Zxid } from "@zooid/model";
import { JuteWriter, readConnectResponse, writeConnectRequest } from "@zooid/wire";
import type { Host } from "./hosts.ts";
import { InFlight } from "./in-flight.ts";
import { putInt } from "./request-template.ts";

/**
 * Events of a load connection. One handler serves all connections of a thread, so that these calls
 * stay direct.
 */
export interface ConnectionEvents {
  /** A chunk arrived; the calls of `reply` for its complete frames follow. */
  receiving(connection: LoadConnection): void;
  /**
   * One frame other than the handshake. Its first bytes are at `at`: length, xid, zxid, code, and
   * up to 9 bytes of the body; later bytes may be missing. more than that can be relied on.
   */
  reply(connection: LoadConnection, bytes: Uint8Array, at: number): void;
  received(connection: LoadConnection): void;
  /** The connection was closed by the other side. It may be opened again. */
  lost(connection: LoadConnection, reason: string): void;
}

export interface ConnectionTarget {
  readonly host: Host;
  /** The source address, if it matters. */
  readonly localAddress: string | undefined;
  readonly sessionTimeoutMs: number;
  /** Time limit of the handshake. Default: ten seconds. */
  readonly connectTimeoutMs?: number;
}

export interface LoadSession {
  readonly id: SessionId;
  readonly password: Uint8Array;
  readonly timeoutMs: number;
}

/** Offsets of a frame's fields, from its length. */
export const FrameOffset = { length: 0, xid: 4, zxid: 8, code: 16, body: 20 } as const;
/** Length, header, and the first part's header in a multi. */
const HEAD_BYTES = 29;
const PASSWORD_BYTES = 16;
/** The size limit of a connect response, and the minimum of any other frame. */
const HANDSHAKE_BYTES_MAX = 64;
const XID_MAX = 0x7fff_ffff;
const PING_XID = -2;
const CONNECT_TIMEOUT_MS = 10_000;

/**
 * All connections of a thread read into the same buffer: a chunk is processed before the next read.
 */
const received = Buffer.allocUnsafeSlow(256 * 1024);

const PING = Buffer.alloc(12);
putInt(PING, 0, 8);
putInt(PING, 4, PING_XID);
putInt(PING, 8, OpCode.PING);

/**
 * A connection for load: whole buffers of requests are written as they are, and of each frame only
 * the header is read, in place. No promise, event or buffer per request.
 */
export class LoadConnection {
  /** Its number within the whole load. */
  readonly index: number;
  readonly inFlight: InFlight = new InFlight();
  /** The address of the next `open`. */
  target: ConnectionTarget;
  /** The counter of its next request. */
  counter = 0;
  session: LoadSession | undefined;
  lastSentMs = 0;
  readonly #events: ConnectionEvents;
  #socket: Socket | undefined;
  #isOpen = false;
  #nextXid = 1;
  #replyXid = 1;
  /** The beginning of an incomplete frame. */
  readonly #head: Buffer = Buffer.alloc(HEAD_BYTES);
  /** The number of bytes of that frame; 0 if there is none. */
  #have = 0;

  constructor(index: number, target: ConnectionTarget, events: ConnectionEvents) {
    this.index = index;
    this.target = target;
    this.#events = events;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** True while the system has not taken all written bytes. */
  get isBlocked(): boolean {
    return this.#socket !== undefined && this.#socket.writableLength > 0;
  }

  /** Connects and gets a session: the previous one with `resume`, else a new one. */
  open({ resume = false }: { readonly resume?: boolean } = {}): Promise<LoadSession> {
    const { host, localAddress, connectTimeoutMs = CONNECT_TIMEOUT_MS } = this.target;
    const { promise, resolve, reject } = Promise.withResolvers<LoadSession>();
    this.#have = 0;
    const asked = resume ? this.session : undefined;
    // Within a session a number is used once: servers recognize a repeated write by session and
    // number.
    if (asked === undefined) this.#nextXid = 1;
    this.#replyXid = this.#nextXid;
    let handshake: Buffer<ArrayBufferLike> | undefined = Buffer.alloc(0);
    const deadline = setTimeout(
      () => socket.destroy(new Error(`no session within ${connectTimeoutMs} ms`)),
      connectTimeoutMs,
    );
    const take = (bytes: number): boolean => {
      if (handshake === undefined) {
        this.#receive(bytes);
        return true;
      }
      handshake = Buffer.concat([handshake, received.subarray(0, bytes)]);
      if (handshake.length < 4) return true;
      const frameBytes = handshake.readInt32BE(0);
      if (frameBytes > HANDSHAKE_BYTES_MAX)
        socket.destroy(new Error(`an answer of ${frameBytes} bytes to a connect request`));
      if (frameBytes > HANDSHAKE_BYTES_MAX || handshake.length < 4 + frameBytes) return true;
      const session = readSession(handshake);
      handshake = undefined;
      if (session === undefined) {
        socket.destroy(new Error("SESSION_EXPIRED"));
        return true;
      }
      clearTimeout(deadline);
      this.session = session;
      this.#isOpen = true;
      resolve(session);
      return true;
    };
    const socket = new Socket({ onread: { buffer: received, callback: take } });
    this.#socket = socket;
    let reason: Error | undefined;
    socket.on("error", (error) => {
      reason = error;
    });
    socket.on("close", () => {
      clearTimeout(deadline);
      if (this.#socket !== socket) return;
      this.#socket = undefined;
      const wasOpen = this.#isOpen;
      this.#isOpen = false;
      if (wasOpen) this.#events.lost(this, reason?.message ?? "closed by the server");
      else reject(reason ?? new Error("closed by the server before there was a session"));
    });
    socket.connect({
      host: host.name,
      port: host.port,
      ...(localAddress === undefined ? {} : { localAddress }),
    });
    socket.setNoDelay(true);
    socket.once("connect", () => {
      // While a server is down, the system may give its port to a connection that looks for it.
      if (isConnectedToItself(socket)) socket.destroy(new Error("no server listens: the connection was to itself"));
      else socket.write(connectFrame(this.target.sessionTimeoutMs, asked));
    });
    return promise;
  }

  /** The xid of the next request, which must be written then. */
  takeXid(): number {
    const xid = this.#nextXid;
    this.#nextXid = xid === XID_MAX ? 1 : xid + 1;
    return xid;
  }

  /** Takes the next expected answer; false when the answer is to another request. */
  isNextReply(xid: number): boolean {
    if (xid !== this.#replyXid) return false;
    this.#replyXid = xid === XID_MAX ? 1 : xid + 1;
    return true;
  }

  /**
   * @returns whether the system took all of it; if not, the bytes must not be modified until
   *   `isBlocked` is false
   */
  write(bytes: Uint8Array, nowMs: number): boolean {
    this.lastSentMs = nowMs;
    const socket = this.#socket;
    if (socket === undefined) return true;
    socket.write(bytes);
    return socket.writableLength === 0;
  }

  ping(nowMs: number): void {
    this.write(PING, nowMs);
  }

  /** Closes the connection at once; the session stays alive at the server. */
  destroy(): void {
    const socket = this.#socket;
    this.#socket = undefined;
    this.#isOpen = false;
    socket?.destroy();
  }

  /** Splits the received bytes into frames. */
  #receive(count: number): void {
    const events = this.#events;
    events.receiving(this);
    let at = this.#have > 0 ? this.#continue(count) : 0;
    while (count - at >= 4) {
      const next = at + 4 + readInt(received, at);
      if (next > count) break;
      events.reply(this, received, at);
      at = next;
    }
    if (at < count && this.#isOpen) {
      this.#have = count - at;
      received.copy(this.#head, 0, at, Math.min(count, at + HEAD_BYTES));
    }
    events.received(this);
  }

  /** Continues a frame from an earlier chunk, and returns the offset of the next one. */
  #continue(count: number): number {
    let used = 0;
    if (this.#have < HEAD_BYTES) {
      used = Math.min(count, HEAD_BYTES - this.#have);
      received.copy(this.#head, this.#have, 0, used);
    }
    if (this.#have + used < 4) {
      this.#have += used;
      return count;
    }
    const rest = 4 + readInt(this.#head, 0) - this.#have;
    if (rest > count) {
      this.#have += count;
      return count;
    }
    this.#have = 0;
    this.#events.reply(this, this.#head, 0);
    return rest;
  }
}

export function readInt(bytes: Uint8Array, at: number): number {
  return (
    ((bytes[at] as number) << 24) |
    ((bytes[at + 1] as number) << 16) |
    ((bytes[at + 2] as number) << 8) |
    (bytes[at + 3] as number)
  );
}

function connectFrame(timeoutMs: number, session: LoadSession | undefined): Buffer {
  const writer = new JuteWriter();
  const password = session?.password ?? new Uint8Array(PASSWORD_BYTES);
  writeConnectRequest(writer, {
    protocolVersion: 0,
    lastZxidSeen: 0 as Zxid,
    timeoutMs,
    sessionId: session?.id ?? SESSION_NONE,
    password: { bytes: password, start: 0, end: password.length },
    readOnly: false,
  });
  return Buffer.from(writer.bytes.subarray(0, writer.end));
}

function readSession(frame: Buffer): LoadSession | undefined {
  const { timeoutMs, sessionId, password } = readConnectResponse(frame, 4, frame.length);
  if (timeoutMs <= 0) return undefined;
  return { id: sessionId, timeoutMs, password: Uint8Array.from(password.bytes.subarray(password.start, password.end)) };
}
