/** Findings about the follower's link to the servers, and about fencing them at the end. */
import { type Finding, finding } from "../finding.ts";
import type { ApacheFacts, ApacheServerFacts } from "./apache-facts.ts";
import { APACHE_SETTINGS, type ApacheSetting, isOn, isSeen, namesOf, settingValue } from "./seen-setting.ts";

/** The follower's own number is above each voter's, and 255 is taken by TTL nodes. */
const SID_MAX = 254;

export function joining(facts: ApacheFacts): readonly Finding[] {
  return [...numbers(facts), ...protection(facts.servers), ...fence(facts)];
}

/** Numbers of servers, which are the first bytes of the ids of sessions. */
export function takenNumbers({ servers, tree }: ApacheFacts): readonly number[] {
  const taken = new Set<number>(tree?.ownerBytes);
  for (const { sid } of servers) if (sid !== undefined) taken.add(sid & 0xff);
  for (const { sid } of tree?.members ?? []) taken.add(sid & 0xff);
  for (const { sessions = [] } of servers) for (const { id } of sessions) taken.add(firstByte(id));
  return [...taken].sort((a, b) => a - b);
}

/** The first byte of a session's id is the number of the server that made it. */
export function firstByte(id: bigint): number {
  return Number(BigInt.asUintN(64, id) >> 56n);
}

function numbers(facts: ApacheFacts): readonly Finding[] {
  const taken = takenNumbers(facts);
  const same = facts.newSids.filter((sid) => taken.includes(sid & 0xff));
  const findings: Finding[] = [];
  if (same.length > 0) {
    findings.push(
      finding(
        "server-number-taken",
        "the new servers",
        `ids of sessions begin with ${taken.join(", ")}, and ${same.join(", ")} ${same.length === 1 ? "is" : "are"} to be numbers of new servers`,
        "give the new servers other numbers in myid and server.N",
      ),
    );
  }
  const voters = [
    ...facts.servers.flatMap(({ sid }) => sid ?? []),
    ...(facts.tree?.members ?? []).filter(({ isObserver }) => !isObserver).map(({ sid }) => sid),
  ];
  const highest = Math.max(0, ...voters);
  if (highest >= SID_MAX) {
    const found = `server ${highest} is a voter, and the follower's number is above each voter's and at most ${SID_MAX}`;
    findings.push(
      finding("server-number-none-left", "the ensemble", found, "replace that voter by one with a smaller number"),
    );
  }
  return findings;
}

function protection(servers: readonly ApacheServerFacts[]): readonly Finding[] {
  const having = (setting: ApacheSetting): readonly ApacheServerFacts[] =>
    servers.filter((server) => isOn(server, setting));
  const findings: Finding[] = [];
  const encrypted = having(APACHE_SETTINGS.quorumTls);
  if (encrypted.length > 0) {
    findings.push(
      finding(
        "quorum-tls",
        namesOf(encrypted),
        "sslQuorum=true: servers speak TLS with each other, and ask for a certificate",
        "make a certificate that their trust store accepts, with the follower's address as a subject alternative name (docs/moving-in.md has the settings)",
      ),
    );
  }
  const kerberos = servers.filter((server) => settingValue(server, APACHE_SETTINGS.quorumKerberos) !== undefined);
  const login = [...new Set([...having(APACHE_SETTINGS.quorumSaslRequired), ...having(APACHE_SETTINGS.quorumSasl)])];
  if (kerberos.length > 0) {
    findings.push(
      finding(
        "quorum-kerberos",
        namesOf(kerberos),
        "quorum.auth.kerberos.servicePrincipal is set: servers log in to each other by Kerberos",
        "change the servers to DIGEST-MD5 between each other, or stop them and type zooid-server import --apache DIR1,DIR2,DIR3 --data NEW",
      ),
    );
  } else if (login.length > 0) {
    findings.push(
      finding(
        "quorum-login",
        namesOf(login),
        "quorum.auth.enableSasl=true: servers log in to each other",
        "give the follower a user of the section QuorumServer in their JAAS file (docs/moving-in.md has the settings)",
      ),
    );
  }
  return findings;
}

/** A reconfiguration to the leader alone is the one fence that needs no access to machines. */
function fence({ servers, tree }: ApacheFacts): readonly Finding[] {
  const { reconfig, standalone } = APACHE_SETTINGS;
  const seen = servers.filter((server) => isSeen(server, reconfig));
  const without = seen.filter((server) => !isOn(server, reconfig) || !isOff(server, standalone));
  const isRefused = tree?.hasReconfig === false;
  if (without.length === 0 && !isRefused) return [];
  return [
    finding(
      "fence-by-stop",
      without.length === 0 ? "the ensemble" : namesOf(without),
      isRefused
        ? "the configuration in /zookeeper/config has no version: reconfigEnabled=true is not set"
        : "reconfigEnabled=true and standaloneEnabled=false are not both set: a reconfiguration to the leader alone is refused",
      "have a command that stops every voter for good (ssh, kubectl), or set both and restart the servers one by one",
    ),
  ];
}

function isOff(server: ApacheServerFacts, setting: ApacheSetting): boolean {
  return settingValue(server, setting)?.trim().toLowerCase() === "false";
}
