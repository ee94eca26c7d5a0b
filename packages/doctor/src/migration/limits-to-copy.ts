/** Findings about settings that the new servers need, too. */
import { type Finding, finding } from "../finding.ts";
import type { ApacheFacts, ApacheLimits, ApacheServerFacts } from "./apache-facts.ts";
import { APACHE_SETTINGS, isOn, isSeen, namesOf, settingValue } from "./seen-setting.ts";

/** `jute.maxbuffer` of both where it is not set, and the largest of ours. */
export const FRAME_BYTES = 0xf_ffff;
export const FRAME_BYTES_MAX: number = 16 * 1024 * 1024;

const TICK_MS = 2000;
const CONNECTIONS_PER_ADDRESS = 60;

export function limitsToCopy({ servers }: ApacheFacts): readonly Finding[] {
  return [...limits(servers), ...frames(servers), ...superUser(servers), ...skippedAcl(servers), ...ttlFlags(servers)];
}

function limits(servers: readonly ApacheServerFacts[]): readonly Finding[] {
  const having = servers.filter((server) => linesOf(server.limits).length > 0);
  if (having.length === 0) return [];
  const lines = [...new Set(having.flatMap((server) => linesOf(server.limits)))];
  const found = `not the defaults: ${lines.join(", ")}`;
  return [
    finding("limits-to-copy", namesOf(having), found, `in the zoo.cfg of each new server: ${lines.join(" and ")}`),
  ];
}

/** Lines of zoo.cfg for what is not as it is without them. */
function linesOf(limits: ApacheLimits | undefined): readonly string[] {
  if (limits === undefined) return [];
  const { tickMs, timeoutMsMin, timeoutMsMax, connectionsPerAddressMax } = limits;
  return [
    ...(tickMs === TICK_MS ? [] : [`tickTime=${tickMs}`]),
    ...(timeoutMsMin === 2 * tickMs ? [] : [`minSessionTimeout=${timeoutMsMin}`]),
    ...(timeoutMsMax === 20 * tickMs ? [] : [`maxSessionTimeout=${timeoutMsMax}`]),
    ...(connectionsPerAddressMax === CONNECTIONS_PER_ADDRESS ? [] : [`maxClientCnxns=${connectionsPerAddressMax}`]),
  ];
}

function frames(servers: readonly ApacheServerFacts[]): readonly Finding[] {
  const sizes = servers.map((server) => Number(settingValue(server, APACHE_SETTINGS.maxBuffer) ?? Number.NaN));
  const having = servers.filter((_, i) => (sizes[i] ?? Number.NaN) > FRAME_BYTES);
  if (having.length === 0) return [];
  const largest = Math.max(...sizes.filter((size) => size > FRAME_BYTES));
  const found = `jute.maxbuffer is ${largest}, and Zooid has ${FRAME_BYTES} without a setting`;
  const remedy =
    largest > FRAME_BYTES_MAX
      ? `in the zoo.cfg of each new server: jute.maxbuffer=${FRAME_BYTES_MAX}, the most that there is; longer requests are refused`
      : `in the zoo.cfg of each new server: jute.maxbuffer=${largest}`;
  return [finding("frame-larger", namesOf(having), found, remedy)];
}

/** The value is a hash of a password: it is not printed. */
function superUser(servers: readonly ApacheServerFacts[]): readonly Finding[] {
  const having = servers.filter((server) => settingValue(server, APACHE_SETTINGS.superDigest) !== undefined);
  if (having.length === 0) return [];
  const found = "zookeeper.DigestAuthenticationProvider.superDigest is set";
  const remedy =
    "in the zoo.cfg of each new server: the same line DigestAuthenticationProvider.superDigest=super:HASH, and mode 600 for the file";
  return [finding("super-user", namesOf(having), found, remedy)];
}

function skippedAcl(servers: readonly ApacheServerFacts[]): readonly Finding[] {
  const having = servers.filter((server) => settingValue(server, APACHE_SETTINGS.skipAcl)?.trim() === "yes");
  if (having.length === 0) return [];
  const remedy = "correct the access lists first; or skipACL=yes in the zoo.cfg of each new server";
  return [finding("access-lists-skipped", namesOf(having), "skipACL=yes: no access list is checked", remedy)];
}

function ttlFlags(servers: readonly ApacheServerFacts[]): readonly Finding[] {
  const { extendedTypes, emulatedTtl } = APACHE_SETTINGS;
  const findings: Finding[] = [];
  const emulating = servers.filter((server) => isOn(server, emulatedTtl));
  if (emulating.length > 0) {
    findings.push(
      finding(
        "ttl-emulated",
        namesOf(emulating),
        "emulate353TTLNodes=true: TTL nodes may have the form of version 3.5.3",
        "create these nodes again with a server of 3.5.4 or later without that flag, and remove the flag",
      ),
    );
  }
  const seen = servers.filter((server) => isSeen(server, extendedTypes));
  const without = seen.filter((server) => !isOn(server, extendedTypes));
  if (without.length > 0 && without.length < seen.length) {
    findings.push(
      finding(
        "ttl-flags-differ",
        namesOf(without),
        "extendedTypesEnabled=true is missing here, and set at other servers",
        "set extendedTypesEnabled=true at all servers, and restart them one by one",
      ),
    );
  }
  return findings;
}
