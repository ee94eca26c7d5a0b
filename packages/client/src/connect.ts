import { startTimer, type Timer } from "./calls/timers.ts";
import { Client } from "./client.ts";
import { captureStack, ZkError, zkError } from "./errors.ts";
import { BackgroundDeletes } from "./operations/background-deletes.ts";
import { type ClientOptions, parseClientOptions } from "./options.ts";
import { parseConnectString } from "./servers/connect-string.ts";
import { ServerList } from "./servers/server-list.ts";
import { TrackedHosts } from "./servers/tracked-hosts.ts";
import { startDebugOutput } from "./session/debug-output.ts";
import { SessionDriver } from "./session/session-driver.ts";
import { Observations } from "./streams/observe.ts";

/**
 * A client that starts connecting and does not wait for it: calls made meanwhile wait in its queue.
 *
 * @param hosts `host:port,host:port/chroot`, or `dns-srv://name/chroot`; where the options have
 *   `hosts`, a chroot or nothing
 * @throws ArgumentError with every problem of the connect string, or of the options
 */
export function createClient(hosts: string, options: ClientOptions = {}): Client {
  return start(hosts, options).client;
}

/**
 * A client with a session.
 *
 * @throws the signal's reason; OPERATION_TIMEOUT after `startTimeoutMs`, with the last failure of
 *   each server in its message and, as an AggregateError, in its `cause`; AUTH_FAILED for refused
 *   credentials; TLS_FAILED as soon as every server has failed by a certificate; ArgumentError for
 *   invalid arguments. Until then it keeps trying
 */
export async function connect(hosts: string, options: ClientOptions = {}): Promise<Client> {
  // Nothing is dialled for a caller that has given up.
  options?.signal?.throwIfAborted?.();
  const { client, driver } = start(hosts, options);
  const { signal, startTimeoutMs, auth, sasl } = driver.config;
  const faults = new AbortController();
  const limits: AbortSignal[] = [faults.signal];
  if (signal !== undefined) limits.push(signal);
  let timer: Timer | undefined;
  if (startTimeoutMs !== Number.POSITIVE_INFINITY) {
    const timeout = new AbortController();
    timer = startTimer(startTimeoutMs, () => timeout.abort(startError(hosts, startTimeoutMs, driver)));
    limits.push(timeout.signal);
  }
  const judge = (): void => {
    if (driver.hasPermanentFault) faults.abort(certificateError(hosts, driver));
  };
  const ignore = driver.states.add(judge, () => {});
  try {
    const limit = { signal: AbortSignal.any(limits) };
    // The connection sends the options' credentials in any case; adding them again reports
    // refusals.
    const shown = auth.map((credential) => client.addAuth(credential.scheme, credential.auth, limit));
    await Promise.all([client.connected(limit), ...shown]);
    // Queued behind the SASL exchange: an answer proves that it succeeded.
    if (sasl !== undefined) await client.exists("/", limit);
    return client;
  } catch (error) {
    await client.close();
    // The time limit's error was made by a timer: here its stack has the frames of the caller.
    if (error instanceof ZkError) captureStack(error);
    throw error;
  } finally {
    ignore();
    timer?.cancel();
  }
}

function start(hosts: string, options: ClientOptions): { readonly client: Client; readonly driver: SessionDriver } {
  if (typeof Promise.withResolvers !== "function")
    throw new Error(`@zooid/client needs Node.js 22.15 or newer, and this is ${process.version}`);
  const config = parseClientOptions(options);
  const given = parseConnectString(hosts, config.hosts === undefined);
  startDebugOutput();
  const listed = new ServerList(given);
  const named = config.hosts ?? listed;
  const tracked = config.tracksEnsemble ? new TrackedHosts(named) : undefined;
  const driver = new SessionDriver(config, tracked ?? named);
  driver.start();
  const [observations, deletes] = [new Observations(driver), new BackgroundDeletes(driver)];
  const servers = config.hosts === undefined ? listed : undefined;
  const client = new Client({ driver, observations, deletes, servers }, given.chroot);
  tracked?.follow(client.config$, {
    isSecure: config.transport.isSecure === true,
    random: config.random,
    current: () => driver.session.connectedAddress,
    moveTo: (hosts) => driver.moveTo(hosts),
  });
  return { client, driver };
}

/** The error of a connect that no server's certificate, or none of the client's, allows. */
function certificateError(hosts: string, { noConnectionError: cause }: SessionDriver): ZkError {
  const message = `connect ${hosts}: ${cause?.message ?? "no server accepts TLS"} (TLS_FAILED)`;
  return zkError({ code: "TLS_FAILED", op: "connect", outcome: "not-sent", message }, { cause });
}

/** The error of a connect that took too long. */
function startError(hosts: string, startTimeoutMs: number, driver: SessionDriver): ZkError {
  const { noConnectionError: cause, noConnectionReason } = driver;
  const reasons = noConnectionReason === undefined ? "" : `; ${noConnectionReason}`;
  const message = `connect ${hosts}: no session within ${startTimeoutMs} ms${reasons}`;
  const options = cause === undefined ? undefined : { cause };
  return zkError({ code: "OPERATION_TIMEOUT", op: "connect", outcome: "not-sent", message }, options);
}
