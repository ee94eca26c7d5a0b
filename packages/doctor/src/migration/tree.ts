/** Findings about the nodes. */
import { counted, found as shown } from "@zooid/model";
import { cliCommand, plainCall } from "../cli-call.ts";
import { bytesText } from "../figures.ts";
import { type Finding, finding } from "../finding.ts";
import { shellWord } from "../shell-word.ts";
import type { ApacheFacts, ApachePlace, ApacheServerFacts, ApacheTreeFacts } from "./apache-facts.ts";
import { FRAME_BYTES, FRAME_BYTES_MAX } from "./limits-to-copy.ts";
import { APACHE_SETTINGS, isOn } from "./seen-setting.ts";

/** Schemes that any server has. */
const ALWAYS: ReadonlySet<string> = new Set(["world", "auth", "digest", "ip", "super"]);
/** Schemes that a server has once it is configured, with what it needs. */
const CONFIGURED: ReadonlyMap<string, string> = new Map([
  ["sasl", "the same users: java.security.auth.login.config with a section Server, DIGEST-MD5 or Kerberos"],
  ["x509", "TLS for clients with the same authorities: secureClientPort, ssl.trustStore.location"],
]);

/** The bytes of a request beside path and data: header, access list, flags. */
const REQUEST_BYTES = 1024;
const PATH_BYTES_MAX = 16 * 1024;
const PATH_NAMES_MAX = 1024;

export function tree({ servers, tree: facts }: ApacheFacts): readonly Finding[] {
  if (facts === undefined) return [];
  return [...schemes(facts), ...sizes(facts), ...hiddenKinds(facts, servers), ...unread(facts)];
}

function schemes(facts: ApacheTreeFacts): readonly Finding[] {
  return [...facts.schemes].flatMap(([scheme, place]) => {
    if (ALWAYS.has(scheme)) return [];
    const needed = CONFIGURED.get(scheme);
    const found = `${counted(place.count, "node has", "nodes have")} an access list with the scheme ${shown(scheme)}, such as ${shown(place.path)}`;
    if (needed !== undefined)
      return [finding("scheme-to-configure", facts.address, found, `configure at each new server ${needed}`)];
    const setAcl = cliCommand(plainCall(facts.address), `setAcl ${shellWord(place.path)} ACL`);
    const remedy = `give these nodes lists with digest, sasl or x509 before the move (${setAcl})`;
    return [finding("scheme-unknown", facts.address, found, remedy)];
  });
}

function sizes({ address, longestData, longestPath, deepestPath }: ApacheTreeFacts): readonly Finding[] {
  const findings: Finding[] = [];
  const needed = longestData.count + new TextEncoder().encode(longestData.path).length + REQUEST_BYTES;
  if (needed > FRAME_BYTES) {
    const remedy =
      needed > FRAME_BYTES_MAX
        ? `store less in it: a server takes at most jute.maxbuffer=${FRAME_BYTES_MAX}`
        : `in the zoo.cfg of each new server: jute.maxbuffer=${needed} at least`;
    const found = `${shown(longestData.path)} has ${bytesText(longestData.count)} of data, more than a request holds with jute.maxbuffer=${FRAME_BYTES}`;
    findings.push(finding("data-long", address, found, remedy));
  }
  const found = (what: string, { path }: ApachePlace): string => `${shown(path)} has ${what}`;
  const remedy = "shorten it, if clients create it again";
  if (longestPath.count > PATH_BYTES_MAX)
    findings.push(finding("path-long", address, found(`${longestPath.count} bytes`, longestPath), remedy));
  else if (deepestPath.count > PATH_NAMES_MAX)
    findings.push(finding("path-long", address, found(`${deepestPath.count} names`, deepestPath), remedy));
  return findings;
}

/** A server without the flag shows such owners as they are stored. */
function hiddenKinds(
  { address, hiddenKinds: place }: ApacheTreeFacts,
  servers: readonly ApacheServerFacts[],
): readonly Finding[] {
  if (place === undefined || servers.some((server) => isOn(server, APACHE_SETTINGS.extendedTypes))) return [];
  const found = `${counted(place.count, "node has", "nodes have")} the owner of a TTL node, such as ${shown(place.path)}, and extendedTypesEnabled is not set`;
  const remedy = "set extendedTypesEnabled=true at all servers before one of them leads again, and restart them";
  return [finding("ttl-without-flag", address, found, remedy)];
}

function unread({ address, unread: place }: ApacheTreeFacts): readonly Finding[] {
  if (place === undefined) return [];
  const found = `${counted(place.count, "node", "nodes")} may not be read, such as ${shown(place.path)}`;
  return [finding("nodes-unread", address, found, "authenticate with --auth 'digest super:password'")];
}
