import type { Member, Members } from "@zooid/model";
import { clientAddressOf, isServing, lagOf, leaderIn, newestZxid, spareText } from "@zooid/model/membership";
import type { JsonObject } from "../output.ts";
import { versionCell } from "../texts/server-report.ts";
import { tableLines } from "../texts/table.ts";
import type { MemberStates } from "./member-states.ts";

const COLUMNS = [
  { title: "ID", isNumber: true },
  { title: "ADDRESS" },
  { title: "CLIENTS" },
  { title: "ROLE" },
  { title: "VOTE" },
  { title: "STATE" },
  { title: "LAG", isNumber: true },
  { title: "VERSION" },
];

/** One member, as `member list` shows it. */
export interface ListedMember extends JsonObject {
  readonly id: number;
  readonly address: string;
  readonly clients: string | null;
  readonly role: "participant" | "observer";
  /** The weight of the member's vote, in its group where there are groups; 0 for observers. */
  readonly weight: number;
  readonly group: number | null;
  /** `leader`, `follower` and so on; null without an answer. */
  readonly state: string | null;
  readonly lag: number | null;
  /** ZooKeeper's version, whose protocol the member speaks. */
  readonly version: string | null;
  /** Zooid's own version. */
  readonly zooidVersion: string | null;
  readonly error?: string;
}

export function listedMembers({ servers }: Members, states: MemberStates): readonly ListedMember[] {
  const newest = newestZxid(states.values());
  return servers.map((member) => listed(member, states, newest));
}

function listed(member: Member, states: MemberStates, newest: bigint): ListedMember {
  const { sid, host, quorumPort, electionPort, isObserver, group, weight } = member;
  const status = states.get(sid);
  const clients = clientAddressOf(member) ?? null;
  const fixed = {
    id: sid,
    address: `${host.includes(":") ? `[${host}]` : host}:${quorumPort}:${electionPort}`,
    clients,
    role: isObserver ? ("observer" as const) : ("participant" as const),
    weight: isObserver ? 0 : weight,
    group: group ?? null,
  };
  if (typeof status !== "object") {
    const error = status ?? "the configuration names no client port, so that it cannot be asked";
    return { ...fixed, state: null, lag: null, version: null, zooidVersion: null, error };
  }
  const { mode, zxid, version = null, zooidVersion = null } = status;
  const lag = zxid === undefined ? null : (lagOf(zxid, newest) ?? null);
  return { ...fixed, state: mode, lag, version, zooidVersion };
}

export function memberTable(members: readonly ListedMember[]): readonly string[] {
  return tableLines(
    COLUMNS,
    members.map(({ id, address, clients, role, weight, group, state, lag, version, zooidVersion }) => [
      ...[`${id}`, address, clients ?? "-", role],
      role === "observer" ? "no" : group === null ? "yes" : `weight ${weight} in group ${group}`,
      ...[state ?? "no answer", lag === null ? "?" : `${lag}`],
      versionCell({ version: version ?? undefined, zooidVersion: zooidVersion ?? undefined }),
    ]),
  );
}

/** How many voters serve, and whether they suffice. */
export interface Verdict {
  readonly text: string;
  readonly isWell: boolean;
}

export function verdictOf(members: Members, states: MemberStates): Verdict {
  const { voters } = members.verifier;
  const serving = [...voters].filter((sid) => isServing(states.get(sid)));
  const count = `configuration ${members.version.toString(16)}: ${serving.length} of ${voters.size} voters serve`;
  const leader = leaderIn(states);
  if (leader === undefined) return { text: `${count}; no leader among them`, isWell: false };
  return { text: `${count}; server ${leader} leads; ${spareText(members, serving)}`, isWell: true };
}

/** The servers that follow the leader although the list in force does not have them. */
export function unlistedServers(states: MemberStates): readonly number[] {
  const leader = leaderIn(states);
  const status = leader === undefined ? undefined : states.get(leader);
  return typeof status === "object" ? status.unlisted : [];
}

export function unlistedText(sid: number): string {
  return `server ${sid} is unlisted: it follows without a vote, as only its own configuration file has its line`;
}
