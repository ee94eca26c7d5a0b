import { hostPort } from "../addresses/host-port.ts";
import { MemberRuleError } from "./member-rule-error.ts";
import type { Member, Members } from "./members.ts";
import { configurationSetting, parseMembers } from "./members-text.ts";
import type { ServerId } from "./server-id.ts";

/** The ensemble's configuration, as its servers keep it. */
export interface Configuration {
  readonly members: Members;
  /**
   * The text behind `server.N=`, as the node has it: it may name addresses that {@link members}
   * lacks.
   */
  readonly lines: ReadonlyMap<ServerId, string>;
}

/**
 * Reads the text of `/zookeeper/config`.
 *
 * @throws MemberRuleError for a text that is no configuration, as a server without an ensemble has
 *   it
 */
export function parseConfiguration(text: string): Configuration {
  let members: Members;
  try {
    members = parseMembers(text);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new MemberRuleError("NO_CONFIGURATION", `/zookeeper/config holds no configuration: ${error.message}`);
  }
  if (members.servers.length === 0) {
    throw new MemberRuleError(
      "NO_ENSEMBLE",
      "/zookeeper/config lists no servers: the server is no member of an ensemble",
    );
  }
  const lines = new Map<ServerId, string>();
  for (const line of text.split("\n")) {
    const { name, value } = configurationSetting(line) ?? { name: "", value: "" };
    const [, sid] = /^server\.(\d+)$/.exec(name) ?? [];
    if (sid !== undefined) lines.set(Number(sid) as ServerId, value);
  }
  return { members, lines };
}

/** Client addresses that stand for every address of a server. */
const WILDCARDS: ReadonlySet<string> = new Set(["", "0.0.0.0", "[::]", "::", "*"]);

/** Where clients reach a member; undefined if the configuration names no client port. */
export function clientAddressOf({ host, clientAddress }: Member): string | undefined {
  if (clientAddress === undefined) return undefined;
  const { host: own, port } = clientAddress;
  return hostPort(own === undefined || WILDCARDS.has(own) ? host : own, port);
}

/** A line's value with another role; the role stands behind the last address. */
export function withRole(value: string, role: "participant" | "observer"): string {
  const [peers = "", ...client] = value.split(";");
  const bare = peers.trim().replace(/:(participant|observer)$/i, "");
  return [`${bare}:${role}`, ...client].join(";");
}
