/**
 * Ports for servers that must be named before they listen, as in the lines server.N of an ensemble.
 */
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { type AddressInfo, createServer, type Server } from "node:net";

/**
 * Below the range that systems give to outgoing connections and to port 0: Linux begins at 32768,
 * others higher.
 */
const FIRST_PORT = 10_000;
const LAST_PORT = 32_000;

/** A port that was free a moment ago; see {@link freePorts}. */
export async function freePort(): Promise<number> {
  const [port = 0] = await freePorts(1);
  return port;
}

/**
 * As many different ports, free on all addresses a moment ago. No outgoing connection can take one
 * before its server starts; another process that listens on purpose can, and the start fails then.
 *
 * @throws Error where the machine has too few free ports, or listening fails for another reason
 *   than a taken port
 */
export async function freePorts(count: number): Promise<readonly number[]> {
  const held: Server[] = [];
  const tried = new Set<number>();
  try {
    while (held.length < count) {
      if (tried.size > LAST_PORT - FIRST_PORT) throw new Error(`fewer than ${count} free ports on this machine`);
      const port = randomInt(FIRST_PORT, LAST_PORT + 1);
      if (tried.has(port)) continue;
      tried.add(port);
      const server = await listenOn(port);
      if (server !== undefined) held.push(server);
    }
    return held.map((server) => (server.address() as AddressInfo).port);
  } finally {
    await Promise.all(held.map((server) => new Promise((resolve) => server.close(resolve))));
  }
}

/** A server that holds the port, or undefined where the port is taken. */
async function listenOn(port: number): Promise<Server | undefined> {
  // Members of one ensemble may listen on 127.0.0.1, 127.0.0.2 and so on: the port must be free on
  // each.
  const server = createServer().listen(port, "0.0.0.0");
  try {
    await once(server, "listening");
    return server;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EADDRINUSE") return undefined;
    throw error;
  }
}
