/** Sessions with single servers, for commands that look at each of them. */
import { type Client, formatAddress } from "@zooid/client";
import { credentialsIn } from "../admin-auth.ts";
import { usageError } from "../cli-error.ts";
import { type Invocation, wholeNumber } from "../command.ts";
import type { Flag } from "../command-flags.ts";
import { checkServers, readServers } from "../connection/servers.ts";
import { explainError } from "../explain-error.ts";

const AUTH_MS = 10_000;
const REQUESTS_PER_SECOND = 5000;
const REQUESTS_PER_SECOND_MAX = 1_000_000;

export const FLAG_RATE: Flag = {
  name: "rate",
  takesValue: true,
  isOwn: true,
  meaning: `Requests that a server gets in a second at most; default ${REQUESTS_PER_SECOND}`,
};

/** For nodes that not every client may read. */
export const FLAG_NODE_AUTH: Flag = {
  name: "auth",
  takesValue: true,
  isOwn: true,
  meaning: "Credentials for nodes, as 'digest user:password', given once for each; default: $ZOOID_APACHE_AUTH",
};

export function rateOf({ flags }: Pick<Invocation, "flags">): number {
  const rate = wholeNumber(flags, "rate") ?? REQUESTS_PER_SECOND;
  if (rate >= 1 && rate <= REQUESTS_PER_SECOND_MAX) return rate;
  throw usageError(`--rate takes 1 to ${REQUESTS_PER_SECOND_MAX}, found ${rate}`);
}

export interface NodeCredential {
  readonly scheme: string;
  readonly auth: string;
}

/** Never printed with what it holds: other users of the machine see command lines already. */
export function credentialsOf({ flags }: Pick<Invocation, "flags">): readonly NodeCredential[] {
  const given = flags.all("auth");
  const ofEnvironment = process.env["ZOOID_APACHE_AUTH"];
  const texts = given.length > 0 || ofEnvironment === undefined ? given : [ofEnvironment];
  return texts.map((text) => credentialsIn(text, "digest user:password"));
}

/** `host:port` of each server that an option or operand names, without a chroot. */
export function serversIn(option: string, text: string): readonly string[] {
  checkServers(option, text);
  const { hosts, chroot } = readServers(text);
  if (chroot !== "/") throw usageError(`${option} takes servers without a path: all nodes are read, found ${chroot}`);
  return [...new Set(hosts.map(formatAddress))];
}

/** A session with one server. */
export interface ServerSession extends AsyncDisposable {
  readonly client: Client;
}

/**
 * Opens a session with one server, and authenticates it.
 *
 * @throws CliError CONNECTION_LOSS with the reason, or ZkError AUTH_FAILED
 */
export async function sessionWith(
  { connection, signal }: Pick<Invocation, "connection" | "signal">,
  server: string,
  credentials: readonly NodeCredential[],
): Promise<ServerSession> {
  const own = connection.beside(server);
  try {
    await own.open();
    const client = await own.ready({ signal });
    for (const { scheme, auth } of credentials) await client.addAuth(scheme, auth, { signal, timeoutMs: AUTH_MS });
    return { client, [Symbol.asyncDispose]: () => own.close() };
  } catch (error) {
    await own.close();
    throw error;
  }
}

/** Why a server could not be read, in one sentence. */
export function readingFault(error: unknown): string {
  return explainError(error).plain;
}
