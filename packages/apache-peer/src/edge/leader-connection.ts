import { createHash, randomBytes } from "node:crypto";
import { connect as connectTcp, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { hostPort } from "@zooid/model";
import type { QuorumAddress } from "../core/leader-search.ts";
import { ApachePeerError } from "../core/peer-error.ts";
import { QuorumLogin, type QuorumUser } from "../core/quorum-login.ts";

/** Certificates and keys in PEM, as for `node:tls`. */
export interface PeerTls {
  readonly key: string;
  readonly cert: string;
  readonly ca: string;
  /** Whether the server's certificate must name the host. Default true. */
  readonly checksHost?: boolean;
}

export interface ConnectionOptions {
  readonly tls: PeerTls | undefined;
  readonly login: QuorumUser | undefined;
  /** For the connection, TLS and the login together. */
  readonly connectTimeoutMs: number;
  /** Until the address accepts or refuses the connection, counted from when it is known. */
  readonly reachMs: number;
}

export interface ConnectionSinks {
  /** The login, if there is one, is done. */
  ready(): void;
  bytes(bytes: Buffer): void;
  /** Called once; nothing follows. */
  ended(error: ApachePeerError): void;
}

const CNONCE_BYTES = 24;
/** Apache's servers close connections of another kind than theirs, and say nothing. */
const UNHEARD = " without a word: it may not lead yet, or require TLS or a login between servers";

/** A connection to the quorum port of a server: TCP or TLS, then the login. */
export class LeaderConnection {
  readonly #sinks: ConnectionSinks;
  readonly #socket: Socket;
  readonly #login: QuorumLogin | undefined;
  readonly #timer: NodeJS.Timeout;
  #reaching: NodeJS.Timeout | undefined;
  #isOpen = false;
  #isReady = false;
  /** Whether anything came. */
  #hasHeard = false;
  #isEnded = false;

  constructor(address: QuorumAddress, options: ConnectionOptions, sinks: ConnectionSinks) {
    const { tls, login, connectTimeoutMs, reachMs } = options;
    this.#sinks = sinks;
    const cnonce = randomBytes(CNONCE_BYTES).toString("base64");
    this.#login = login && new QuorumLogin({ user: login, cnonce, md5 });
    this.#socket = open(address, tls);
    this.#socket.setNoDelay(true);
    const place = hostPort(address.host, address.port);
    this.#timer = setTimeout(() => {
      if (this.#socket.connecting) this.#unreached(place, connectTimeoutMs);
      else this.#end(`${place} did not accept the connection within ${connectTimeoutMs} ms`);
    }, connectTimeoutMs);
    if (isIP(address.host) !== 0) this.#limitReaching(place, reachMs);
    this.#socket
      .on("lookup", () => this.#limitReaching(place, reachMs))
      .on("connect", () => clearTimeout(this.#reaching))
      .on(tls === undefined ? "connect" : "secureConnect", () => this.#opened())
      .on("data", (bytes: Buffer) => this.#received(bytes))
      .on("error", (error) => this.#end(firstLine(error.message), error))
      .on("end", () => this.#end(`${place} closed the connection${this.#hasHeard ? "" : UNHEARD}`))
      .on("close", () => this.#end(`the connection to ${place} was closed`));
  }

  send(bytes: Buffer): void {
    if (!this.#isEnded) this.#socket.write(bytes);
  }

  /** Nothing is reported after this. */
  close(): void {
    this.#isEnded = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#reaching);
    this.#socket.destroy();
  }

  #opened(): void {
    if (this.#isEnded) return;
    this.#isOpen = true;
    if (this.#login === undefined) this.#ready();
    else this.#socket.write(QuorumLogin.first);
  }

  #received(bytes: Buffer): void {
    if (this.#isEnded) return;
    this.#hasHeard = true;
    if (this.#isReady) return this.#sinks.bytes(bytes);
    if (this.#login === undefined) return;
    try {
      const next = this.#login.take(bytes);
      if (next !== undefined) this.#socket.write(next);
    } catch (error) {
      if (!(error instanceof ApachePeerError)) throw error;
      this.close();
      this.#sinks.ended(error);
      return;
    }
    if (this.#login.isDone) this.#ready();
  }

  #ready(): void {
    this.#isReady = true;
    clearTimeout(this.#timer);
    this.#sinks.ready();
    const rest = this.#login?.takeRest();
    if (rest !== undefined && rest.length > 0 && !this.#isEnded) this.#sinks.bytes(rest);
  }

  /** The address is known. Name servers may take longer than addresses. */
  #limitReaching(place: string, reachMs: number): void {
    if (this.#isEnded) return;
    clearTimeout(this.#reaching);
    // A turn of the event loop that takes longer than the limit must not end an attempt whose
    // answer has come: it is read between the timers and `setImmediate`.
    this.#reaching = setTimeout(() => setImmediate(() => this.#unreached(place, reachMs)), reachMs);
  }

  #unreached(address: string, ms: number): void {
    if (this.#isEnded || !this.#socket.connecting) return;
    this.close();
    this.#sinks.ended(new ApachePeerError({ code: "UNREACHED", address, ms }));
  }

  #end(reason: string, cause?: Error): void {
    if (this.#isEnded) return;
    this.close();
    const during = this.#isOpen && !this.#isReady ? " before the end of the login" : "";
    const detail = { code: "CONNECTION_LOST", reason: `${reason}${during}` } as const;
    this.#sinks.ended(new ApachePeerError(detail, cause === undefined ? {} : { cause }));
  }
}

function open({ host, port }: QuorumAddress, tls: PeerTls | undefined): Socket {
  if (tls === undefined) return connectTcp({ host, port });
  const { key, cert, ca, checksHost = true } = tls;
  const name = isIP(host) === 0 ? { servername: host } : {};
  const check = checksHost ? {} : { checkServerIdentity: () => undefined };
  return connectTls({ host, port, key, cert, ca, ...name, ...check });
}

/** OpenSSL ends its messages with a line break. */
function firstLine(message: string): string {
  return message.split("\n", 1)[0] ?? "";
}

function md5(bytes: Uint8Array): Buffer {
  return createHash("md5").update(bytes).digest();
}
