import { hostPort } from "../addresses/host-port.ts";
import type { Zxid } from "../protocol/zxid.ts";
import { HierarchicalQuorum, MajorityQuorum, type QuorumVerifier } from "./quorum.ts";
import type { ServerId } from "./server-id.ts";

/** One server of an ensemble, as a line `server.N` has it. */
export interface Member {
  readonly sid: ServerId;
  /** A name or an address, without brackets. */
  readonly host: string;
  readonly quorumPort: number;
  readonly electionPort: number;
  readonly isObserver: boolean;
  /**
   * The address for clients, if the line has one. Without a host the server listens on every
   * address.
   */
  readonly clientAddress: { readonly host: string | undefined; readonly port: number } | undefined;
  /** The voter's group: either all voters have one, or none. */
  readonly group: number | undefined;
  /** The weight of the voter's vote in its group. */
  readonly weight: number;
}

/** The configuration of an ensemble: the servers that it has at a version. */
export interface Members {
  /**
   * The zxid of the transaction that made it. An ensemble's first one has the start marker of the
   * epoch that first agreed on it; before that, and where configurations come from files alone, it
   * is 0.
   */
  readonly version: Zxid;
  /** By their ids. */
  readonly servers: readonly Member[];
  /** Tells quorums of the voters. */
  readonly verifier: QuorumVerifier;
  /**
   * The disks by which voters are counted: the id of each disk that took the place of an earlier
   * one. A voter that is not among them is counted by whatever disk it has.
   */
  readonly disks: ReadonlyMap<ServerId, string>;
  readonly clients: ClientAccess;
}

/**
 * Whether an ensemble serves clients. `closed`: it has not served any since it was founded.
 * `closed-again`: an operator has closed it, and its data are those of clients.
 */
export type ClientAccess = "open" | "closed" | "closed-again";

const NO_DISKS: ReadonlyMap<ServerId, string> = new Map();

/**
 * @param servers in any order
 * @param disks of voters, see {@link Members.disks}
 */
export function membersOf(
  servers: readonly Member[],
  version: Zxid,
  { disks = NO_DISKS, clients = "open" }: Partial<Pick<Members, "disks" | "clients">> = {},
): Members {
  return { version, servers: servers.toSorted((a, b) => a.sid - b.sid), verifier: verifierOf(servers), disks, clients };
}

/** Whether the voters have groups, so that a change must name all members. */
export function hasGroups({ servers }: Pick<Members, "servers">): boolean {
  return servers.some(({ group }) => group !== undefined);
}

function verifierOf(servers: readonly Member[]): QuorumVerifier {
  const voters = servers.filter(({ isObserver }) => !isObserver);
  if (voters.every(({ group }) => group === undefined)) return new MajorityQuorum(voters.map(({ sid }) => sid));
  return new HierarchicalQuorum(voters.map(({ sid, group, weight }) => ({ sid, group: group ?? 0, weight })));
}

/** The beginning of the comment that names the disk of a voter. */
export const DISK_LINE = "#disk.";

/** The beginning of the comment of a configuration whose ensemble serves no clients. */
export const CLIENTS_LINE = "#clients=";

/** Whether other servers reach a server at the same place in both. */
export function isSamePlace(a: Member | undefined, b: Member | undefined): boolean {
  return (
    a !== undefined &&
    b !== undefined &&
    a.host === b.host &&
    a.quorumPort === b.quorumPort &&
    a.electionPort === b.electionPort
  );
}

/**
 * Whether two configurations have the same servers with the same roles, groups and weights,
 * wherever those are.
 */
export function isSameVotes(a: Pick<Members, "servers">, b: Pick<Members, "servers">): boolean {
  return votesText(a) === votesText(b);
}

/** Whether two configurations are the same, but for their versions. */
export function isSameList(a: Pick<Members, "servers">, b: Pick<Members, "servers">): boolean {
  return memberLines(a.servers).join("\n") === memberLines(b.servers).join("\n");
}

function votesText({ servers }: Pick<Members, "servers">): string {
  return servers
    .map(({ sid, isObserver, group, weight }) => (isObserver ? `${sid}` : `${sid}:${group ?? ""}:${weight}`))
    .join();
}

/**
 * As `/zookeeper/config` has it: lines of servers, groups and weights, disks and closed clients as
 * comments, which clients are not shown, and the version as the last line.
 */
export function membersText({ servers, version, disks, clients }: Omit<Members, "verifier">): string {
  const diskLines = [...disks].sort(([a], [b]) => a - b).map(([sid, diskId]) => `${DISK_LINE}${sid}=${diskId}`);
  const closed = clients === "open" ? [] : [`${CLIENTS_LINE}${clients}`];
  return [...memberLines(servers), ...diskLines, ...closed, `version=${version.toString(16)}`].join("\n");
}

/**
 * The lines of {@link membersText} without the version, as dynamic configuration files have them.
 */
export function memberLines(servers: readonly Member[]): readonly string[] {
  const lines = servers.map((server) => `server.${server.sid}=${memberText(server)}`);
  const grouped = servers.filter(({ group }) => group !== undefined);
  const groups = Map.groupBy(grouped, ({ group }) => group ?? 0);
  for (const [group, members] of [...groups].sort(([a], [b]) => a - b)) {
    lines.push(`group.${group}=${members.map(({ sid }) => sid).join(":")}`);
  }
  for (const { sid, weight } of grouped) lines.push(`weight.${sid}=${weight}`);
  return lines;
}

function memberText({ host, quorumPort, electionPort, isObserver, clientAddress }: Member): string {
  const peers = `${hostPort(host, quorumPort)}:${electionPort}:${isObserver ? "observer" : "participant"}`;
  return clientAddress === undefined
    ? peers
    : `${peers};${hostPort(clientAddress.host ?? "0.0.0.0", clientAddress.port)}`;
}
