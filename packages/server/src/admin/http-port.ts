import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { Socket } from "node:net";
import { pipeline } from "node:stream/promises";
import { TLSSocket, type TlsOptions as TlsServerOptions } from "node:tls";
import { subjectName } from "../tls/subject-name.ts";
import type { TlsConfig } from "../tls/tls-config.ts";

/** A request whose method, host and form are right. */
export interface HttpRequest {
  readonly method: "GET" | "POST";
  /** As it was sent: nothing is decoded, nothing is joined, so there is nothing to climb out of. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly authorization: string | undefined;
  /** Where it comes from. */
  readonly address: string;
  /** Whom the certificate names that it was asked with, if there was one. */
  readonly certificateSubject: string | undefined;
  readonly contentType: string | undefined;
  /** The body, which is read only by whoever asks for it, once; undefined where there is none. */
  readonly body: AsyncIterable<Uint8Array> | undefined;
}

/** A long body, made while it is sent. It is disposed of whether it was sent or not. */
export interface HttpStream extends AsyncDisposable {
  readonly sizeBytes: number;
  /** The next piece; undefined after the last. */
  next(): Promise<Uint8Array | undefined>;
}

export interface HttpAnswer {
  readonly status: number;
  readonly type: string;
  readonly body: string | HttpStream;
  readonly headers?: Readonly<Record<string, string>>;
  /** Methods that would have been served. */
  readonly allow?: string;
}

export interface HttpPortOptions {
  /** 0 lets the system choose. */
  readonly port: number;
  /** `*` for every one. */
  readonly address: string;
  /** A connection that says nothing for so long is closed. */
  readonly idleTimeoutMs: number;
  /** Undefined: it is plain. */
  readonly tls?: TlsConfig | undefined;
  /** Answers; undefined for a path that is none. */
  answer(request: HttpRequest): HttpAnswer | undefined | Promise<HttpAnswer>;
  /** What a request came to when answering it threw. */
  failed(error: unknown): void;
}

const HEADER_BYTES_MAX = 16 * 1024;
const HEADER_COUNT_MAX = 100;
const CONNECTIONS_MAX = 100;
const HEADERS_MS = 5000;
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
 * A port for operators and their tools. It is Node's own HTTP server: a handful of fixed paths and no request body need no
 * framework, and its parser is the one that Node's maintainers mend.
 *
 * Bodies are not read but by the one command that takes one: who sends another is answered, and the connection closed. Browsers may not ask across sites, and where only this
 * machine may ask, they may not be led here by a foreign name either.
 */
export class HttpPort implements AsyncDisposable {
  readonly #options: HttpPortOptions;
  readonly #server: Server;

  constructor(options: HttpPortOptions) {
    this.#options = options;
    const limits = {
      maxHeaderSize: HEADER_BYTES_MAX,
      headersTimeout: HEADERS_MS,
      // A body that is read may take its time, as long as something comes; one that is not is not waited for.
      requestTimeout: 0,
      connectionsCheckingInterval: CHECK_MS,
      keepAliveTimeout: options.idleTimeoutMs,
      noDelay: true,
    };
    const serve = (message: IncomingMessage, response: ServerResponse): void => void this.#serve(message, response);
    this.#server =
      options.tls === undefined
        ? createServer(limits, serve)
        : createTlsServer({ ...limits, ...secured(options.tls) }, serve);
    this.#server.maxHeadersCount = HEADER_COUNT_MAX;
    this.#server.maxConnections = CONNECTIONS_MAX;
    this.#server.timeout = options.idleTimeoutMs;
    // An upgrade is never taken.
    this.#server.on("connect", (_message, socket) => socket.destroy());
  }

  /** Resolves once the port is bound; rejects with the system's error when it cannot be. */
  async listen(): Promise<void> {
    const { port, address } = this.#options;
    this.#server.listen({ port, ...(address === "*" ? {} : { host: address }) });
    await once(this.#server, "listening");
    this.#server.unref();
  }

  /** The bound port. */
  get port(): number {
    const bound = this.#server.address();
    return bound !== null && typeof bound === "object" ? bound.port : this.#options.port;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#server.listening) return;
    const closed = once(this.#server, "close");
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  async #serve(message: IncomingMessage, response: ServerResponse): Promise<void> {
    let answer: HttpAnswer;
    try {
      answer = await this.#answer(message);
    } catch (error) {
      this.#options.failed(error);
      answer = plain(500, "the server could not answer this");
    }
    const { body } = answer;
    const bytes = typeof body === "string" ? Buffer.from(body) : undefined;
    response.writeHead(answer.status, {
      ...SAFE_HEADERS,
      ...answer.headers,
      "Content-Type": answer.type,
      "Content-Length": typeof body === "string" ? Buffer.byteLength(body) : body.sizeBytes,
      ...(answer.allow === undefined ? {} : { Allow: answer.allow }),
      ...(hasBody(message) && !message.complete ? { Connection: "close" } : {}),
    });
    message.socket.setTimeout(this.#options.idleTimeoutMs);
    if (typeof body === "string") response.end(message.method === "HEAD" ? undefined : bytes);
    else await this.#stream(body, response, message.method === "HEAD");
  }

  /** Whoever is sent less than was announced knows that it is not all: the connection is cut. */
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

  async #answer(message: IncomingMessage): Promise<HttpAnswer> {
    const { method = "", url = "", headers, socket } = message;
    if (method === "TRACE") return plain(403, "TRACE is refused");
    const asked = method === "HEAD" ? "GET" : method;
    if (asked !== "GET" && asked !== "POST")
      return { ...plain(405, `${method} is not served`), allow: "GET, HEAD, POST" };
    if (isFromAnotherSite(headers)) return plain(403, "requests of other sites are refused");
    if (LOOPBACK.test(hostText(this.#options.address)) && !LOOPBACK.test(headers.host ?? "")) {
      return plain(421, "this port is for this machine, by the name of localhost");
    }
    if (!url.startsWith("/")) return plain(400, "the target of a request is a path");
    const end = url.indexOf("?");
    const path = end === -1 ? url : url.slice(0, end);
    const query = new URLSearchParams(end === -1 ? "" : url.slice(end + 1));
    const { authorization } = headers;
    const found = await this.#options.answer({
      ...{ method: asked, path, query, authorization, certificateSubject: subjectOf(socket) },
      address: (socket.remoteAddress ?? "").replace(/^::ffff:/, ""),
      contentType: headers["content-type"],
      body: hasBody(message) ? bodyOf(message) : undefined,
    });
    return found ?? plain(404, "there is nothing here");
  }
}

export function plain(status: number, text: string): HttpAnswer {
  return { status, type: TEXT, body: `${text}\n` };
}

function hasBody({ headers }: IncomingMessage): boolean {
  const length = headers["content-length"];
  return (length !== undefined && length !== "0") || headers["transfer-encoding"] !== undefined;
}

/** Whoever stops reading before the end may still be answered. */
async function* bodyOf(message: IncomingMessage): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const piece of message.iterator({ destroyOnReturn: false })) yield piece as Buffer;
  // What is done with it may take longer than a connection may be silent.
  message.socket.setTimeout(0);
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

/** The port lets nobody in whose certificate it does not trust, where it asks for one. */
function subjectOf(socket: Socket): string | undefined {
  const certificate = socket instanceof TLSSocket ? socket.getPeerX509Certificate() : undefined;
  return certificate === undefined ? undefined : subjectName(certificate.raw);
}

function hostText(address: string): string {
  return address.includes(":") ? `[${address}]` : address;
}

/** Browsers say where a request comes from; tools do not. */
function isFromAnotherSite({ origin, host, ...headers }: IncomingMessage["headers"]): boolean {
  const site = headers["sec-fetch-site"];
  if (site !== undefined && site !== "same-origin" && site !== "none") return true;
  return origin !== undefined && origin !== `http://${host}` && origin !== `https://${host}`;
}
