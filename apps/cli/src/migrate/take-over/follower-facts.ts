/** The follower's answers, as facts. */
import { type AdminFields, hasGroups, type Member, type Members, memberLines, type Zxid } from "@zooid/model";
import { parseConfiguration } from "@zooid/model/membership";
import { numberIn, textIn, zxidIn } from "../answer-fields.ts";
import type { FollowedEnd, FollowerFacts, HistoryPlace, SyncFacts } from "./facts.ts";

export interface FollowedServers {
  readonly members: readonly Member[];
  /** Those that the last change has removed. */
  readonly removed: readonly Member[];
  readonly isWeighted: boolean;
}

/**
 * The servers that the follower knows.
 *
 * @param serverCount servers that the operator names: with as many, those that were removed are
 *   among them
 */
export function followedServers(fields: AdminFields, serverCount: number): FollowedServers {
  const now = membersIn(fields["servers"]);
  const before = membersIn(fields["servers_before"]);
  const members = now?.servers ?? [];
  const removed = (before?.servers ?? []).filter(({ sid }) => !members.some((member) => member.sid === sid));
  const isAll = members.length + removed.length === serverCount;
  return { members, removed: isAll ? removed : [], isWeighted: now !== undefined && hasGroups(now) };
}

function membersIn(text: unknown): Members | undefined {
  if (typeof text !== "string") return undefined;
  try {
    return parseConfiguration(text).members;
  } catch {
    return undefined;
  }
}

/** @throws RangeError for an answer of another server */
export function followerFacts(fields: AdminFields, serverCount: number): FollowerFacts {
  const { members, removed, isWeighted } = followedServers(fields, serverCount);
  return {
    state: textIn(fields, "state"),
    epoch: numberIn(fields, "epoch"),
    zxid: zxidIn(fields, "zxid"),
    lagTransactions: numberIn(fields, "lag_transactions"),
    digest: textIn(fields, "digest"),
    voters: members.filter(({ isObserver }) => !isObserver).map(({ sid }) => sid),
    sids: members.map(({ sid }) => sid),
    removed: memberLines(removed),
    withoutClientPort: members.filter(({ clientAddress }) => clientAddress === undefined).map(({ sid }) => sid),
    isWeighted,
  };
}

/** @throws RangeError for an answer of another server */
export function placeIn(fields: AdminFields): HistoryPlace {
  return { zxid: zxidIn(fields, "zxid"), chain: textIn(fields, "chain"), digest: textIn(fields, "digest") };
}

/** @throws RangeError for an answer of another server */
export function endIn(fields: AdminFields): FollowedEnd {
  const place = placeIn(fields);
  const since = fields["since_sync"];
  if (typeof since !== "object" || since === null) throw new RangeError("since_sync is missing");
  return { ...place, since: sinceIn(since as AdminFields, place.zxid) };
}

/** @throws RangeError for an answer of another server */
export function syncIn(fields: AdminFields): SyncFacts {
  return sinceIn(fields, zxidIn(fields, "zxid"));
}

function sinceIn(fields: AdminFields, zxid: Zxid): SyncFacts {
  const first = fields["first_requests"];
  const rows: readonly unknown[] = Array.isArray(first) ? first : [];
  return {
    zxid,
    after: fields["after"] === null ? undefined : zxidIn(fields, "after"),
    requests: numberIn(fields, "requests"),
    reconfigs: numberIn(fields, "reconfigs"),
    sessions: rows.map((row) =>
      typeof row === "object" && row !== null && "session" in row ? String(row.session) : "an unknown one",
    ),
  };
}
