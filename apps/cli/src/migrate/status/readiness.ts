import { counted, formatZxid, type Zxid } from "@zooid/model";
import type { FollowerReport, StandbyReport, StandbyState, StateMark } from "./reports.ts";

/** A server by its admin port, with its report or the reason why there is none. */
export interface Asked<T> {
  readonly url: string;
  readonly found: T | string;
}

export interface Readiness {
  /** The reasons against a take-over; empty where there is none. */
  readonly blockers: readonly string[];
  /** Facts that an operator should know, and that block nothing. */
  readonly remarks: readonly string[];
  /**
   * Whether all members have the same state; undefined where they stand at different transactions.
   */
  readonly isEqual: boolean | undefined;
  readonly next: string;
}

/** A follower that applies within this time is level. */
const LAG_MS = 1000;
/** Members read the archive, whose files end a few seconds apart. */
const BEHIND_MS = 60_000;

/** Whether clients could be taken over, from what the servers report. */
export function readinessOf(follower: Asked<FollowerReport>, members: readonly Asked<StandbyReport>[]): Readiness {
  const ofFollower = followerBlockers(follower);
  const remarks = typeof follower.found === "string" ? [] : followerRemarks(follower.found);
  const states = members.flatMap(({ url, found }) =>
    typeof found === "string" || found.standby === undefined ? [] : [{ url, state: found.standby }],
  );
  const followed = typeof follower.found === "string" ? undefined : follower.found;
  const different = differences(states, followed === undefined ? undefined : { url: follower.url, report: followed });
  const ofMembers = [...members.flatMap(memberBlockers), ...different];
  const isOneState = states.length === members.length && new Set(states.map(({ state }) => state.zxid)).size === 1;
  if (different.length === 0 && states.length > 1 && !isOneState) {
    const zxids = states.map(({ url, state }) => `${url} at ${formatZxid(state.zxid as Zxid)}`).join(", ");
    remarks.push(`not compared, since they stand at different transactions: ${zxids}`);
  }
  return {
    blockers: [...ofFollower, ...ofMembers],
    remarks,
    isEqual: different.length > 0 ? false : isOneState ? true : undefined,
    next: nextStep(follower, members, { ofFollower, ofMembers }),
  };
}

function followerBlockers({ url, found }: Asked<FollowerReport>): readonly string[] {
  if (typeof found === "string") return [`the follower ${url}: ${found}`];
  const { state, lastError, lagTransactions, lagMs, digest } = found;
  const blockers: string[] = [];
  if (state !== "following") {
    const reason = lastError === undefined ? "" : `: ${lastError}`;
    blockers.push(`the follower does not follow the ensemble now, it is ${state}${reason}`);
  }
  if (lagMs > LAG_MS)
    blockers.push(`the follower is ${counted(lagTransactions, "transaction")} and ${lagMs} ms behind the ensemble`);
  if (digest === "different") blockers.push("the follower's tree has another digest than Apache's");
  if (digest === "not-equal-yet")
    blockers.push("no digest of Apache's was that of the follower's tree since the last snapshot");
  return blockers;
}

function followerRemarks({ digest }: FollowerReport): string[] {
  if (digest !== "none") return [];
  return [
    "no digest of Apache's came since the last snapshot or start: migrate compare reads every node in their place",
  ];
}

function memberBlockers({ url, found }: Asked<StandbyReport>): readonly string[] {
  if (typeof found === "string") return [`${url}: ${found}`];
  const { clients, standby, hasTakenOver, lastError } = found;
  const blockers: string[] = [];
  if (clients !== "closed")
    blockers.push(`${url}: its client port is ${clients}; members stand by with zooid.clients=closed`);
  const reason = lastError === undefined ? "" : `: ${lastError}`;
  if (hasTakenOver) blockers.push(`${url}: it has taken over already`);
  else if (standby === undefined) blockers.push(`${url}: it has no standby state${reason}`);
  else if (standby.behindMs !== undefined && standby.behindMs > BEHIND_MS)
    blockers.push(`${url}: its standby state is ${standby.behindMs} ms old${reason}`);
  return blockers;
}

interface MemberState {
  readonly url: string;
  readonly state: StandbyState;
}

/** States at one transaction must have the same marks, and be of one ensemble. */
function differences(
  states: readonly MemberState[],
  follower: { readonly url: string; readonly report: FollowerReport } | undefined,
): readonly string[] {
  const found: string[] = [];
  const [first] = states;
  for (const { url, state } of states) {
    if (first !== undefined && state.ensembleId !== first.state.ensembleId)
      found.push(`${url} has a state of another follower's archive than ${first.url}`);
    if (follower === undefined) continue;
    const { zxid, mark } = follower.report;
    if (state.zxid > zxid) {
      const [own, other] = [formatZxid(state.zxid as Zxid), formatZxid(zxid as Zxid)];
      found.push(`${url} stands at ${own}, ahead of the follower at ${other}: its state is of another archive`);
    } else if (state.zxid === zxid && mark !== undefined && !isSame(state, mark))
      found.push(differenceText({ url, zxid, mark: state }, { url: follower.url, mark }));
  }
  const firstAt = new Map<number, MemberState>();
  for (const member of states) {
    const { zxid } = member.state;
    const other = firstAt.get(zxid);
    if (other === undefined) firstAt.set(zxid, member);
    else if (!isSame(member.state, other.state))
      found.push(differenceText({ url: member.url, zxid, mark: member.state }, { url: other.url, mark: other.state }));
  }
  return found;
}

function isSame(one: StateMark, other: StateMark): boolean {
  return one.digest === other.digest && one.chain === other.chain;
}

function differenceText(
  one: { readonly url: string; readonly zxid: number; readonly mark: StateMark },
  other: { readonly url: string; readonly mark: StateMark },
): string {
  const markText = ({ digest, chain }: StateMark): string => `digest ${digest} and chain ${chain}`;
  const at = formatZxid(one.zxid as Zxid);
  return `at ${at} ${one.url} has ${markText(one.mark)}, and ${other.url} has ${markText(other.mark)}`;
}

interface Blockers {
  readonly ofFollower: readonly string[];
  readonly ofMembers: readonly string[];
}

function nextStep(
  { url, found }: Asked<FollowerReport>,
  members: readonly Asked<StandbyReport>[],
  { ofFollower, ofMembers }: Blockers,
): string {
  const again = `zooid-cli migrate status --follower ${url}`;
  const withMembers = `--follower ${url} --members ${members.map((member) => member.url).join(",")}`;
  if (typeof found === "string") return "zooid-server follow zoo.cfg, or another --follower";
  if (ofFollower.length > 0) return `${again} --watch`;
  if (members.length === 0)
    return `zooid-cli migrate compare --apache HOST:2181,... --follower ${url}; then ${again} --members http://...,...`;
  if (ofMembers.length > 0) return `zooid-cli migrate status ${withMembers} --watch`;
  return `zooid-cli migrate take-over ${withMembers} --plan`;
}
