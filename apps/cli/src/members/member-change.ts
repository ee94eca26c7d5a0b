import { changedMembers, hasGroups, type Member, type Members, type ServerId, serverId } from "@zooid/model";
import { CliError, usageError } from "../cli-error.ts";
import { type Configuration, withRole } from "./configuration.ts";
import { refusal } from "./refusal.ts";

/** One change of the ensemble's configuration, as a request names it. */
export interface MemberChange {
  /** `server.N=…`; a listed server gets another role. */
  readonly joining: readonly string[];
  readonly leaving: readonly ServerId[];
}

/** A change, and what the configuration is after it. */
export interface PlannedChange extends MemberChange {
  readonly current: Members;
  readonly next: Members;
}

/** The number of a server: `4`. */
export function parseSid(text: string): ServerId {
  if (/^\d{1,3}$/.test(text) && Number(text) <= SID_MAX) return serverId(Number(text));
  throw usageError(`a server is named by its number, as in server.N, found ${JSON.stringify(text)}`);
}

const SID_MAX = 254;

/** A server with its addresses: `4=host:2888:3888[:role];2181`. */
export interface NamedServer {
  readonly sid: ServerId;
  /** What stands behind the first equals sign. */
  readonly value: string;
}

export function parseNamedServer(text: string): NamedServer {
  const [, sid = "", value = ""] = /^(?:server\.)?(\d+)=([^,\s]+)$/.exec(text) ?? [];
  if (value === "") {
    throw usageError(`a server is named as 4=host:2888:3888;2181, found ${JSON.stringify(text)}`);
  }
  return { sid: parseSid(sid), value };
}

export function plannedAdd(configuration: Configuration, { sid, value }: NamedServer): PlannedChange {
  const { members } = configuration;
  if (memberOf(members, sid) !== undefined) {
    throw refusal(
      "MEMBER_EXISTS",
      `server ${sid} is a member already`,
      `change its vote with member promote ${sid} or member demote ${sid}, its addresses with reconfig -add`,
    );
  }
  return planned(members, { joining: [`server.${sid}=${value}`], leaving: [] });
}

export function plannedRemove({ members }: Configuration, sid: ServerId): PlannedChange {
  demandMember(members, sid);
  return planned(members, { joining: [], leaving: [sid] });
}

/** With a vote, or without one. */
export function plannedRole(
  { members, lines }: Configuration,
  sid: ServerId,
  role: "participant" | "observer",
): PlannedChange {
  const member = demandMember(members, sid);
  if (member.isObserver === (role === "observer")) {
    throw refusal(
      "MEMBER_EXISTS",
      `server ${sid} ${member.isObserver ? "is an observer" : "votes"} already`,
      "print the members with member list",
    );
  }
  return planned(members, { joining: [`server.${sid}=${withRole(lines.get(sid) ?? "", role)}`], leaving: [] });
}

/** The two changes by which one server takes another one's place; the first is undefined if it was made before. */
export interface PlannedReplacement {
  readonly joins: PlannedChange | undefined;
  readonly exchange: PlannedChange;
}

export function plannedReplacement(
  configuration: Configuration,
  sid: ServerId,
  { sid: newSid, value }: NamedServer,
): PlannedReplacement {
  const { members } = configuration;
  const old = demandMember(members, sid);
  if (newSid === sid) {
    throw usageError(
      `a server is replaced by one with another number; server ${sid} itself may start on an empty data directory`,
    );
  }
  const joining = (role: "participant" | "observer"): string[] => [`server.${newSid}=${withRole(value, role)}`];
  const joins = planned(members, { joining: joining("observer"), leaving: [] });
  const listed = memberOf(members, newSid);
  const isMadeBefore = listed?.isObserver === true && isSameServer(listed, memberOf(joins.next, newSid));
  if (listed !== undefined && !isMadeBefore) {
    throw refusal(
      "MEMBER_EXISTS",
      `server ${newSid} is a member already, with another role or other addresses`,
      "give the new server a number that no server has had",
    );
  }
  return {
    joins: isMadeBefore ? undefined : joins,
    exchange: planned(joins.next, { joining: joining(old.isObserver ? "observer" : "participant"), leaving: [sid] }),
  };
}

export function memberOf({ servers }: Members, sid: ServerId): Member | undefined {
  return servers.find((server) => server.sid === sid);
}

function demandMember(members: Members, sid: ServerId): Member {
  const member = memberOf(members, sid);
  if (member !== undefined) return member;
  const sids = members.servers.map((server) => server.sid).join(", ");
  throw new CliError(`server ${sid} is no member; the members are ${sids}`, { code: "NO_MEMBER" });
}

function isSameServer(a: Member, b: Member | undefined): boolean {
  return (
    b !== undefined &&
    a.host === b.host &&
    a.quorumPort === b.quorumPort &&
    a.electionPort === b.electionPort &&
    a.clientAddress?.port === b.clientAddress?.port
  );
}

function planned(current: Members, change: MemberChange): PlannedChange {
  if (hasGroups(current)) {
    throw refusal(
      "BAD_ARGUMENTS",
      "the voters have groups, and such an ensemble is changed as a whole",
      "write all server, group and weight lines into a file, and give it to reconfig -file",
    );
  }
  let next: Members;
  try {
    const [joining, leaving] = [change.joining.join(","), change.leaving.join(",")];
    next = changedMembers(current, { kind: "incremental", joining, leaving }, current.version);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new CliError(error.message, { code: "BAD_ARGUMENTS" });
  }
  if (next.verifier.voters.size === 0) {
    throw refusal("NO_QUORUM", "no voter is left after the change", "add another voter first");
  }
  return { ...change, current, next };
}
