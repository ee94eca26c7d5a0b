import { type ZkErrorCode, zkError } from "../errors.ts";
import { type HostAddress, parseConnectString } from "../servers/connect-string.ts";
import { tcpTransport } from "./tcp-transport.ts";
import { type TlsOptions, tlsTransport } from "./tls-transport.ts";
import type { Transport, TransportConnection } from "./transport.ts";

export interface AdminCommandOptions {
  /** Gives up with its reason. */
  readonly signal?: AbortSignal;
  /** Gives up after so many milliseconds, with OPERATION_TIMEOUT. Default 5000. */
  readonly timeoutMs?: number;
  /** As the client's. Default: plain TCP. */
  readonly tls?: TlsOptions | (() => TlsOptions);
}

const TIMEOUT_MS = 5_000;
/** Listings of sessions and watches may be long; a stream without an end is none. */
const ANSWER_BYTES_MAX = 64 * 1024 * 1024;

/**
 * What a server answers to one of its four-letter words: `ruok`, `srvr`, `mntr`, `cons`, `wchs` and so on, outside of any session. Each of a
 * name's addresses is tried until one answers. A word that the server's `4lw.commands.whitelist` leaves out is answered by a sentence
 * that says so.
 *
 * @param server `host:port`, as `client.server` has it
 * @throws CONNECTION_LOSS where nobody answers; OPERATION_TIMEOUT; the signal's reason; RangeError for what is no word, or no server
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
  const timer = setTimeout(() => limit.abort(failure("OPERATION_TIMEOUT", server, word)), timeoutMs);
  try {
    const addresses = await unlessAborted(transport.resolve(host), limit.signal);
    return await firstAnswer(transport, { addresses, word, signal: limit.signal });
  } catch (error) {
    limit.signal.throwIfAborted();
    throw failure("CONNECTION_LOSS", server, word, error);
  } finally {
    clearTimeout(timer);
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
    // A server that has nothing to say hangs up too, and so does one that is none.
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
  const meaning = code === "OPERATION_TIMEOUT" ? "no answer in time" : "no answer";
  return zkError(
    { code, op: word, outcome: "unknown", message: `${word} at ${server}: ${meaning} (${code})` },
    options,
  );
}
