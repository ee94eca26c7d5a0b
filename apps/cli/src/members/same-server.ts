import { lookup } from "node:dns/promises";
import { isIPv6 } from "node:net";
import { networkInterfaces } from "node:os";
import { parseConnectString } from "@zooid/client";

/**
 * Those of the servers that are none of the known ones under another name, such as `127.0.0.1:2181`
 * and `localhost:2181`. A name that cannot be resolved stands for itself.
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

/**
 * Each address of a server with its port. The addresses of the own machine are one, but for further
 * ones of its loopback, such as 127.0.0.2: servers on one machine may have an address each.
 */
async function placesOf(server: string): Promise<readonly string[]> {
  const [host] = parseConnectString(server).hosts;
  if (host === undefined) return [server];
  try {
    const addresses = await lookup(host.host, { all: true });
    return addresses
      .map(({ address }) => plainAddress(address))
      .map((address) => `${isOwn(address) ? "own" : address} ${host.port}`);
  } catch {
    return [`${host.host} ${host.port}`];
  }
}

/** IPv4 as IPv6 has it is IPv4: `::ffff:127.0.0.1`, also written `::ffff:7f00:1`. */
function plainAddress(address: string): string {
  if (!isIPv6(address)) return address;
  // In the only form of a URL.
  const { hostname } = new URL(`http://[${address.split("%", 1).join("")}]`);
  const [, high, low] = /^\[::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})\]$/.exec(hostname) ?? [];
  if (high === undefined || low === undefined) return address;
  return [high, low].flatMap((half) => [Number.parseInt(half, 16) >> 8, Number.parseInt(half, 16) & 255]).join(".");
}

function isOwn(address: string): boolean {
  const interfaces = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  const own = interfaces.filter(({ internal }) => !internal).map((one) => one.address);
  return address === "::1" || address === "127.0.0.1" || own.includes(address);
}
