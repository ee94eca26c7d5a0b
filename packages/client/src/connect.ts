import { Client } from "./client.ts";
import { zkError } from "./errors.ts";
import { BackgroundDeletes } from "./operations/background-deletes.ts";
import { type ClientOptions, parseClientOptions } from "./options.ts";
import { parseConnectString } from "./servers/connect-string.ts";
import { ServerList } from "./servers/server-list.ts";
import { TrackedHosts } from "./servers/tracked-hosts.ts";
import { SessionDriver } from "./session/session-driver.ts";
import { Observations } from "./streams/observe.ts";

/**
 * A client that starts connecting and does not wait for it: calls made meanwhile wait in its queue.
 *
 * @param hosts `host:port,host:port/chroot`, or `dns-srv://name/chroot`; where the options have
 *   `hosts`, a chroot or nothing
 * @throws RangeError with every problem of the connect string, or of the options
 */
export function createClient(hosts: string, options: ClientOptions = {}): Client {
  const given = parseConnectString(hosts, options.hosts === undefined);
  const config = parseClientOptions(options);
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
  return client;
}

/**
 * A client with a session.
 *
 * @throws the signal's reason; OPERATION_TIMEOUT after `startTimeoutMs`; AUTH_FAILED for refused
 *   credentials; RangeError for invalid arguments. Until then it keeps trying
 */
export async function connect(hosts: string, options: ClientOptions = {}): Promise<Client> {
  options.signal?.throwIfAborted();
  const { signal, startTimeoutMs, auth = [] } = options;
  const client = createClient(hosts, options);
  const limits: AbortSignal[] = [];
  if (signal !== undefined) limits.push(signal);
  let timer: NodeJS.Timeout | undefined;
  if (startTimeoutMs !== undefined) {
    const timeout = new AbortController();
    const message = `connect ${hosts}: no session within ${startTimeoutMs} ms`;
    const error = zkError({ code: "OPERATION_TIMEOUT", op: "connect", outcome: "not-sent", message });
    timer = setTimeout(() => timeout.abort(error), startTimeoutMs);
    limits.push(timeout.signal);
  }
  try {
    const limit = limits.length === 0 ? {} : { signal: AbortSignal.any(limits) };
    // The connection sends the options' credentials in any case; adding them again reports
    // refusals.
    const shown = auth.map((credential) => client.addAuth(credential.scheme, credential.auth, limit));
    await Promise.all([client.connected(limit), ...shown]);
    // Queued behind the SASL exchange: an answer proves that it succeeded.
    if (options.sasl !== undefined) await client.exists("/", limit);
    return client;
  } catch (error) {
    await client.close();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}
