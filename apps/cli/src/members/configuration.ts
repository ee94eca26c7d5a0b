import { formatAddress } from "@zooid/client";
import { type Member, type Members, parseMembers, type ServerId } from "@zooid/model";
import { CliError } from "../cli-error.ts";
import type { Invocation } from "../command.ts";
import { parseProperties } from "../settings/java-properties.ts";
import { WILDCARDS } from "../texts/cluster-config.ts";

/** The node of the ensemble's configuration, outside of any chroot. */
const CONFIG_PATH = "/zookeeper/config";
const SERVER_KEY = "server.";

/** The ensemble's configuration, as its servers keep it. */
export interface Configuration {
  readonly members: Members;
  /** What stands behind `server.N=`, as the node has it: it may name addresses that {@link members} lacks. */
  readonly lines: ReadonlyMap<ServerId, string>;
}

export async function readConfiguration({ connection, signal }: Invocation): Promise<Configuration> {
  const client = await connection.ready({ path: CONFIG_PATH, isAbsolute: true, signal });
  const { data } = await client.get(CONFIG_PATH, { signal, sync: true });
  return parseConfiguration(Buffer.from(data ?? []).toString());
}

/** @throws CliError for a text that is no configuration, as a server without an ensemble has it */
export function parseConfiguration(text: string): Configuration {
  let members: Members;
  try {
    members = parseMembers(text);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new CliError(`${CONFIG_PATH} holds no configuration: ${error.message}`, { code: "UNREADABLE_ANSWER" });
  }
  if (members.servers.length === 0) {
    throw new CliError(`${CONFIG_PATH} lists no servers: the server is no member of an ensemble`, {
      code: "UNREADABLE_ANSWER",
      hint: "name a member of an ensemble with -server",
    });
  }
  const lines = new Map<ServerId, string>();
  for (const [key, value] of parseProperties(text)) {
    if (key.startsWith(SERVER_KEY)) lines.set(Number(key.slice(SERVER_KEY.length)) as ServerId, value.trim());
  }
  return { members, lines };
}

/** Where clients reach a member; undefined if the configuration names no client port. */
export function clientAddressOf({ host, clientAddress }: Member): string | undefined {
  if (clientAddress === undefined) return undefined;
  const { host: own, port } = clientAddress;
  return formatAddress({ host: own === undefined || WILDCARDS.has(own) ? host : own, port });
}

/** A line's value with another role; the role stands behind the last address. */
export function withRole(value: string, role: "participant" | "observer"): string {
  const [peers = "", ...client] = value.split(";");
  const bare = peers.trim().replace(/:(participant|observer)$/i, "");
  return [`${bare}:${role}`, ...client].join(";");
}
