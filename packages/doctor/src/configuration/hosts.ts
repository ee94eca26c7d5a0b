import { hostPort, type ServerId } from "@zooid/model";
import { type Finding, finding } from "../finding.ts";

/** The address of a listed server, as this machine finds it. */
export interface ListedHost {
  readonly sid: ServerId;
  readonly host: string;
  /** The file and line that name it. */
  readonly subject: string;
  readonly isOwn: boolean;
  /** Empty: the name has no address here. */
  readonly addresses: readonly string[];
  /** The outcome of a connection to each port of another server; empty: not tried. */
  readonly ports: readonly PeerPort[];
}

export interface PeerPort {
  readonly use: "quorum" | "election";
  readonly port: number;
  /** Undefined: it was opened. */
  readonly fault: string | undefined;
}

/**
 * Whether the servers of a list find each other.
 *
 * @param ownAddresses those of this machine's interfaces; empty if they are not known
 */
export function hostFindings(hosts: readonly ListedHost[], ownAddresses: readonly string[]): readonly Finding[] {
  const isSpread = hosts.some(({ isOwn, addresses }) => !isOwn && !addresses.every(isLoopback));
  return hosts.flatMap((listed) => {
    if (listed.addresses.length === 0) return [unresolved(listed)];
    return listed.isOwn ? ownHost(listed, isSpread, ownAddresses) : closedPorts(listed);
  });
}

function unresolved({ subject, sid, host }: ListedHost): Finding {
  return finding(
    "host-unresolved",
    subject,
    `${host}, the host of server ${sid}, has no address here`,
    `look it up (getent hosts ${host}), and correct the line or the name service`,
  );
}

/** Each server listens on its election port, and the leader alone on its quorum port. */
function closedPorts({ subject, sid, host, ports }: ListedHost): readonly Finding[] {
  const election = ports.find(({ use }) => use === "election");
  if (election?.fault === undefined) return [];
  const place = hostPort(host, election.port);
  return [
    finding(
      "peer-port-closed",
      subject,
      `the election port of server ${sid} at ${place} is not reached: ${election.fault}`,
      `start server ${sid}, or open ${place} in the firewalls between the two machines (nc -vz ${host} ${election.port})`,
    ),
  ];
}

function ownHost(listed: ListedHost, isSpread: boolean, ownAddresses: readonly string[]): readonly Finding[] {
  const { subject, sid, host, addresses } = listed;
  if (addresses.every(isLoopback)) {
    if (!isSpread) return [];
    return [
      finding(
        "own-host-loopback",
        subject,
        `${host}, the host of this server ${sid}, is ${addresses.join(", ")} on this machine`,
        `remove ${host} from the line of ${addresses[0]} in /etc/hosts, or give it the machine's address there`,
      ),
    ];
  }
  const isHere = addresses.some((address) => isWildcard(address) || ownAddresses.includes(address));
  if (isHere || ownAddresses.length === 0) return [];
  return [
    finding(
      "own-host-elsewhere",
      subject,
      `${host}, the host of this server ${sid}, is ${addresses.join(", ")}; this machine has ${ownAddresses.join(", ")}`,
      `correct myid, the line server.${sid}, or the name service; behind a port mapping set quorumListenOnAllIPs=true and leave this as it is`,
    ),
  ];
}

function isWildcard(address: string): boolean {
  return address === "0.0.0.0" || address === "::";
}

function isLoopback(address: string): boolean {
  return address === "::1" || /^127\./.test(address);
}
