import type { Client } from "@zooid/client";
import { type Members, memberLines, parseZxid, type ServerId } from "@zooid/model";
import {
  type Configuration,
  catchingOf,
  catchingText,
  clientAddressOf,
  joinerSettings,
  leaderThatMoves,
  type MemberStates,
  memberOf,
  missingVoters,
  type NamedServer,
  notDown,
  type PlannedChange,
  parseConfiguration,
  parseNamedServer,
  plannedAdd,
  plannedRemove,
  plannedReplacement,
  plannedRole,
  type ServerStatus,
  votersText,
} from "@zooid/model/membership";
import type { MemberChangeJson, MemberCheckJson, MemberPlanJson } from "../api/shapes.ts";
import type { MemberAddress } from "../facts/ensemble-facts.ts";

/** Asks servers of their state, by four-letter words. */
export interface ServerStates {
  statusOf(member: MemberAddress): Promise<ServerStatus>;
  /** The number that a server itself reports; undefined where it does not. */
  reportedSid(member: MemberAddress): Promise<number | undefined>;
}

/** A change that was checked: `next` is its first step, and the plan is what the operator reads. */
export interface CheckedPlan {
  readonly next: PlannedChange;
  readonly plan: MemberPlanJson;
}

interface Steps {
  readonly changes: readonly PlannedChange[];
  readonly texts: readonly string[];
  /** The server that must have all data before the first step. */
  readonly joiner: NamedServer | undefined;
  readonly after: string | null;
}

export async function readConfiguration(client: Client, signal: AbortSignal): Promise<Configuration> {
  await client.sync("/", { signal });
  const { text } = await client.getConfig({ signal });
  return parseConfiguration(text);
}

/**
 * Plans a change, and checks that the ensemble serves during and after it. Nothing is changed.
 *
 * @throws MemberRuleError for a change that no state of the servers would make right
 */
export async function checkedPlan(
  configuration: Configuration,
  change: MemberChangeJson,
  servers: ServerStates,
): Promise<CheckedPlan> {
  const { changes, texts, joiner, after } = stepsOf(configuration, change);
  const [first] = changes;
  const last = changes.at(-1);
  if (first === undefined || last === undefined) throw new RangeError("a change has at least one step");
  const { members } = configuration;
  const states = await statesOf(members, servers);
  const checks: MemberCheckJson[] = [];
  const isSynced = joiner === undefined || (await checkJoiner({ joiner, change: first, states, servers }, checks));
  const joined = joiner === undefined || !isSynced ? [] : [joiner.sid];
  checkQuorum(last, states, joined, checks);
  const leader = leaderThatMoves(last.next, states);
  if (leader !== undefined) {
    checks.push({
      state: "notice",
      text: `Server ${leader} leads: the leadership moves to another voter with the change, and writes wait for that`,
    });
  }
  const isListed = joiner === undefined || memberOf(members, joiner.sid) !== undefined;
  return {
    next: first,
    plan: {
      version: versionText(members),
      steps: changes.map(({ joining, leaving }, i) => ({
        text: texts[i] ?? "",
        joining: [...joining],
        leaving: [...leaving],
      })),
      checks,
      mayProceed: checks.every(({ state }) => state !== "failed"),
      settings: isListed || joiner === undefined ? [] : [...joinerSettings(configuration, joiner)],
      members: [...memberLines(last.next.servers)],
      after,
    },
  };
}

/** The version as answers and requests have it. */
export function versionText({ version }: Members): string {
  return `0x${version.toString(16)}`;
}

export function versionOf(text: string): bigint {
  return BigInt(parseZxid(text.slice(2)));
}

function stepsOf(configuration: Configuration, change: MemberChangeJson): Steps {
  switch (change.kind) {
    case "add": {
      const joiner = parseNamedServer(change.server);
      const add = plannedAdd(configuration, joiner);
      const role = memberOf(add.next, joiner.sid)?.isObserver === true ? "an observer" : "a voter";
      return {
        changes: [add],
        texts: [`Server ${joiner.sid} joins as ${role}: ${votersText(add)}`],
        joiner,
        after: null,
      };
    }
    case "remove": {
      const sid = change.sid as ServerId;
      const remove = plannedRemove(configuration, sid);
      const texts = [`Server ${sid} leaves: ${votersText(remove)}`];
      return { changes: [remove], texts, joiner: undefined, after: `Server ${sid} can be stopped after the change` };
    }
    case "promote": {
      const sid = change.sid as ServerId;
      const promote = plannedRole(configuration, sid, "participant");
      const joiner = { sid, value: configuration.lines.get(sid) ?? "" };
      return { changes: [promote], texts: [`Server ${sid} gets a vote: ${votersText(promote)}`], joiner, after: null };
    }
    case "demote": {
      const sid = change.sid as ServerId;
      const demote = plannedRole(configuration, sid, "observer");
      const texts = [`Server ${sid} becomes an observer: ${votersText(demote)}`];
      return { changes: [demote], texts, joiner: undefined, after: null };
    }
    case "replace": {
      const sid = change.sid as ServerId;
      const joiner = parseNamedServer(change.server);
      const { joins, exchange } = plannedReplacement(configuration, sid, joiner);
      const last = `Server ${joiner.sid} takes the place of server ${sid}: ${votersText(exchange)}`;
      return {
        changes: joins === undefined ? [exchange] : [joins, exchange],
        texts: joins === undefined ? [last] : [`Server ${joiner.sid} joins as an observer, and gets all data`, last],
        joiner,
        after: `Server ${sid} can be stopped after the change`,
      };
    }
  }
}

async function statesOf({ servers: all }: Pick<Members, "servers">, servers: ServerStates): Promise<MemberStates> {
  const asked = all.map(async (member) => {
    const address = clientAddressOf(member);
    if (address === undefined) return undefined;
    return [member.sid, await servers.statusOf({ sid: member.sid, address })] as const;
  });
  return new Map((await Promise.all(asked)).filter((entry) => entry !== undefined));
}

interface Joining {
  readonly joiner: NamedServer;
  readonly change: PlannedChange;
  readonly states: MemberStates;
  readonly servers: ServerStates;
}

/**
 * A server counts from the change on: one without the data would delay writes, or take the last
 * vote for them.
 */
async function checkJoiner({ joiner, change, states, servers }: Joining, checks: MemberCheckJson[]): Promise<boolean> {
  const { sid } = joiner;
  const member = memberOf(change.next, sid);
  const address = member === undefined ? undefined : clientAddressOf(member);
  if (address === undefined) {
    checks.push({
      state: "failed",
      text: `Server ${sid} needs a client port behind a ";", at which its state is asked`,
    });
    return false;
  }
  const status = await servers.statusOf({ sid, address });
  const reportedSid = typeof status === "string" ? undefined : await servers.reportedSid({ sid, address });
  const others = new Map([...states].filter(([other]) => other !== sid));
  const catching = catchingOf({ sid, status, reportedSid }, others);
  const isSynced = catching.kind === "synced";
  const text = isSynced
    ? `Server ${sid} has all data`
    : `Server ${sid} does not have all data: it ${catchingText(catching)}`;
  checks.push({ state: isSynced ? "passed" : "failed", text });
  return isSynced;
}

function checkQuorum(
  { next }: PlannedChange,
  states: MemberStates,
  joined: readonly ServerId[],
  checks: MemberCheckJson[],
): void {
  const missing = missingVoters(next, new Set([...notDown(next, states), ...joined]));
  if (missing.length === 0) {
    checks.push({ state: "passed", text: "The voters that serve are a quorum after the change" });
    return;
  }
  const names = missing.map((sid) => `server ${sid}`).join(" and ");
  const text = `The voters after the change would be no quorum: ${names} ${missing.length === 1 ? "does" : "do"} not serve`;
  checks.push({ state: "failed", text });
}
