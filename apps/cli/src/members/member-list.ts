import type { Member, Members } from "@zooid/model";
import type { JsonObject } from "../output.ts";
import { tableLines } from "../texts/table.ts";
import { clientAddressOf } from "./configuration.ts";
import { leaderIn, type MemberStates } from "./member-states.ts";
import { isServing, lagOf, newestZxid } from "./server-status.ts";

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
  /** Of all weights of its group where there are groups; 0 for observers. */
  readonly weight: number;
  readonly group: number | null;
  /** `leader`, `follower` and so on; null without an answer. */
  readonly state: string | null;
  readonly lag: number | null;
  readonly version: string | null;
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
    ...{ id: sid, address: `${host.includes(":") ? `[${host}]` : host}:${quorumPort}:${electionPort}`, clients },
    role: isObserver ? ("observer" as const) : ("participant" as const),
    ...{ weight: isObserver ? 0 : weight, group: group ?? null },
  };
  if (typeof status !== "object") {
    const error = status ?? "the configuration names no client port, so that it cannot be asked";
    return { ...fixed, state: null, lag: null, version: null, error };
  }
  const { mode, zxid, version } = status;
  const lag = zxid === undefined ? null : (lagOf(zxid, newest) ?? null);
  return { ...fixed, state: mode, lag, version: version ?? null };
}

export function memberTable(members: readonly ListedMember[]): readonly string[] {
  return tableLines(
    COLUMNS,
    members.map(({ id, address, clients, role, weight, group, state, lag, version }) => [
      ...[`${id}`, address, clients ?? "-", role],
      role === "observer" ? "no" : group === null ? "yes" : `weight ${weight} in group ${group}`,
      ...[state ?? "no answer", lag === null ? "?" : `${lag}`, version ?? "?"],
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

/** How many of the serving voters may fail. */
export function spareText({ verifier }: Members, serving: Iterable<Member["sid"]>): string {
  const alive = [...serving].filter((sid) => verifier.voters.has(sid));
  if (!verifier.isQuorum(alive)) return "they are no quorum";
  const spare = alive.findIndex((_, count) => !survivesAny(verifier, alive, count + 1));
  if (spare === 0) return "none of them may fail";
  return `${spare === -1 ? alive.length : spare} of them may fail`;
}

/** Whether a quorum is left, whichever of these servers fail. Ensembles are small. */
function survivesAny(
  verifier: Members["verifier"],
  alive: readonly Member["sid"][],
  failures: number,
  from = 0,
): boolean {
  if (failures === 0) return verifier.isQuorum(alive);
  for (let at = from; at + failures <= alive.length; at++) {
    if (!survivesAny(verifier, alive.toSpliced(at, 1), failures - 1, at)) return false;
  }
  return true;
}
