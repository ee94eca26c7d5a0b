import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createListener, type Server as Listener, type Socket } from "node:net";
import { pipeline } from "node:stream/promises";
import { TLSSocket, type TlsOptions as TlsServerOptions } from "node:tls";
import { askForBody, BUDGETS, deferBody, dropBody, hasUnreadBody, SocketPlaces } from "@zooid/model";
import { subjectName } from "../tls/subject-name.ts";
import { TlsAcceptor } from "../tls/tls-acceptor.ts";
import type { TlsConfig } from "../tls/tls-config.ts";
import { RequestTurns } from "./request-turns.ts";

/** A request whose method, host and form are valid. */
export interface HttpRequest {
  readonly method: "GET" | "POST";
  /** As received: nothing is decoded or joined, so no `..` can leave a directory. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly authorization: string | undefined;
  /** The remote address. */
  readonly address: string;
  /** The subject of the client's certificate, if there was one. */
  readonly certificateSubject: string | undefined;
  readonly contentType: string | undefined;
  /** The body, which is read only when a handler iterates it, once; undefined if there is none. */
  readonly body: AsyncIterable<Uint8Array> | undefined;
}

/** A long body, produced while it is sent. It is disposed of whether or not it was sent. */
export interface HttpStream extends AsyncDisposable {
  /** Undefined where it is not known before the end. */
  readonly sizeBytes: number | undefined;
  /** The next piece; undefined after the last. */
  next(): Promise<Uint8Array | undefined>;
}

/** The connection of a request that an application answers. */
export interface ApplicationRequest {
  /** The subject of the client's certificate, if there was one. */
  readonly certificateSubject: string | undefined;
}

/**
 * Answers requests for paths of its own, of every method; false for the path of another. It checks
 * requests of other sites itself.
 */
export type AdminApplication = (
  message: IncomingMessage,
  response: ServerResponse,
  request: ApplicationRequest,
) => boolean;

export interface HttpAnswer {
  readonly status: number;
  readonly type: string;
  readonly body: string | HttpStream;
  readonly headers?: Readonly<Record<string, string>>;
  /** The methods that are allowed. */
  readonly allow?: string;
}

export interface HttpPortOptions {
  /** 0 lets the system choose. */
  readonly port: number;
  /** `*` for every address. */
  readonly address: string;
  /** Idle connections are closed after this time. */
  readonly idleTimeoutMs: number;
  /** Undefined: plain HTTP. */
  readonly tls?: TlsConfig | undefined;
  /** With TLS: whether plain HTTP is served too; the first byte decides. Default false. */
  readonly servesBoth?: boolean;
  /** Asked before `answer`. */
  readonly application?: AdminApplication | undefined;
  /** Whether requests for a path are answered when all other places are taken. Default none. */
  isProbe?(path: string): boolean;
  /** Answers a request; undefined for an unknown path. */
  answer(request: HttpRequest): HttpAnswer | undefined | Promise<HttpAnswer>;
  /** Reports a request whose handler threw. */
  failed(error: unknown): void;
}

const HEADER_BYTES_MAX = 16 * 1024;
const HEADER_COUNT_MAX = 100;
/**
 * Places for connections, of which one address has half; those that wait for a request give way.
 */
const { count: countMax, ofAddress: shareMax, forProbes: reserveMax } = BUDGETS.httpConnections;
const PLACES = { countMax, shareMax, reserveMax };
const HEADERS_MS = 5000;
/** Node adds a second, and its longest timer has 2^31 - 1 ms. */
const KEEP_ALIVE_MS_MAX: number = 2 ** 31 - 1 - 1000;
const CHECK_MS = 1000;
const TEXT = "text/plain; charset=utf-8";
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/i;
const SAFE_HEADERS = {
  "Cache-Control": "no-store",
  "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
  "X-Content-Type-Options": "nosniff",
  "X-Frame-Options": "DENY",
};

/**
 * A port for operators and their tools. It is Node's own HTTP server: a few fixed paths and one
 * request body need no framework, and Node's maintainers fix its parser. Only the command that
 * takes a body reads it: a request with another body is answered, and its connection closed.
 * Requests of browsers from other sites are refused, and where the port is bound to loopback, so
 * are requests for another host name (DNS rebinding).
 */
export class HttpPort implements AsyncDisposable {
  readonly #options: HttpPortOptions;
  readonly #server: Server;
  /** Accepts connections: the server itself, or what stands before it where there is TLS. */
  readonly #listener: Listener;
  readonly #acceptor: TlsAcceptor | undefined;
  readonly #secured = new Set<TLSSocket>();
  /** Connections whose first byte, which decides between HTTP and TLS, has not come. */
  readonly #silent = new Set<Socket>();
  readonly #places = new SocketPlaces(PLACES);
  readonly #turns = new RequestTurns();

  constructor(options: HttpPortOptions) {
    this.#options = options;
    const limits = {
      maxHeaderSize: HEADER_BYTES_MAX,
      headersTimeout: HEADERS_MS,
      // Reading a body may take long while bytes arrive; a body that is not read is not waited for.
      requestTimeout: 0,
      connectionsCheckingInterval: CHECK_MS,
      keepAliveTimeout: Math.min(options.idleTimeoutMs, KEEP_ALIVE_MS_MAX),
      noDelay: true,
    };
    const serve = (message: IncomingMessage, response: ServerResponse): void => this.#arrived(message, response);
    this.#server = createServer(limits, serve);
    this.#acceptor = options.tls === undefined ? undefined : new TlsAcceptor(secured(options.tls));
    this.#listener =
      this.#acceptor === undefined ? this.#server : createListener({ noDelay: true }, (socket) => this.#begin(socket));
    // A body that is announced so is asked for only where it will be read.
    this.#server.on("checkContinue", (message: IncomingMessage, response: ServerResponse) => {
      deferBody(message, response);
      serve(message, response);
    });
    this.#server.on("connection", (socket) => this.#turns.connected(socket));
    this.#server.maxHeadersCount = HEADER_COUNT_MAX;
    this.#listener.on("connection", (socket) => this.#places.connected(socket));
    this.#server.timeout = options.idleTimeoutMs;
    // Upgrades are refused.
    this.#server.on("connect", (_message, socket) => socket.destroy());
  }

  /** Resolves once the port is bound; rejects with the system's error when it cannot be. */
  async listen(): Promise<void> {
    const { port, address } = this.#options;
    this.#listener.listen({ port, ...(address === "*" ? {} : { host: address }) });
    await once(this.#listener, "listening");
    this.#listener.unref();
    // A server that does not listen itself begins to look for late requests by this event.
    if (this.#listener !== this.#server) this.#server.emit("listening");
  }

  /** The bound port. */
  get port(): number {
    const bound = this.#listener.address();
    return bound !== null && typeof bound === "object" ? bound.port : this.#options.port;
  }

  /** Settings for new connections; does nothing for a port without TLS. */
  setSecureContext(context: TlsConfig["context"]): void {
    this.#acceptor?.setSecureContext(context);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#listener.listening) return;
    const closed = once(this.#listener, "close");
    this.#listener.close();
    if (this.#listener !== this.#server) this.#server.close();
    this.#acceptor?.stop();
    for (const socket of this.#secured) socket.destroy();
    for (const socket of this.#silent) socket.destroy();
    this.#server.closeAllConnections();
    await closed;
  }

  #begin(socket: Socket): void {
    if (this.#options.servesBoth !== true) {
      this.#secure(socket);
      return;
    }
    const drop = (): void => void socket.destroy();
    socket.setTimeout(HEADERS_MS, drop);
    socket.on("error", drop);
    this.#silent.add(socket);
    socket.once("close", () => this.#silent.delete(socket));
    socket.once("readable", () => {
      const first: Buffer | null = socket.read();
      if (first === null) {
        socket.destroy();
        return;
      }
      this.#silent.delete(socket);
      socket.setTimeout(0);
      socket.off("timeout", drop);
      socket.off("error", drop);
      socket.unshift(first);
      if (first[0] === TLS_HANDSHAKE) this.#secure(socket);
      else this.#server.emit("connection", socket);
    });
  }

  /**
   * A TLS handshake takes milliseconds on the event loop: they begin one after the other, as those
   * of clients do.
   */
  #secure(socket: Socket): void {
    socket.on("error", () => {
      // The handshake has failed, or the client is gone.
    });
    this.#acceptor?.accept(socket, (secured) => {
      this.#secured.add(secured);
      secured.once("close", () => this.#secured.delete(secured));
      this.#server.emit("connection", secured);
    });
  }

  #arrived(message: IncomingMessage, response: ServerResponse): void {
    const { socket } = message;
    const isBusy = (): void => this.#places.setBusy(socket, true);
    // A request counts when its body is there.
    if (hasBody(message)) message.once("end", isBusy);
    else isBusy();
    response.once("close", () => {
      this.#places.setBusy(socket, false);
      this.#turns.answered(socket);
    });
    this.#turns.add(message, () => void this.#serve(message, response));
  }

  async #serve(message: IncomingMessage, response: ServerResponse): Promise<void> {
    let answer: HttpAnswer;
    try {
      if (this.#isAnsweredElsewhere(message, response)) return;
      // Processing may take longer than the idle timeout; a body has to come first.
      if (!hasBody(message)) message.socket.setTimeout(0);
      answer = await this.#answer(message);
    } catch (error) {
      this.#options.failed(error);
      answer = plain(500, "the request failed in the server; see its log");
    }
    if (hasBody(message) && hasUnreadBody(message)) await dropBody(message, startTimer);
    const { body } = answer;
    const bytes = typeof body === "string" ? Buffer.from(body) : undefined;
    response.writeHead(answer.status, {
      ...SAFE_HEADERS,
      ...answer.headers,
      "Content-Type": answer.type,
      ...lengthOf(body),
      ...(answer.allow === undefined ? {} : { Allow: answer.allow }),
      ...(hasBody(message) && !message.complete ? { Connection: "close" } : {}),
    });
    message.socket.setTimeout(this.#options.idleTimeoutMs);
    if (typeof body === "string") response.end(message.method === "HEAD" ? undefined : bytes);
    else await this.#stream(body, response, message.method === "HEAD");
  }

  #isAnsweredElsewhere(message: IncomingMessage, response: ServerResponse): boolean {
    const { application } = this.#options;
    if (this.#places.isReserved(message.socket)) return false;
    const isForThisHost = this.#isForThisHost(message.headers.host);
    if (application === undefined || message.method === "TRACE" || !isForThisHost) return false;
    return application(message, response, { certificateSubject: subjectOf(message.socket) });
  }

  #isForThisHost(host: string | undefined): boolean {
    return !LOOPBACK.test(hostText(this.#options.address)) || LOOPBACK.test(host ?? "");
  }

  /** A body shorter than announced cuts the connection, so that the client notices. */
  async #stream(stream: HttpStream, response: ServerResponse, isHead: boolean): Promise<void> {
    try {
      await using sent = stream;
      if (isHead) response.end();
      else await pipeline(piecesOf(sent), response);
    } catch (error) {
      response.destroy();
      this.#options.failed(error);
    }
  }

  /** A handler that stops reading early can still answer. */
  async *#bodyOf(message: IncomingMessage): AsyncGenerator<Uint8Array, void, undefined> {
    askForBody(message);
    // A handler reads what it has allowed: such a connection does not give way.
    this.#places.setBusy(message.socket, true);
    for await (const piece of message.iterator({ destroyOnReturn: false })) yield piece as Buffer;
    // Processing may take longer than the idle timeout.
    message.socket.setTimeout(0);
  }

  async #answer(message: IncomingMessage): Promise<HttpAnswer> {
    const { method = "", url = "", headers, socket } = message;
    if (method === "TRACE") return plain(403, "TRACE is refused");
    const asked = method === "HEAD" ? "GET" : method;
    if (asked !== "GET" && asked !== "POST")
      return { ...plain(405, `${method} is not served`), allow: "GET, HEAD, POST" };
    if (isFromAnotherSite(headers)) return plain(403, "requests from other sites are refused");
    if (!this.#isForThisHost(headers.host)) {
      return plain(421, "this port accepts requests from this machine only, by the name localhost");
    }
    if (!url.startsWith("/")) return plain(400, "the target of a request is a path");
    const end = url.indexOf("?");
    const path = end === -1 ? url : url.slice(0, end);
    if (this.#places.isReserved(socket) && this.#options.isProbe?.(path) !== true) {
      return { ...plain(503, "all connections of this port are in use"), headers: { Connection: "close" } };
    }
    const query = new URLSearchParams(end === -1 ? "" : url.slice(end + 1));
    const { authorization } = headers;
    const found = await this.#options.answer({
      method: asked,
      path,
      query,
      authorization,
      certificateSubject: subjectOf(socket),
      address: (socket.remoteAddress ?? "").replace(/^::ffff:/, ""),
      contentType: headers["content-type"],
      body: hasBody(message) ? this.#bodyOf(message) : undefined,
    });
    return found ?? plain(404, "there is nothing here");
  }
}

const TLS_HANDSHAKE = 0x16;

function lengthOf(body: HttpAnswer["body"]): Record<string, number> {
  const length = typeof body === "string" ? Buffer.byteLength(body) : body.sizeBytes;
  return length === undefined ? {} : { "Content-Length": length };
}

export function plain(status: number, text: string): HttpAnswer {
  return { status, type: TEXT, body: `${text}\n` };
}

function hasBody({ headers }: IncomingMessage): boolean {
  const length = headers["content-length"];
  return (length !== undefined && length !== "0") || headers["transfer-encoding"] !== undefined;
}

function startTimer(ms: number, callback: () => void): { cancel(): void } {
  const timer = setTimeout(callback, ms);
  return { cancel: () => clearTimeout(timer) };
}

async function* piecesOf(stream: HttpStream): AsyncGenerator<Uint8Array, void, undefined> {
  for (let piece = await stream.next(); piece !== undefined; piece = await stream.next()) yield piece;
}

function secured({ context, clientAuth, handshakeTimeoutMs }: TlsConfig): TlsServerOptions {
  const needsCertificate = clientAuth === "need";
  return {
    ...context,
    requestCert: needsCertificate,
    rejectUnauthorized: needsCertificate,
    handshakeTimeout: handshakeTimeoutMs,
  };
}

/** Where client certificates are required, connections without a trusted one are refused. */
function subjectOf(socket: Socket): string | undefined {
  const certificate = socket instanceof TLSSocket ? socket.getPeerX509Certificate() : undefined;
  return certificate === undefined ? undefined : subjectName(certificate.raw);
}

function hostText(address: string): string {
  return address.includes(":") ? `[${address}]` : address;
}

/** Browsers send the site that a request comes from; tools do not. */
function isFromAnotherSite({ origin, host, ...headers }: IncomingMessage["headers"]): boolean {
  const site = headers["sec-fetch-site"];
  if (site !== undefined && site !== "same-origin" && site !== "none") return true;
  return origin !== undefined && origin !== `http://${host}` && origin !== `https://${host}`;
}
