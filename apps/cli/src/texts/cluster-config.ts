import { parseProperties } from "../settings/java-properties.ts";

/**
 * The ensemble's configuration as clients use it: its version (hexadecimal), and where they may
 * connect.
 */
export interface ClusterConfig {
  readonly version: string;
  readonly clientAddresses: readonly string[];
}

/**
 * Reads the text that /zookeeper/config holds: `server.1=host:2888:3888:participant;0.0.0.0:2181`
 * for each server, and `version=…`. A client port without an address stands for every address.
 */
export function parseClusterConfig(text: string): ClusterConfig {
  const settings = [...parseProperties(text)];
  const clientAddresses = settings
    .filter(([key]) => key.startsWith("server."))
    .map(([, value]) => value.split(";")[1]?.trim() ?? "")
    .filter((address) => address !== "")
    .map((address) => (address.includes(":") ? address : `0.0.0.0:${address}`));
  return { version: settings.find(([key]) => key === "version")?.[1].trim() ?? "", clientAddresses };
}

/**
 * Where clients reach each member: `host:port`. A client address that stands for every address is
 * replaced by the member's own host.
 */
export function memberAddresses(text: string): readonly string[] {
  return [...parseProperties(text)].flatMap(([key, value]) => {
    if (!key.startsWith("server.")) return [];
    const [peers = "", client = ""] = value.split(";").map((part) => part.trim());
    const host = /^(\[[^\]]*\]|[^:]*):/.exec(peers)?.[1] ?? "";
    const [, address = "", port = ""] = /^(?:(.*):)?(\d+)$/.exec(client) ?? [];
    if (host === "" || port === "") return [];
    return [`${WILDCARDS.has(address) ? host : address}:${port}`];
  });
}

/** Client addresses that stand for every address of a server. */
export const WILDCARDS: ReadonlySet<string> = new Set(["", "0.0.0.0", "[::]", "::", "*"]);

/** One line: `100000000 host:2181,host:2182`. */
export function clusterConfigLine({ version, clientAddresses }: ClusterConfig): string {
  return `${version} ${clientAddresses.join(",")}`;
}
