/** The obstacles of each step, by the facts that were seen. */
import { counted, formatZxid, type Zxid } from "@zooid/model";
import { lasting, passing } from "../obstacles.ts";
import type { Situation } from "./event.ts";
import type { ApachePort, DirectoryFacts, MemberFacts } from "./facts.ts";
import type { Obstacle } from "./obstacle.ts";

/** Members that answer; the others are stopped for good where the operator says so. */
export function answering(members: readonly MemberFacts[]): readonly MemberFacts[] {
  return members.filter(({ fault }) => fault === undefined);
}

export function leaderOf(members: readonly MemberFacts[]): MemberFacts | undefined {
  return answering(members).find(({ isLeader }) => isLeader);
}

export function situationOf(members: readonly MemberFacts[], directory: DirectoryFacts): Situation {
  const { closedAt } = leaderOf(members) ?? {};
  if (closedAt === undefined) return "begin";
  return directory.kind === "exported" && directory.record.closedAt === closedAt ? "exported" : "closed";
}

/** Whether the members are those of one ensemble that has a leader, and all of them. */
export function memberObstacles(members: readonly MemberFacts[], without: ReadonlySet<number>): readonly Obstacle[] {
  const obstacles: Obstacle[] = members.flatMap(({ name, fault }) =>
    fault === undefined ? [] : [passing("member-silent", `${name} does not answer: ${fault}`, name)],
  );
  for (const { name, sids, isServing } of answering(members)) {
    if (sids === undefined)
      obstacles.push(
        lasting(
          "member-alone",
          `${name} is a server alone, whose clients are kept out by stopping it: stop it, then zooid-server export --apache OUT --data DIR --sessions keep`,
        ),
      );
    else if (!isServing)
      obstacles.push(passing("member-not-serving", `${name} has no quorum, or is not synchronized`, name));
  }
  const leaders = answering(members).filter(({ isLeader, sids }) => isLeader && sids !== undefined);
  const [leader, second] = leaders;
  if (second !== undefined)
    obstacles.push(
      passing(
        "members-two-leaders",
        `${leaders.map(({ name }) => name).join(" and ")} lead: members are of one ensemble`,
      ),
    );
  if (leader === undefined && !obstacles.some(({ code }) => code === "member-alone"))
    obstacles.push(passing("members-no-leader", "no server of --members leads: a quorum has to run"));
  // A leader that is not named is missed by those that follow it.
  const { sids: listed = [] } = leader ?? answering(members).find(({ isServing }) => isServing) ?? {};
  return listed.length === 0 ? obstacles : [...obstacles, ...namesObstacles(members, listed, without)];
}

function namesObstacles(
  members: readonly MemberFacts[],
  listed: readonly number[],
  without: ReadonlySet<number>,
): readonly Obstacle[] {
  const obstacles: Obstacle[] = [];
  const named = new Set(answering(members).map(({ sid }) => sid));
  const isSilent = members.some(({ fault }) => fault !== undefined);
  const unnamed = listed.filter((sid) => !named.has(sid) && !without.has(sid));
  if (unnamed.length > 0 && !isSilent)
    obstacles.push(
      lasting(
        "member-unnamed",
        `--members lacks server ${unnamed.join(", ")} of the ensemble: each server has to say that it has no clients; --without names those that are stopped for good`,
      ),
    );
  for (const { name, sid } of answering(members))
    if (sid !== undefined && !listed.includes(sid))
      obstacles.push(lasting("member-unlisted", `${name} is server ${sid}, which the ensemble does not have`));
  return obstacles;
}

export interface Beginning {
  readonly members: readonly MemberFacts[];
  readonly without: ReadonlySet<number>;
  readonly apache: readonly ApachePort[];
  readonly directory: DirectoryFacts;
}

/** Step 1: whether a return can begin, or be continued. */
export function beginObstacles({ members, without, apache, directory }: Beginning): readonly Obstacle[] {
  return [
    ...memberObstacles(members, without),
    ...neverOpenedObstacles(members),
    ...epochObstacles(members),
    ...runningObstacles(apache),
    ...directoryObstacles(members, directory),
  ];
}

function neverOpenedObstacles(members: readonly MemberFacts[]): readonly Obstacle[] {
  const found = answering(members).find(({ clients, sids }) => clients === "closed" && sids !== undefined);
  if (found === undefined) return [];
  return [
    lasting(
      "never-opened",
      `${found.name} has served no clients since its ensemble was founded: migrate abort is the way back from a take-over that did not open it`,
    ),
  ];
}

function epochObstacles(members: readonly MemberFacts[]): readonly Obstacle[] {
  return answering(members)
    .filter(({ apacheEpoch }) => apacheEpoch === undefined)
    .slice(0, 1)
    .map(({ name, apacheEpochNote }) => lasting("epochs-used-up", `${name}: ${apacheEpochNote ?? "no epoch is left"}`));
}

/** Apache's servers must not serve clients beside the ensemble's. */
export function runningObstacles(apache: readonly ApachePort[]): readonly Obstacle[] {
  return apache
    .filter(({ state }) => state === "open")
    .map(({ address }) =>
      lasting("apache-runs", `${address} takes connections: Apache's servers are stopped until the export is complete`),
    );
}

/** Whether Apache has no quorum: ports that answer nothing are a minority. */
export function stoppedObstacles(apache: readonly ApachePort[]): readonly Obstacle[] {
  const running = runningObstacles(apache).map(({ text }) =>
    lasting("apache-runs" as const, `${text}; clients may have been served there, so the ensemble stays closed`),
  );
  const silent = apache.filter(({ state }) => state === "silent");
  if (running.length > 0 || silent.length * 2 < apache.length) return running;
  return [
    lasting(
      "apache-unknown",
      `${silent.map(({ address }) => address).join(", ")} neither takes nor refuses connections, and that is no minority: clients may be served there`,
    ),
  ];
}

function directoryObstacles(members: readonly MemberFacts[], directory: DirectoryFacts): readonly Obstacle[] {
  if (directory.kind === "unusable") return [lasting("directory-unusable", directory.text)];
  if (directory.kind === "free") return [];
  const { closedAt } = leaderOf(members) ?? {};
  const { record } = directory;
  if (closedAt === record.closedAt) return [];
  return [
    lasting(
      "directory-unusable",
      `--apache has the export of an earlier return, of ${formatZxid(record.closedAt)}: clients have been served since, or the ensemble has changed; name another directory`,
    ),
  ];
}

/** Remarks of step 1. */
export function remarksOf({ members, without, apache }: Beginning): readonly string[] {
  const note = answering(members).find((each) => each.apacheEpochNote !== undefined)?.apacheEpochNote;
  const silent = apache.filter(({ state }) => state === "silent").map(({ address }) => address);
  return [
    ...(note === undefined ? [] : [note]),
    ...(silent.length === 0
      ? []
      : [`${silent.join(", ")} neither takes nor refuses connections: no Apache server may serve clients there`]),
    ...(without.size === 0
      ? []
      : [`server ${[...without].join(", ")} is left out: it must not be started again while the ensemble is closed`]),
  ];
}

/** Step 3, and behind the export: whether no client is connected, and none can come. */
export function closedObstacles(
  members: readonly MemberFacts[],
  without: ReadonlySet<number>,
  closedAt: Zxid,
): readonly Obstacle[] {
  const obstacles: Obstacle[] = [...memberObstacles(members, without)];
  for (const { name, clients, connections, ...member } of answering(members)) {
    if (clients === "open") obstacles.push(passing("not-closed", `${name} serves clients still`, name));
    else if (member.closedAt !== undefined && member.closedAt !== closedAt)
      obstacles.push(
        lasting(
          "closed-elsewhere",
          `${name} was closed to clients at ${formatZxid(member.closedAt)}, and not at ${formatZxid(closedAt)}: it was opened meanwhile, or its ensemble has changed`,
        ),
      );
    else if (connections > 0)
      obstacles.push(
        passing("clients-connected", `${name} has ${counted(connections, "connection")} of clients still`, name),
      );
    else if (member.zxid < closedAt)
      obstacles.push(
        passing("member-not-serving", `${name} stands at ${formatZxid(member.zxid)}, before the closing`, name),
      );
  }
  return obstacles;
}

/** Above each epoch that one of the members knows. */
export function apacheEpochOf(members: readonly MemberFacts[]): number {
  return Math.max(0, ...answering(members).map(({ apacheEpoch }) => apacheEpoch ?? 0));
}
