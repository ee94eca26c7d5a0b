import { counted } from "../arguments/counted.ts";
import { type Configuration, withRole } from "./configuration.ts";
import { MemberRuleError } from "./member-rule-error.ts";
import { hasGroups, type Member, type Members } from "./members.ts";
import { changedMembers } from "./members-text.ts";
import { type ServerId, serverId } from "./server-id.ts";
import { spareText } from "./server-states.ts";

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
  throw new MemberRuleError(
    "SERVER_NAME",
    `a server is named by its number, as in server.N, found ${JSON.stringify(text)}`,
  );
}

const SID_MAX = 254;

/** A server with its addresses: `4=host:2888:3888[:role];2181`. */
export interface NamedServer {
  readonly sid: ServerId;
  /** The text behind the first equals sign. */
  readonly value: string;
}

export function parseNamedServer(text: string): NamedServer {
  const [, sid = "", value = ""] = /^(?:server\.)?(\d+)=([^,\s]+)$/.exec(text) ?? [];
  if (value === "") {
    throw new MemberRuleError(
      "SERVER_NAME",
      `a server is named as 4=host:2888:3888;2181, found ${JSON.stringify(text)}`,
    );
  }
  return { sid: parseSid(sid), value };
}

export function plannedAdd(configuration: Configuration, { sid, value }: NamedServer): PlannedChange {
  const { members } = configuration;
  if (memberOf(members, sid) !== undefined) {
    throw new MemberRuleError("MEMBER_ALREADY", `server ${sid} is a member already`);
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
    throw new MemberRuleError(
      "ROLE_ALREADY",
      `server ${sid} ${member.isObserver ? "is an observer" : "votes"} already`,
    );
  }
  return planned(members, { joining: [`server.${sid}=${withRole(lines.get(sid) ?? "", role)}`], leaving: [] });
}

/**
 * The two changes by which one server takes another one's place; the first is undefined if it was
 * made before.
 */
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
    throw new MemberRuleError(
      "REPLACEMENT_BY_ITSELF",
      `a server is replaced by one with another number; server ${sid} itself may start on an empty data directory`,
    );
  }
  const joining = (role: "participant" | "observer"): string[] => [`server.${newSid}=${withRole(value, role)}`];
  const joins = planned(members, { joining: joining("observer"), leaving: [] });
  const listed = memberOf(members, newSid);
  const isMadeBefore = listed?.isObserver === true && isSameServer(listed, memberOf(joins.next, newSid));
  if (listed !== undefined && !isMadeBefore) {
    throw new MemberRuleError(
      "REPLACEMENT_IS_MEMBER",
      `server ${newSid} is a member already, with another role or other addresses`,
    );
  }
  return {
    joins: isMadeBefore ? undefined : joins,
    exchange: planned(joins.next, { joining: joining(old.isObserver ? "observer" : "participant"), leaving: [sid] }),
  };
}

/** The number of voters before and after a change. */
export function votersText({ current, next }: PlannedChange): string {
  const before = current.verifier.voters.size;
  const after = next.verifier.voters.size;
  const spare = spareText(next, next.verifier.voters);
  return before === after
    ? `${counted(after, "voter")}, as before`
    : `${counted(before, "voter")} become${before === 1 ? "s" : ""} ${after}; ${spare}`;
}

export function memberOf({ servers }: Members, sid: ServerId): Member | undefined {
  return servers.find((server) => server.sid === sid);
}

function demandMember(members: Members, sid: ServerId): Member {
  const member = memberOf(members, sid);
  if (member !== undefined) return member;
  const sids = members.servers.map((server) => server.sid).join(", ");
  throw new MemberRuleError("NOT_A_MEMBER", `server ${sid} is no member; the members are ${sids}`);
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
    throw new MemberRuleError(
      "VOTERS_HAVE_GROUPS",
      "the voters have groups, and such an ensemble is changed as a whole",
    );
  }
  let next: Members;
  try {
    const [joining, leaving] = [change.joining.join(","), change.leaving.join(",")];
    next = changedMembers(current, { kind: "incremental", joining, leaving }, current.version);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new MemberRuleError("LINES", error.message);
  }
  if (next.verifier.voters.size === 0) {
    throw new MemberRuleError("NO_VOTER_LEFT", "no voter is left after the change");
  }
  return { ...change, current, next };
}
