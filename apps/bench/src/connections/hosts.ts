import { isIP } from "node:net";
import { UsageError } from "../usage-error.ts";

/** One server's client port. */
export interface Host {
  readonly name: string;
  readonly port: number;
}

const PORT_DEFAULT = 2181;

/**
 * Reads `host:port,host,[::1]:port`, as ZooKeeper's connect strings are written, without a path at
 * the end.
 */
export function parseHosts(text: string): readonly Host[] {
  const hosts = text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
  if (hosts.length === 0) throw new UsageError(`expected host:port,host:port …, found "${text}"`);
  return hosts.map(parseHost);
}

function parseHost(text: string): Host {
  const match = /^(?:\[([^\]]+)\]|([^:[\]/]+))(?::(\d{1,5}))?$/.exec(text);
  const name = match?.[1] ?? match?.[2];
  const port = Number(match?.[3] ?? PORT_DEFAULT);
  if (name === undefined || port > 65_535 || port === 0) throw new UsageError(`expected host:port, found "${text}"`);
  return { name, port };
}

export function formatHost({ name, port }: Host): string {
  return name.includes(":") ? `[${name}]:${port}` : `${name}:${port}`;
}

export function formatHosts(hosts: readonly Host[]): string {
  return hosts.map(formatHost).join(",");
}

/**
 * Whether a load on it can only affect this machine. A name other than localhost counts as remote.
 */
export function isLoopback({ name }: Host): boolean {
  return name === "localhost" || name === "::1" || (isIP(name) === 4 && name.startsWith("127."));
}

/** Servers limit the connections of one address, by default to 60. */
const CONNECTIONS_PER_ADDRESS = 50;

/**
 * The source address of a connection: on Linux all of 127.0.0.0/8 can be used, so a load on
 * loopback stays below the servers' limit for one address. Elsewhere the system chooses.
 */
export function sourceAddress(
  host: Host,
  connection: number,
  platform: NodeJS.Platform = process.platform,
): string | undefined {
  if (platform !== "linux" || isIP(host.name) !== 4 || !isLoopback(host)) return undefined;
  const address = 1 + Math.floor(connection / CONNECTIONS_PER_ADDRESS);
  return `127.0.${address >> 8}.${address & 255}`;
}
