import { counted, type Members, type ServerId } from "@zooid/model";
import { isLeading, isServing, lagOf, newestZxid, spareText, survivesOneFailure } from "@zooid/model/membership";
import { cliCommand, newMember } from "../cli-call.ts";
import { type Finding, finding } from "../finding.ts";
import type { EnsembleFacts, ServerFacts, ServerReport } from "./ensemble-facts.ts";

/** A server that restarts catches up with fewer transactions in moments. */
export const TRANSACTIONS_BEHIND_MAX = 10_000;

/** Which servers answer, serve and lead, and how many may fail. */
export function roleFindings(facts: EnsembleFacts): readonly Finding[] {
  return [
    ...leaders(facts),
    ...facts.servers.flatMap(absence),
    ...spareVoters(facts),
    ...lagging(facts.servers),
    ...unlisted(facts),
    ...versions(facts),
  ];
}

const NAMES_MAX = 10;

function reportOf({ status }: ServerFacts): ServerReport | undefined {
  return typeof status === "string" ? undefined : status;
}

function namesOf(servers: readonly ServerFacts[]): string {
  const names = servers.slice(0, NAMES_MAX).map(({ name }) => name);
  return servers.length > NAMES_MAX ? `${names.join(", ")} and ${servers.length - NAMES_MAX} more` : names.join(", ");
}

function leaders({ servers }: EnsembleFacts): readonly Finding[] {
  const leading = servers.filter(({ status }) => isLeading(status));
  if (leading.length === 1) return [];
  if (leading.length > 1) {
    const found = `${leading.length} servers lead or stand alone: ${namesOf(leading)}`;
    const remedy = "compare the lists that their logs name at the start; stop the one that the others do not list";
    return [finding("two-leaders", namesOf(leading), found, remedy)];
  }
  // A leader that was not asked is known by the followers that serve.
  if (servers.some(({ status }) => isServing(status))) return [];
  const answering = servers.filter((server) => reportOf(server) !== undefined);
  const found = `${answering.length} of ${counted(servers.length, "server")} answered, and none serves`;
  const remedy = "start the members that are down; each member's log names the members that it misses (no-quorum)";
  return [finding("no-leader", "the ensemble", found, remedy)];
}

function absence(server: ServerFacts): readonly Finding[] {
  const { name, status } = server;
  if (typeof status === "string") {
    const remedy = "on its machine: zooid-server check zoo.cfg, and the last lines of its log";
    return [finding("member-silent", name, `it does not answer: ${status}`, remedy)];
  }
  if (isServing(status)) return [];
  const reason = server.admin?.checks.find((check) => check.name === "serving")?.fault ?? `mode ${status.mode}`;
  const remedy = "the last lines of its log say why (not-serving)";
  return [finding("member-not-serving", name, `it answers, and serves no clients: ${reason}`, remedy)];
}

/** Only where all voters were asked and there is a quorum: without one there are worse findings. */
function spareVoters({ members, servers, cli }: EnsembleFacts): readonly Finding[] {
  if (members === undefined || members.verifier.voters.size < 3) return [];
  const asked = new Set(servers.map(({ sid }) => sid));
  if ([...members.verifier.voters].some((sid) => !asked.has(sid))) return [];
  const serving = servers
    .filter(({ status }) => isServing(status))
    .flatMap(({ sid }) => (sid === undefined ? [] : [sid]));
  const voting = serving.filter((sid) => members.verifier.voters.has(sid));
  if (!members.verifier.isQuorum(voting) || survivesOneFailure(members, voting)) return [];
  const absent = absentVoters(members, voting);
  const found = `${voting.length} of ${members.verifier.voters.size} voters serve: ${spareText(members, voting)}`;
  const remedy =
    absent.length === 0
      ? `add voters: ${cliCommand(cli, `member add ${newMember(nextSid(members))}`)}`
      : `bring back server ${absent.join(", ")}, or replace it: ${cliCommand(cli, `member replace ${absent[0]} --with ${newMember(nextSid(members))}`)}`;
  return [finding("no-failure-left", "the ensemble", found, remedy)];
}

const SID_MAX = 254;

/** An id that no member has: the next one, or the highest free one where there is no next. */
function nextSid({ servers }: Members): number {
  const used = new Set<number>(servers.map(({ sid }) => sid));
  const next = Math.max(...used) + 1;
  return next <= SID_MAX
    ? next
    : (Array.from({ length: SID_MAX }, (_, i) => i + 1).findLast((sid) => !used.has(sid)) ?? next);
}

function absentVoters({ verifier }: Members, voting: readonly ServerId[]): readonly ServerId[] {
  return [...verifier.voters].filter((sid) => !voting.includes(sid));
}

function lagging(servers: readonly ServerFacts[]): readonly Finding[] {
  // Positions of two ensembles have nothing in common.
  if (servers.filter(({ status }) => isLeading(status)).length > 1) return [];
  const newest = newestZxid(servers.map(({ status }) => status));
  return servers.flatMap(({ name, status }) => {
    if (typeof status === "string" || status.zxid === undefined || !isServing(status)) return [];
    const lag = lagOf(status.zxid, newest);
    if (lag !== undefined && lag <= TRANSACTIONS_BEHIND_MAX) return [];
    const found = lag === undefined ? "it is in an older epoch" : `it is ${counted(lag, "transaction")} behind`;
    const remedy =
      "look at its disk and its network (zooid-server check zoo.cfg, on its machine), and ask again in a minute";
    return [finding("member-behind", name, found, remedy)];
  });
}

function unlisted({ servers, cli }: EnsembleFacts): readonly Finding[] {
  return servers.flatMap((server) => {
    const sids = reportOf(server)?.unlisted ?? [];
    if (sids.length === 0) return [];
    const found =
      sids.length === 1
        ? `server ${sids[0]} follows although the list in force does not have it`
        : `servers ${sids.join(", ")} follow although the list in force does not have them`;
    const remedy = `${cliCommand(cli, `member add ${newMember(sids[0] ?? 0)}`)}, or the same lines server.N in all files; or stop it`;
    return [finding("member-unlisted", server.name, found, remedy)];
  });
}

function versions({ servers, cli }: EnsembleFacts): readonly Finding[] {
  const known = servers.filter((server) => reportOf(server)?.version !== undefined);
  const byVersion = Map.groupBy(known, (server) => reportOf(server)?.version);
  if (byVersion.size < 2) return [];
  const found = [...byVersion].map(([version, those]) => `${version} at ${namesOf(those)}`).join("; ");
  const remedy = `complete the upgrade (docs/operations.md has the steps): ${cliCommand(cli, "upgrade status")}`;
  return [finding("versions-differ", "the ensemble", found, remedy)];
}
