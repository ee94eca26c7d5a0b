import {
  ArgumentError,
  anyRule,
  checkArgument,
  checkFit,
  found,
  foundBytes,
  isTlsRecord,
  type Rule,
  rules,
  type Shape,
  shape,
} from "@zooid/model";
import { startTimer } from "../calls/timers.ts";
import { isZkError, zkError } from "../errors.ts";
import { type HostAddress, parseConnectString } from "../servers/connect-string.ts";
import { tcpTransport } from "./tcp-transport.ts";
import { type TlsOptions, tlsTransport } from "./tls-transport.ts";
import type { Transport, TransportConnection } from "./transport.ts";
import { canAnswer } from "./word-answers.ts";

export interface AdminCommandOptions {
  /** Cancels the command; it rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Time limit in milliseconds; then OPERATION_TIMEOUT. Default 5000. */
  readonly timeoutMs?: number;
  /** The transport. Default: plain TCP. */
  readonly tls?: TlsOptions | (() => TlsOptions);
}

const OPTIONS: Shape<AdminCommandOptions> = shape<AdminCommandOptions>({
  signal: rules.signal,
  timeoutMs: rules.duration,
  tls: anyRule(rules.record, rules.callable),
});
const wordRule: Rule = {
  expected: "four small letters, such as srvr",
  accepts: (value) => typeof value === "string" && /^[a-z]{4}$/.test(value),
};

const TIMEOUT_MS = 5_000;
/** Listings of sessions and watches may be long; an endless stream is an error. */
const ANSWER_BYTES_MAX = 64 * 1024 * 1024;

/**
 * Sends a server one of the four-letter words, `ruok`, `srvr`, `mntr`, `cons`, `wchs` and so on,
 * outside of any session. All of a name's addresses are tried until one answers. The server answers
 * a word outside of its `4lw.commands.whitelist` with a message that says so.
 *
 * @param server `host:port`, as `client.server` has it
 * @throws CONNECTION_LOSS without an answer of a ZooKeeper server, with server and reason, such as
 *   a refused connection, or the beginning of another service's answer, which its `cause` has as
 *   `received`; OPERATION_TIMEOUT, also for a port with TLS
 *   that is asked without; the signal's reason; ArgumentError for invalid arguments
 */
export async function adminCommand(server: string, word: string, options: AdminCommandOptions = {}): Promise<string> {
  checkArgument("adminCommand", "a word", word, wordRule);
  checkFit("adminCommand", options, OPTIONS);
  const { hosts, chroot } = parseConnectString(server);
  const [host] = hosts;
  if (host === undefined || hosts.length > 1 || chroot !== "/")
    throw new ArgumentError("adminCommand", [`one server, as host:port, is asked at a time, found ${found(server)}`]);
  const { signal, tls, timeoutMs = TIMEOUT_MS } = options;
  signal?.throwIfAborted();
  const transport = tls === undefined ? tcpTransport : tlsTransport(tls);
  const limit = new AbortController();
  const give = (): void => limit.abort(signal?.reason);
  signal?.addEventListener("abort", give, { once: true });
  const timer = startTimer(timeoutMs, () => limit.abort(tooLate(server, word)));
  try {
    const addresses = await unlessAborted(transport.resolve(host), limit.signal);
    return await firstAnswer(transport, { addresses, word, signal: limit.signal });
  } catch (error) {
    if (signal?.aborted === true) throw signal.reason;
    if (isZkError(error, "OPERATION_TIMEOUT")) throw error;
    throw noAnswer(server, word, error, tls !== undefined);
  } finally {
    timer.cancel();
    signal?.removeEventListener("abort", give);
  }
}

interface Asking {
  readonly word: string;
  readonly signal: AbortSignal;
}

async function firstAnswer(
  transport: Transport,
  { addresses, ...asking }: Asking & { readonly addresses: readonly HostAddress[] },
): Promise<string> {
  let fault: unknown = new Error("the name has no address");
  for (const address of addresses) {
    try {
      return await answerOf(transport, address, asking);
    } catch (error) {
      if (asking.signal.aborted) throw error;
      fault = error;
    }
  }
  throw fault;
}

async function answerOf(transport: Transport, address: HostAddress, { word, signal }: Asking): Promise<string> {
  const answer = new ReceivedAnswer(word);
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const connection: TransportConnection = transport.connect(address, {
    opened: () => connection.write(Buffer.from(word), () => {}),
    data: (chunk) => {
      const fault = answer.add(chunk);
      if (fault !== undefined) reject(fault);
    },
    drained: () => {},
    // A server with an empty answer closes the connection too, and so does a port of another
    // protocol.
    closed: (error) =>
      error === undefined && answer.sizeBytes > 0
        ? resolve()
        : reject(
            error ??
              new Error("the connection was closed: another service, or a server that requires TLS on this port"),
          ),
  });
  try {
    await unlessAborted(promise, signal);
    return answer.text();
  } catch (error) {
    // A service that greets first and waits for more is recognised by its greeting.
    const foreign = signal.aborted && isZkError(error, "OPERATION_TIMEOUT") ? answer.foreign() : undefined;
    throw foreign ?? error;
  } finally {
    connection.destroy();
  }
}

/** Recognises the answer of another service by its beginning. */
class ReceivedAnswer {
  readonly #word: string;
  readonly #chunks: Buffer[] = [];
  #isJudged = false;
  sizeBytes = 0;

  constructor(word: string) {
    this.#word = word;
  }

  /** The chunk is valid during the call only. @returns why nothing more is read */
  add(chunk: Buffer): Error | undefined {
    this.#chunks.push(Buffer.from(chunk));
    this.sizeBytes += chunk.length;
    if (this.sizeBytes > ANSWER_BYTES_MAX) return new Error(`an answer of more than ${ANSWER_BYTES_MAX} bytes`);
    if (this.#isJudged) return undefined;
    const bytes = Buffer.concat(this.#chunks);
    // A character may be cut off at the end of the chunk.
    const canBe = canAnswer(this.#word, new TextDecoder().decode(bytes, { stream: true }), false);
    this.#isJudged = canBe !== undefined;
    return canBe === false ? foreignAnswer(bytes) : undefined;
  }

  /** The bytes so far as the reason of an error; undefined for none. */
  foreign(): Error | undefined {
    if (this.sizeBytes === 0 || this.#isJudged) return undefined;
    const bytes = Buffer.concat(this.#chunks);
    return canAnswer(this.#word, bytes.toString(), true) === false ? foreignAnswer(bytes) : undefined;
  }

  /** @throws Error for what is the answer of another service */
  text(): string {
    const bytes = Buffer.concat(this.#chunks);
    const text = bytes.toString();
    if (canAnswer(this.#word, text, true) === false) throw foreignAnswer(bytes);
    return text;
  }
}

/** An answer of another service. */
class ForeignAnswerError extends Error {
  override readonly name = "ForeignAnswerError";
  /** Its first line, as messages show it. */
  readonly received: string;

  constructor(received: string, isHttp: boolean) {
    super(
      isHttp
        ? `the port speaks HTTP, and answered ${received}`
        : `the port of another service: it answered ${received}`,
    );
    this.received = received;
  }
}

function foreignAnswer(bytes: Buffer): Error {
  if (isTlsRecord(bytes)) return new Error("the port speaks TLS, and the command was sent without it");
  return new ForeignAnswerError(foundBytes(bytes), bytes.subarray(0, 5).toString() === "HTTP/");
}

function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    promise.then(resolve, reject);
  });
}

function tooLate(server: string, word: string): Error {
  const message = `${word} at ${server}: ${LATE} (OPERATION_TIMEOUT)`;
  return zkError({ code: "OPERATION_TIMEOUT", op: word, outcome: "unknown", message });
}

function noAnswer(server: string, word: string, cause: unknown, isSecure: boolean): Error {
  const reason = causeText(cause, isSecure);
  const message = `${word} at ${server}: no answer of a ZooKeeper server${reason} (CONNECTION_LOSS)`;
  return zkError({ code: "CONNECTION_LOSS", op: word, outcome: "unknown", message }, { cause });
}

const LATE = "no answer in time: the server is busy, or this is the port of another service, or one with TLS";

function causeText(cause: unknown, isSecure: boolean): string {
  if (!(cause instanceof Error)) return "";
  const code = "code" in cause ? cause.code : undefined;
  if (code === "ECONNREFUSED") return ": connection refused: no process listens on this port";
  if (isSecure && (code === "ERR_SSL_WRONG_VERSION_NUMBER" || code === "EPROTO" || code === "ECONNRESET"))
    return ": the port does not speak TLS, and the command was sent with it: leave the option tls out";
  return `: ${cause.message}`;
}
