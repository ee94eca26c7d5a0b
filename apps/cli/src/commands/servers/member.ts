import { memberLines, type ServerId } from "@zooid/model";
import {
  type Configuration,
  catchingText,
  joinerSettings,
  leaderIn,
  leaderThatMoves,
  memberOf,
  missingVoters,
  type NamedServer,
  notDown,
  type PlannedChange,
  parseNamedServer,
  parseSid,
  plannedAdd,
  plannedRemove,
  plannedReplacement,
  plannedRole,
  votersText,
} from "@zooid/model/membership";
import { authenticate, FLAG_AUTH } from "../../admin-auth.ts";
import { usageError } from "../../cli-error.ts";
import { type Command, FLAG_TIMEOUT, type Invocation, malformed, operand, timeoutMs } from "../../command.ts";
import { ExitStatus } from "../../exit-status.ts";
import { readConfiguration } from "../../members/configuration.ts";
import { listedMembers, memberTable, unlistedServers, unlistedText, verdictOf } from "../../members/member-list.ts";
import { askMembers, type MemberStates, untilInForce, untilSynced } from "../../members/member-states.ts";
import { demandChangeable, performChange } from "../../members/perform-change.ts";
import { changedMeanwhile, refusal } from "../../members/refusal.ts";
import type { JsonObject } from "../../output.ts";

const VERBS = "list, add, remove, promote, demote or replace";

/** Changes of the ensemble, each checked before it is made. */
export const member: Command = {
  name: "member",
  synopsis:
    "list | add N=host:port:port[:observer];port | remove N | promote N | demote N | replace N --with M=… " +
    "[--dry-run] [--wait] [--timeout ms] [--auth credentials]",
  flags: [
    { name: "with", takesValue: true, isOwn: true, meaning: "The server that takes the other one's place" },
    { name: "dry-run", isOwn: true, meaning: "Checks and describes the change only" },
    { name: "wait", isOwn: true, meaning: "Waits for a server that does not run yet or catches up, and for its role" },
    FLAG_AUTH,
    FLAG_TIMEOUT,
  ],
  summary:
    "Lists the ensemble's members; adds, removes, replaces one, gives it a vote or takes it, while the ensemble serves.",
  operandsMin: 1,
  operandsMax: 2,
  kind: "own",
  async run(invocation) {
    const verb = operand(invocation, 0);
    if (!VERBS.split(/, | or /).includes(verb)) {
      throw usageError(`member takes ${VERBS}, found ${JSON.stringify(verb)}`);
    }
    await authenticate(invocation);
    if (verb === "list") return await list(invocation);
    const named = invocation.operands[1];
    if (named === undefined) throw malformed(member);
    switch (verb) {
      case "add":
        return await add(invocation, parseNamedServer(named));
      case "remove":
        return await remove(invocation, parseSid(named));
      case "promote":
        return await promote(invocation, parseSid(named));
      case "demote":
        return await demote(invocation, parseSid(named));
      default:
        return await replace(invocation, parseSid(named));
    }
  },
};

async function list(invocation: Invocation): Promise<JsonObject> {
  const { output, shell } = invocation;
  const { members } = await readConfiguration(invocation);
  const states = await askMembers(members, invocation);
  const listed = listedMembers(members, states);
  output.lines(memberTable(listed));
  for (const { id, error } of listed) if (error !== undefined) output.line(`server ${id}: ${error}`);
  const { text, isWell } = verdictOf(members, states);
  output.line(text);
  const unlisted = unlistedServers(states);
  for (const sid of unlisted) output.line(unlistedText(sid));
  if (!isWell) shell.endsWith(ExitStatus.FAILED);
  const leader = leaderIn(states) ?? null;
  return { version: members.version.toString(16), leader, healthy: isWell, members: listed, unlisted };
}

async function add(invocation: Invocation, server: NamedServer): Promise<JsonObject> {
  const configuration = await readConfiguration(invocation);
  const change = plannedAdd(configuration, server);
  const role = memberOf(change.next, server.sid)?.isObserver === true ? "an observer" : "a voter";
  invocation.output.line(`server ${server.sid} joins as ${role}: ${votersText(change)}`);
  await demandSynced(invocation, { configuration, change, server });
  return await make(invocation, [change], [server.sid]);
}

async function remove(invocation: Invocation, sid: ServerId): Promise<JsonObject> {
  const change = plannedRemove(await readConfiguration(invocation), sid);
  invocation.output.line(`server ${sid} leaves: ${votersText(change)}`);
  const result = await make(invocation, [change], []);
  if (!invocation.flags.has("dry-run")) invocation.output.line(`server ${sid} can be stopped`);
  return result;
}

async function promote(invocation: Invocation, sid: ServerId): Promise<JsonObject> {
  const configuration = await readConfiguration(invocation);
  const change = plannedRole(configuration, sid, "participant");
  invocation.output.line(`server ${sid} gets a vote: ${votersText(change)}`);
  await demandSynced(invocation, { configuration, change, server: { sid, value: configuration.lines.get(sid) ?? "" } });
  return await make(invocation, [change], [sid]);
}

async function demote(invocation: Invocation, sid: ServerId): Promise<JsonObject> {
  const change = plannedRole(await readConfiguration(invocation), sid, "observer");
  invocation.output.line(`server ${sid} becomes an observer: ${votersText(change)}`);
  return await make(invocation, [change], [sid]);
}

async function replace(invocation: Invocation, sid: ServerId): Promise<JsonObject> {
  const { flags, output } = invocation;
  const text = flags.value("with");
  if (text === undefined) throw malformed(member, "replace needs --with M=host:port:port;port");
  const server = parseNamedServer(text);
  const configuration = await readConfiguration(invocation);
  const { joins, exchange } = plannedReplacement(configuration, sid, server);
  output.line(
    joins === undefined
      ? `server ${server.sid} is an observer already, from an earlier attempt`
      : `1. server ${server.sid} joins as an observer, and gets all data`,
  );
  output.line(`${joins === undefined ? "" : "2. "}server ${server.sid} takes the place of server ${sid} in one change`);
  await demandSynced(invocation, { configuration, change: joins ?? exchange, server });
  const result = await make(invocation, joins === undefined ? [exchange] : [joins, exchange], [server.sid]);
  if (!flags.has("dry-run")) output.line(`server ${sid} can be stopped`);
  return result;
}

/**
 * A server counts from the change on: one without the data would delay writes, or take the last
 * vote for them.
 */
async function demandSynced(
  invocation: Invocation,
  parts: { readonly configuration: Configuration; readonly change: PlannedChange; readonly server: NamedServer },
): Promise<void> {
  const { flags, output } = invocation;
  const { configuration, change, server } = parts;
  const joiner = memberOf(change.next, server.sid);
  if (joiner === undefined) return;
  const { members } = configuration;
  const isListed = memberOf(members, server.sid) !== undefined;
  const settings = joinerSettings(configuration, server);
  const isPatient = flags.has("wait");
  if (joiner.clientAddress === undefined) {
    throw usageError(`server ${server.sid} needs a client port behind a ";", at which its state is asked`);
  }
  const limitMs = timeoutMs(flags);
  const first = await untilSynced(joiner, members, invocation, { isPatient: false, limitMs });
  if (first.kind === "synced") return;
  if (isPatient && first.kind !== "other-server") {
    if (first.kind !== "behind" && !isListed) output.lines(["start it with", ...settings]);
    const last = await untilSynced(joiner, members, invocation, { isPatient, limitMs });
    if (last.kind === "synced") return;
  }
  const reason = `server ${server.sid} is not synced: it ${catchingText(first)}`;
  const isMissing = first.kind === "not-serving" || first.kind === "alone";
  const hint = isMissing && !isListed ? ["start it with", ...settings] : ["wait for it with --wait"];
  throw refusal("NOT_SYNCED", reason, hint.join("\n"));
}

/** Makes the changes one after another, each once those that it brings are synced. */
async function make(
  invocation: Invocation,
  changes: readonly PlannedChange[],
  joined: readonly ServerId[],
): Promise<JsonObject> {
  const { flags, output } = invocation;
  const last = changes.at(-1);
  if (last === undefined) throw new RangeError("there is at least one change");
  const states = await askMembers(changes[0]?.current ?? last.current, invocation);
  const movesLeader = checkQuorum(last, states, joined);
  if (movesLeader !== undefined) {
    output.line(
      `server ${movesLeader} leads: leadership moves to another voter with the change, and writes wait for that`,
    );
  }
  const plan = changes.map(({ joining, leaving }) => ({ joining: [...joining], leaving: [...leaving] }));
  const result = {
    changes: plan,
    voters: last.next.verifier.voters.size,
    members: [...memberLines(last.next.servers)],
    movesLeader: movesLeader ?? null,
  };
  if (flags.has("dry-run")) {
    for (const change of changes.slice(0, 1)) await demandChangeable(change, invocation);
    if (last.next.verifier.voters.size < 2)
      output.line("the servers refuse a change to one voter, unless they are started with standaloneEnabled=false");
    output.line("nothing is changed: --dry-run");
    return { ...result, dryRun: true, version: last.current.version.toString(16) };
  }
  const limitMs = timeoutMs(flags);
  let version = BigInt(last.current.version);
  for (const [at, change] of changes.entries()) {
    if (at > 0) await untilAllSynced(invocation, change, joined);
    const { members } = await readConfiguration(invocation);
    const isExpected = at === 0 || memberLines(members.servers).join() === memberLines(change.current.servers).join();
    if (!isExpected) throw changedMeanwhile();
    version = await performChange(at === 0 ? change : { ...change, current: members }, invocation);
    output.line(`configuration ${version.toString(16)} is committed`);
  }
  if (flags.has("wait")) await untilInForce({ next: last.next, sids: joined }, invocation, limitMs);
  return { ...result, dryRun: false, version: version.toString(16) };
}

async function untilAllSynced(
  invocation: Invocation,
  { current }: PlannedChange,
  joined: readonly ServerId[],
): Promise<void> {
  const limitMs = timeoutMs(invocation.flags);
  for (const sid of joined) {
    const joiner = memberOf(current, sid);
    if (joiner !== undefined) await untilSynced(joiner, current, invocation, { isPatient: true, limitMs });
  }
}

/** @returns the leader if it loses its vote */
function checkQuorum({ next }: PlannedChange, states: MemberStates, joined: readonly ServerId[]): ServerId | undefined {
  // Those that join are known to be synced.
  const down = missingVoters(next, new Set([...notDown(next, states), ...joined]));
  if (down.length > 0) {
    const text = `the voters after the change would be no quorum: ${down.map((sid) => `server ${sid}`).join(" and ")} ${down.length === 1 ? "does" : "do"} not serve`;
    throw refusal("NO_QUORUM", text, "start these servers first, or replace them one by one");
  }
  return leaderThatMoves(next, states);
}
