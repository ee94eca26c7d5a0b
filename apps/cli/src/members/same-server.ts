import { lookup } from "node:dns/promises";
import { parseConnectString } from "@zooid/client";

/**
 * Those of the servers that are none of the known ones under another name, such as `127.0.0.1:2181` and
 * `localhost:2181`. A name that cannot be resolved stands for itself.
 */
export async function otherServers(servers: readonly string[], known: readonly string[]): Promise<readonly string[]> {
  const places = new Set((await Promise.all(known.map(placesOf))).flat());
  const others: string[] = [];
  for (const server of servers) {
    const own = await placesOf(server);
    if (own.some((place) => places.has(place))) continue;
    for (const place of own) places.add(place);
    others.push(server);
  }
  return others;
}

/** Each address of a server with its port; all addresses of the own machine are one. */
async function placesOf(server: string): Promise<readonly string[]> {
  const [host] = parseConnectString(server).hosts;
  if (host === undefined) return [server];
  try {
    const addresses = await lookup(host.host, { all: true });
    return addresses.map(({ address }) => `${isLoopback(address) ? "loopback" : address} ${host.port}`);
  } catch {
    return [`${host.host} ${host.port}`];
  }
}

function isLoopback(address: string): boolean {
  return address === "::1" || address.startsWith("127.");
}
