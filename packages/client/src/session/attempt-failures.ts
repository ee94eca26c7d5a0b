/** Why attempts to connect failed: the last reason for each server, for errors, states and logs. */
import { errorJson } from "@zooid/model";
import { WireError } from "@zooid/wire";
import { addressText, type HostAddress } from "../servers/connect-string.ts";
import { certificateFault, isPermanentTlsFault } from "../transport/tls-faults.ts";

/**
 * One failed attempt. `resolve`: its name has no address; `connect`: no connection, or no TLS on
 * it; `greet`: a connection without a valid answer to the connect request.
 */
export interface AttemptFailure {
  readonly host: HostAddress;
  readonly step: "resolve" | "connect" | "greet";
  /** `failed`: with `cause` where one is known, else the server closed the connection. */
  readonly kind: "failed" | "timeout" | "refused";
  readonly cause?: Error | undefined;
  /** The bytes that came in place of a connect response, for messages. */
  readonly received?: string | undefined;
}

/** An attempt's failure as an error: `code` is the system's, where there is one. */
export interface AttemptError extends Error {
  /** `host:port` */
  readonly server: string;
  readonly code: string | undefined;
}

/** Servers whose reasons are kept; of more, those that failed last. */
const SERVERS_MAX = 32;

interface AttemptKind {
  /** Time limit of one attempt, for texts: a whole number. */
  readonly timeoutMs: number;
  readonly isSecure: boolean;
  /** The problem of the client's own certificate. */
  ownCertificateFault?(): string | undefined;
}

export class AttemptFailures {
  readonly #attempts: AttemptKind;
  readonly #last = new Map<string, AttemptFailure>();
  #count = 0;
  #newest: AttemptFailure | undefined;

  constructor(attempts: AttemptKind) {
    this.#attempts = attempts;
  }

  /** Number of failed attempts since the last connection. */
  get count(): number {
    return this.#count;
  }

  /** Whether each server has failed, and by a certificate that is no better at the next attempt. */
  arePermanent(serverCount: number): boolean {
    return this.#last.size >= serverCount && [...this.#last.values()].every((one) => this.#isPermanent(one));
  }

  /** Servers that check certificates after the handshake close the connection, and say nothing. */
  #isPermanent(failure: AttemptFailure): boolean {
    if (isPermanentTlsFault(codeOf(failure))) return true;
    const { step, kind, cause } = failure;
    const isClosed =
      step !== "resolve" && kind === "failed" && (cause === undefined || codeOf(failure) === "ECONNRESET");
    return this.#attempts.isSecure && isClosed && this.#attempts.ownCertificateFault?.() !== undefined;
  }

  add(failure: AttemptFailure): void {
    const server = serverOf(failure);
    this.#count++;
    this.#newest = failure;
    this.#last.delete(server);
    this.#last.set(server, failure);
    const [oldest] = this.#last.keys();
    if (this.#last.size > SERVERS_MAX && oldest !== undefined) this.#last.delete(oldest);
  }

  /** There is a connection. */
  clear(): void {
    this.#count = 0;
    this.#newest = undefined;
    this.#last.clear();
  }

  /** The newest failure, with its server; undefined for none. */
  get newest(): string | undefined {
    return this.#newest && this.#textOf(this.#newest);
  }

  /** The last failure of each server; undefined for none. */
  get summary(): string | undefined {
    if (this.#last.size === 0) return undefined;
    return [...this.#last.values()].map((failure) => this.#textOf(failure)).join("; ");
  }

  /** The same as an error, for `cause`. */
  get error(): AggregateError | undefined {
    const { summary } = this;
    if (summary === undefined) return undefined;
    return new AggregateError(
      [...this.#last.values()].map((failure) => this.errorOf(failure)),
      summary,
    );
  }

  errorOf(failure: AttemptFailure): AttemptError {
    const error = new Error(this.#textOf(failure), { cause: failure.cause });
    return withJson(Object.assign(error, { server: serverOf(failure), code: codeOf(failure) }));
  }

  #textOf(failure: AttemptFailure): string {
    const { name, port } = failure.host;
    const server = serverOf(failure);
    const shown = name === undefined ? server : `${name}:${port} (${server})`;
    const code = codeOf(failure);
    return `${shown}: ${this.#reasonOf(failure)}${code === undefined ? "" : ` (${code})`}`;
  }

  #reasonOf({ step, kind, cause, received }: AttemptFailure): string {
    switch (step) {
      case "resolve":
        if (kind === "timeout") return `the name was not resolved within ${this.#attempts.timeoutMs} ms`;
        return cause === undefined ? "the name has no address" : "the name could not be resolved";
      case "connect":
        if (kind === "timeout")
          return `no connection within ${this.#attempts.timeoutMs} ms: the host may be down or firewalled`;
        return this.#connectReason(cause);
      case "greet":
        if (kind === "refused") return "the server answered that it does not grant a session";
        if (kind === "timeout")
          return `connected, but no answer to the connect request within ${this.#attempts.timeoutMs} ms`;
        if (cause instanceof WireError) {
          const shown = received === undefined ? "" : `; it begins with ${received}`;
          return `the answer to the connect request is not ZooKeeper's: another service, or a port with TLS${shown}`;
        }
        if (this.#attempts.isSecure) return this.#silenceReason(cause);
        return "the server closed the connection without an answer: it has no quorum, or requires TLS on this port";
    }
  }

  /** Servers may check a client's certificate after the handshake. */
  #silenceReason(cause: Error | undefined): string {
    const certificate = certificateFault(cause === undefined ? undefined : systemCode(cause));
    if (certificate !== undefined) return certificate;
    const own = this.#attempts.ownCertificateFault?.();
    return own === undefined
      ? "the server closed the connection without an answer: it has no quorum, or requires a client certificate that it trusts"
      : `the server closed the connection without an answer, and ${own}`;
  }

  #connectReason(cause: Error | undefined): string {
    const code = cause === undefined ? undefined : systemCode(cause);
    const certificate = certificateFault(code);
    if (certificate !== undefined) return certificate;
    if (code === "ECONNREFUSED") return "connection refused: no process listens on this port";
    if (code === "ERR_SSL_WRONG_VERSION_NUMBER" || code === "EPROTO")
      return "the server does not speak TLS on this port";
    if (this.#attempts.isSecure && (cause === undefined || code === "ECONNRESET")) {
      const own = this.#attempts.ownCertificateFault?.();
      if (own !== undefined) return `the server closed the connection during the TLS handshake, and ${own}`;
      return "the server closed the connection during the TLS handshake: it may not speak TLS on this port";
    }
    return cause?.message ?? "the connection was closed";
  }
}

/** Lets an error keep its message as JSON. */
function withJson<T extends Error>(error: T): T {
  Object.defineProperty(error, "toJSON", { value: () => errorJson(error), configurable: true });
  return error;
}

function serverOf({ host }: AttemptFailure): string {
  return addressText(host);
}

function codeOf({ cause }: AttemptFailure): string | undefined {
  return cause === undefined || cause instanceof WireError ? undefined : systemCode(cause);
}

/** The code that the system or Node.js gave an error, such as `ECONNREFUSED`. */
export function systemCode(error: Error): string | undefined {
  return "code" in error && typeof error.code === "string" ? error.code : undefined;
}
