/** The obstacles of each step, by the facts that were seen. */
import { counted, formatZxid } from "@zooid/model";
import { lasting, passing } from "../obstacles.ts";
import type { Situation } from "./event.ts";
import type {
  ApacheServer,
  CommandResult,
  ConnectedClients,
  DiskFacts,
  FollowedEnd,
  FollowerFacts,
  HistoryPlace,
  MemberFacts,
  ServerPorts,
  SyncFacts,
} from "./facts.ts";
import type { Obstacle } from "./obstacle.ts";

/** Transactions that a follower under load may have in its queue. */
const LAG_MAX = 1000;

export function situationOf(follower: FollowerFacts, members: readonly MemberFacts[]): Situation {
  if (members.some(({ clients }) => clients === "open")) return "open";
  if (members.some(({ installed }) => installed !== undefined)) return "installed";
  return follower.state === "finished" ? "finished" : "begin";
}

export interface Beginning {
  readonly apache: readonly ApacheServer[];
  readonly follower: FollowerFacts;
  /** Where the archive ends; undefined where it could not be written. */
  readonly place: HistoryPlace | undefined;
  readonly members: readonly MemberFacts[];
}

/** The members have served clients, whose data neither a take-over nor its way back may touch. */
export function closedAgainObstacle(members: readonly MemberFacts[]): Obstacle | undefined {
  const found = members.find(({ clients }) => clients === "closed-again");
  if (found === undefined) return undefined;
  return lasting(
    "member-open",
    `${found.name} has served clients, and the ensemble is closed to them for now: migrate return continues, and migrate return --abort opens it again`,
  );
}

/** Step 1: whether everything stands where a take-over can begin. */
export function levelObstacles({ apache, follower, place, members }: Beginning): readonly Obstacle[] {
  return [...apacheObstacles(apache, follower), ...followerObstacles(follower), ...memberObstacles(members, place)];
}

function apacheObstacles(apache: readonly ApacheServer[], { sids }: FollowerFacts): readonly Obstacle[] {
  const silent = apache.filter(({ fault }) => fault !== undefined);
  if (silent.length === apache.length) {
    const stopped =
      "no server of Apache's answers: where an earlier take-over has closed or stopped them, zooid-cli migrate abort undoes that";
    return [lasting("apache-stopped", `${stopped}; ${silent[0]?.address}: ${silent[0]?.fault}`)];
  }
  const named = new Set(apache.map(({ sid }) => sid));
  const listed = new Set(sids);
  const obstacles: Obstacle[] = silent.map(({ address, fault }) =>
    lasting("apache-silent", `${address} does not answer: ${fault}`),
  );
  if (!apache.some(({ mode }) => mode === "leader"))
    obstacles.push(passing("apache-no-leader", "no server of --apache says that it leads"));
  for (const { address, sid, fault } of apache) {
    if (fault !== undefined) continue;
    if (sid === undefined)
      obstacles.push(
        lasting(
          "apache-unnumbered",
          `the number of ${address} is not known: admit its four-letter word conf, or name its admin port with --admin`,
        ),
      );
    else if (!listed.has(sid))
      obstacles.push(
        lasting("apache-unlisted", `${address} is server ${sid}, which the followed ensemble does not have`),
      );
  }
  const unnamed = sids.filter((sid) => !named.has(sid));
  if (unnamed.length > 0 && apache.every(({ sid }) => sid !== undefined))
    obstacles.push(
      lasting("apache-unnamed", `--apache lacks server ${unnamed.join(", ")}: each server has to be named`),
    );
  return obstacles;
}

function followerObstacles({ state, lagTransactions, digest }: FollowerFacts): readonly Obstacle[] {
  const obstacles: Obstacle[] = [];
  if (state !== "following")
    obstacles.push(passing("follower-state", `the follower is ${state}, and has to be following`));
  if (lagTransactions > LAG_MAX)
    obstacles.push(passing("follower-lag", `the follower is ${counted(lagTransactions, "transaction")} behind`));
  if (digest === "not-equal-yet")
    obstacles.push(passing("digest-not-equal-yet", "no digest of Apache's was equal since the follower's snapshot"));
  if (digest === "different") obstacles.push(lasting("digest-differs", "Apache's digest differs from the follower's"));
  return obstacles;
}

/** Whether servers that a reconfiguration removes can be added again. */
export function reconfigObstacles({ withoutClientPort, isWeighted }: FollowerFacts): readonly Obstacle[] {
  const obstacles: Obstacle[] = [];
  if (withoutClientPort.length > 0)
    obstacles.push(
      lasting(
        "line-without-client-port",
        `the line of server ${withoutClientPort.join(", ")} names no port for clients, and Apache adds no server without one: the way back would not be complete; take over without --reconfig, or name the ports first, as server.N=host:2888:3888;2181`,
      ),
    );
  if (isWeighted)
    obstacles.push(
      lasting("voters-grouped", "voters with groups are not removed one by one: take over without --reconfig"),
    );
  return obstacles;
}

function memberObstacles(members: readonly MemberFacts[], place: HistoryPlace | undefined): readonly Obstacle[] {
  const obstacles: Obstacle[] = [];
  if (!members.some(({ isLeader }) => isLeader))
    obstacles.push(passing("members-no-leader", "no member of the new ensemble leads"));
  for (const { name, fault, clients, standby, lastError } of members) {
    const because = lastError === undefined ? "" : `: ${lastError}`;
    if (fault !== undefined) obstacles.push(passing("member-silent", `${name} does not answer: ${fault}`, name));
    else if (clients !== "closed")
      obstacles.push(
        lasting("member-open", `${name} serves clients: a member that takes over is founded with zooid.clients=closed`),
      );
    else if (standby === undefined)
      obstacles.push(passing("member-without-state", `${name} has no state of the follower yet${because}`, name));
    else if (place !== undefined) {
      if (standby.zxid < place.zxid)
        obstacles.push(
          passing(
            "member-behind",
            `${name} stands at ${formatZxid(standby.zxid)}, and the follower at ${formatZxid(place.zxid)}${because}`,
            name,
          ),
        );
      else if (standby.zxid === place.zxid && !isSamePlace(standby, place))
        obstacles.push(differing(name, standby, place));
    }
  }
  return obstacles;
}

export function isSamePlace(a: HistoryPlace, b: HistoryPlace): boolean {
  return a.zxid === b.zxid && a.chain === b.chain && a.digest === b.digest;
}

function differing(name: string, found: HistoryPlace, expected: HistoryPlace): Obstacle {
  return lasting(
    "member-differs",
    `${name} has the chain ${found.chain} and the digest ${found.digest} at ${formatZxid(found.zxid)}, and the follower ${expected.chain} and ${expected.digest}`,
  );
}

/** Step 6: whether each member has the state to be installed. */
export function installObstacles(members: readonly MemberFacts[], end: HistoryPlace): readonly Obstacle[] {
  const obstacles = [...memberObstacles(members, end)];
  for (const { name, standby } of members)
    if (standby !== undefined && standby.zxid > end.zxid)
      obstacles.push(
        lasting(
          "member-differs",
          `${name} stands at ${formatZxid(standby.zxid)}, behind ${formatZxid(end.zxid)}, where the following has ended`,
        ),
      );
  return obstacles;
}

/** Step 6: whether each member has installed the state. */
export function installedObstacles(
  { digest, missing }: { readonly digest: string; readonly missing: readonly number[] },
  expected: string,
): readonly Obstacle[] {
  const obstacles: Obstacle[] = [];
  if (digest !== expected)
    obstacles.push(
      lasting("member-differs", `the installed state has the digest ${digest}, and the follower ${expected}`),
    );
  if (missing.length > 0)
    obstacles.push(
      lasting("member-behind", `server ${missing.join(", ")} of the new ensemble has not installed the state`),
    );
  return obstacles;
}

/** Steps 2 and 4: the operator's commands. */
export function commandObstacles(command: string, results: readonly CommandResult[]): readonly Obstacle[] {
  return results
    .filter(({ fault }) => fault !== undefined)
    .map(({ address, fault }) => lasting("command-failed", `--${command} at ${address}: ${fault}`));
}

export interface Proof {
  readonly clients: readonly ConnectedClients[];
  readonly first: SyncFacts;
  readonly second: SyncFacts;
  /** Whether the disks are read later: then clients that cannot be counted do not matter. */
  readonly hasDisks: boolean;
}

/** Step 3: whether the client ports are closed. */
export function blockObstacles({ clients, first, second, hasDisks }: Proof): readonly Obstacle[] {
  const obstacles: Obstacle[] = [];
  for (const { address, count, text } of clients) {
    if (count === undefined) {
      if (!hasDisks)
        obstacles.push(
          passing(
            "clients-unknown",
            `the connections of ${address} are not known: ${text ?? "it does not answer"}`,
            address,
          ),
        );
    } else if (count > 0)
      obstacles.push(
        passing(
          "clients-connected",
          `${address} has ${counted(count, "connection")} of clients, such as ${text}`,
          address,
        ),
      );
  }
  if (second.after !== first.zxid)
    obstacles.push(passing("sync-without-base", "a snapshot or another SYNC came between two SYNCs"));
  if (second.requests > 0 || second.reconfigs > 0) obstacles.push(passing("requests-between", requestsText(second)));
  return obstacles;
}

function requestsText({ requests, reconfigs, sessions }: SyncFacts): string {
  const whose = sessions.length === 0 ? "" : `, of session ${sessions[0]}`;
  return `behind the block Apache has committed ${counted(requests + reconfigs, "request")} of clients${whose}`;
}

/** Step 4, by a change of the servers: whether one is left, and nothing else has happened. */
export function aloneObstacles(
  answer: SyncFacts,
  { after, session, sid }: { readonly after: SyncFacts; readonly session: string; readonly sid: number },
  { voters, sids }: FollowerFacts,
): readonly Obstacle[] {
  const foreign = answer.sessions.filter((each) => each !== session);
  const obstacles: Obstacle[] = [];
  if (answer.after !== after.zxid)
    obstacles.push(lasting("sync-without-base", "a snapshot or another SYNC came between two SYNCs"));
  if (foreign.length > 0 || answer.requests > answer.sessions.length || answer.reconfigs !== 1)
    obstacles.push(lasting("requests-between", requestsText({ ...answer, sessions: foreign })));
  if (voters.length !== 1 || voters[0] !== sid || sids.length !== 1)
    obstacles.push(
      lasting(
        "reconfig-not-seen",
        `the followed ensemble has the servers ${sids.join(", ")}, and not server ${sid} alone`,
      ),
    );
  return obstacles;
}

export interface Fence {
  readonly ports: readonly ServerPorts[];
  readonly results: readonly CommandResult[];
  /** Numbers of the voters that a quorum is counted of. */
  readonly voters: readonly number[];
  readonly isWeighted: boolean;
}

export interface FenceVerdict {
  readonly obstacles: readonly Obstacle[];
  /** Servers of which it is not known whether they have stopped. */
  readonly unverified: readonly string[];
}

/** Step 5: whether Apache can never commit again. */
export function judgeFence({ ports, results, voters, isWeighted }: Fence): FenceVerdict {
  const faults = new Map(results.map(({ address, fault }) => [address, fault]));
  const obstacles: Obstacle[] = [];
  const unverified: string[] = [];
  const verified = new Set<number>();
  for (const { address, sid, open, silent } of ports) {
    const isCounted = sid !== undefined && voters.includes(sid);
    const fault = faults.get(address);
    if (open.length > 0) {
      const text = `${address} still takes connections at ${open.join(", ")}`;
      if (isCounted) obstacles.push(passing("process-alive", text, address));
      else unverified.push(text);
    } else if (silent.length > 0)
      unverified.push(`${address} neither takes nor refuses connections at ${silent.join(", ")}`);
    else if (fault !== undefined) unverified.push(`--fence at ${address}: ${fault}`);
    else if (isCounted) verified.add(sid);
  }
  const missing = voters.filter((sid) => !verified.has(sid));
  const isEnough = isWeighted ? missing.length === 0 : missing.length * 2 < voters.length;
  if (!isEnough && obstacles.length === 0)
    obstacles.push(
      passing(
        "no-quorum-verified",
        `server ${missing.join(", ")} may run still, and ${isWeighted ? "voters with weights must all be stopped" : "that is no minority"}: ${unverified.join("; ")}`,
      ),
    );
  return { obstacles, unverified };
}

/** Step 5: whether the history that ends here is all that Apache has acknowledged. */
export function endObstacles(end: FollowedEnd, after: SyncFacts): readonly Obstacle[] {
  if (end.since.after !== after.zxid)
    return [lasting("sync-without-base", "a snapshot came behind the SYNCs that prove the block")];
  return end.since.requests + end.since.reconfigs > 0 ? [lasting("requests-between", requestsText(end.since))] : [];
}

export function diskObstacles(
  { count, highestZxid, directory }: DiskFacts,
  end: HistoryPlace["zxid"],
  { voters, isWeighted }: Pick<FollowerFacts, "voters" | "isWeighted">,
): readonly Obstacle[] {
  const isQuorum = isWeighted ? count >= voters.length : count * 2 > voters.length;
  if (!isQuorum)
    return [
      lasting("disks-too-few", `--data names ${count} of ${counted(voters.length, "voter")}: a quorum of them is read`),
    ];
  if (highestZxid <= end) return [];
  return [
    lasting(
      "disks-ahead",
      `${directory} holds ${formatZxid(highestZxid)}, and the follower stands at ${formatZxid(end)}: Apache has to serve again until it is followed`,
    ),
  ];
}
