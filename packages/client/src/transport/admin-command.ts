import { startTimer } from "../calls/timers.ts";
import { type ZkErrorCode, zkError } from "../errors.ts";
import { type HostAddress, parseConnectString } from "../servers/connect-string.ts";
import { tcpTransport } from "./tcp-transport.ts";
import { type TlsOptions, tlsTransport } from "./tls-transport.ts";
import type { Transport, TransportConnection } from "./transport.ts";

export interface AdminCommandOptions {
  /** Cancels the command; it rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Time limit in milliseconds; then OPERATION_TIMEOUT. Default 5000. */
  readonly timeoutMs?: number;
  /** The transport. Default: plain TCP. */
  readonly tls?: TlsOptions | (() => TlsOptions);
}

const TIMEOUT_MS = 5_000;
/** Listings of sessions and watches may be long; an endless stream is an error. */
const ANSWER_BYTES_MAX = 64 * 1024 * 1024;

/**
 * Sends a server one of the four-letter words, `ruok`, `srvr`, `mntr`, `cons`, `wchs` and so on,
 * outside of any session. All of a name's addresses are tried until one answers. The server answers
 * a word outside of its `4lw.commands.whitelist` with a message that says so.
 *
 * @param server `host:port`, as `client.server` has it
 * @throws CONNECTION_LOSS without an answer; OPERATION_TIMEOUT; the signal's reason; RangeError for
 *   an invalid word or server
 */
export async function adminCommand(server: string, word: string, options: AdminCommandOptions = {}): Promise<string> {
  if (!/^[a-z]{4}$/.test(word)) throw new RangeError(`a word is four small letters, found ${JSON.stringify(word)}`);
  const { hosts } = parseConnectString(server);
  const [host] = hosts;
  if (host === undefined || hosts.length > 1) throw new RangeError(`one server is asked at a time, found ${server}`);
  const { signal, tls, timeoutMs = TIMEOUT_MS } = options;
  signal?.throwIfAborted();
  const transport = tls === undefined ? tcpTransport : tlsTransport(tls);
  const limit = new AbortController();
  const give = (): void => limit.abort(signal?.reason);
  signal?.addEventListener("abort", give, { once: true });
  const timer = startTimer(timeoutMs, () => limit.abort(failure("OPERATION_TIMEOUT", server, word)));
  try {
    const addresses = await unlessAborted(transport.resolve(host), limit.signal);
    return await firstAnswer(transport, { addresses, word, signal: limit.signal });
  } catch (error) {
    limit.signal.throwIfAborted();
    throw failure("CONNECTION_LOSS", server, word, error);
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
      asking.signal.throwIfAborted();
      fault = error;
    }
  }
  throw fault;
}

async function answerOf(transport: Transport, address: HostAddress, { word, signal }: Asking): Promise<string> {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const connection: TransportConnection = transport.connect(address, {
    opened: () => connection.write(Buffer.from(word), () => {}),
    data: (chunk) => {
      chunks.push(Buffer.from(chunk));
      sizeBytes += chunk.length;
      if (sizeBytes > ANSWER_BYTES_MAX) reject(new Error(`an answer of more than ${ANSWER_BYTES_MAX} bytes`));
    },
    drained: () => {},
    // A server with an empty answer closes the connection too, and so does a port of another
    // protocol.
    closed: (error) => (error === undefined && sizeBytes > 0 ? resolve() : reject(error ?? new Error("no answer"))),
  });
  try {
    await unlessAborted(promise, signal);
  } finally {
    connection.destroy();
  }
  return Buffer.concat(chunks).toString();
}

function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    promise.then(resolve, reject);
  });
}

function failure(code: ZkErrorCode, server: string, word: string, cause?: unknown): Error {
  const options = cause === undefined ? undefined : { cause };
  const meaning = code === "OPERATION_TIMEOUT" ? "no answer in time" : `no answer${causeText(cause)}`;
  return zkError(
    { code, op: word, outcome: "unknown", message: `${word} at ${server}: ${meaning} (${code})` },
    options,
  );
}

function causeText(cause: unknown): string {
  if (!(cause instanceof Error) || cause.message === "no answer") return "";
  const code = "code" in cause ? cause.code : undefined;
  return code === "ECONNREFUSED" ? ": connection refused: no process listens on this port" : `: ${cause.message}`;
}
