/**
 * Ports for servers that must be named before they listen, as in the lines server.N of an ensemble.
 * Between the question and the start of its server no process that asks here gets the same port.
 */
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { type AddressInfo, createServer, type ListenOptions, type Server } from "node:net";

export interface PortRange {
  readonly first: number;
  readonly last: number;
}

/**
 * Below the range that systems give to outgoing connections and to port 0: Linux begins at 32768,
 * others higher.
 */
const PORTS: PortRange = { first: 10_000, last: 32_000 };
/** Most claims of one process; the oldest ones end first. Each is an open file. */
const CLAIM_COUNT_MAX = 500;

/** In the order in which they were made. */
const claims = new Set<Server>();

/** A port that was free a moment ago; see {@link freePorts}. */
export async function freePort(): Promise<number> {
  const [port = 0] = await freePorts(1);
  return port;
}

/**
 * As many different ports, free on all addresses a moment ago. No outgoing connection can take one
 * before its server starts, nor another caller of this function on Linux and Windows; another
 * process that listens on purpose can, and the start fails then.
 *
 * @throws Error where the range has too few free ports, or listening fails for another reason than
 *   a taken port
 */
export async function freePorts(count: number, { first, last }: PortRange = PORTS): Promise<readonly number[]> {
  const held: Server[] = [];
  const tried = new Set<number>();
  try {
    while (held.length < count) {
      if (tried.size > last - first) throw new Error(`fewer than ${count} free ports from ${first} to ${last}`);
      const port = randomInt(first, last + 1);
      if (tried.has(port)) continue;
      tried.add(port);
      const server = await listenOnClaimed(port);
      if (server !== undefined) held.push(server);
    }
    return held.map((server) => (server.address() as AddressInfo).port);
  } finally {
    await Promise.all(held.map((server) => new Promise((resolve) => server.close(resolve))));
  }
}

/** A server that holds the port, or undefined where the port is taken or claimed. */
async function listenOnClaimed(port: number): Promise<Server | undefined> {
  const path = claimPath(port);
  const claim = path === undefined ? undefined : await listenOn({ path });
  if (path !== undefined && claim === undefined) return undefined;
  // Members of one ensemble may listen on 127.0.0.1, 127.0.0.2 and so on: the port must be free on
  // each.
  const server = await listenOn({ port, host: "0.0.0.0" });
  if (server === undefined) claim?.close();
  else if (claim !== undefined) keep(claim);
  return server;
}

/**
 * A claim is a socket whose name has no file: the system refuses a second one of the same name, and
 * removes it when its process ends in any way. macOS has no such names.
 */
function claimPath(port: number): string | undefined {
  if (process.platform === "linux") return `\0zooid-test-port-${port}`;
  return process.platform === "win32" ? `\\\\.\\pipe\\zooid-test-port-${port}` : undefined;
}

function keep(claim: Server): void {
  claim.unref();
  claims.add(claim);
  const [oldest] = claims;
  if (claims.size <= CLAIM_COUNT_MAX || oldest === undefined) return;
  oldest.close();
  claims.delete(oldest);
}

/** Undefined where another server has the place. */
async function listenOn(place: ListenOptions): Promise<Server | undefined> {
  const server = createServer().listen(place);
  try {
    await once(server, "listening");
    return server;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EADDRINUSE") return undefined;
    throw error;
  }
}
