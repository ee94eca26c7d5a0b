import { adminCommand, formatAddress, limitSignal, parseConnectString } from "@zooid/client";
import { counted, levelInFeatures, SERVER_FEATURES_PATH } from "@zooid/model";
import { epochOfText, isServing, lagOf, newestZxid, SERVING } from "@zooid/model/membership";
import { type Command, FLAG_TIMEOUT, type Invocation, timeoutMs } from "../../command.ts";
import { ExitStatus } from "../../exit-status.ts";
import { CONFIG_PATH } from "../../members/configuration.ts";
import { otherServers } from "../../members/same-server.ts";
import { askServer, type ServerStatus } from "../../members/server-status.ts";
import type { JsonObject } from "../../output.ts";
import { memberAddresses } from "../../texts/cluster-config.ts";
import { versionCell } from "../../texts/server-report.ts";
import { tableLines } from "../../texts/table.ts";

const TIMEOUT_MS = 5_000;
const COLUMNS = [
  { title: "SERVER" },
  { title: "ROLE" },
  { title: "EPOCH", isNumber: true },
  { title: "ZXID" },
  { title: "LAG", isNumber: true },
  { title: "LATENCY" },
  { title: "CONNECTIONS", isNumber: true },
  { title: "OUTSTANDING", isNumber: true },
  { title: "ZNODES", isNumber: true },
  { title: "VERSION" },
];

interface MemberStatus {
  readonly server: string;
  readonly found: ServerStatus;
}

export const status: Command = {
  name: "status",
  synopsis: "[--timeout ms]",
  flags: [FLAG_TIMEOUT],
  summary: "Prints role, epoch, zxid, lag, latency and load of each member; fails unless exactly one leads.",
  operandsMax: 0,
  kind: "own",
  async run(invocation) {
    const { connection, output, shell } = invocation;
    const listed = await otherServers(serversOf(connection.server), []);
    const members = await Promise.all(listed.map((server) => ask(server, invocation)));
    // Without one that serves there is no session to read the configuration with.
    const isServed = members.some(({ found }) => isServing(found));
    const more = isServed ? await otherServers(await configured(invocation), listed) : [];
    members.push(...(await Promise.all(more.map((server) => ask(server, invocation)))));
    const newest = newestZxid(members.map(({ found }) => found));
    output.lines(
      tableLines(
        COLUMNS,
        members.map((member) => cellsOf(member, newest)),
      ),
    );
    for (const { server, found } of members) if (typeof found === "string") output.line(`${server}: ${found}`);
    const verdict = verdictOf(members);
    output.line(verdict.text);
    const level = isServed ? await featureLevel(invocation) : undefined;
    if (level !== undefined) output.line(`feature level ${level}`);
    const derived = await derivedPasswords(verdict.head, invocation);
    if (derived !== undefined && derived > 0)
      output.line(`${counted(derived, "session")} of Apache's servers: their passwords follow from their ids`);
    if (!verdict.isWell) shell.endsWith(ExitStatus.FAILED);
    const featureLevelShown = level === undefined ? {} : { featureLevel: level };
    const derivedShown = derived === undefined ? {} : { derivedPasswordSessions: derived };
    return {
      healthy: verdict.isWell,
      ...featureLevelShown,
      ...derivedShown,
      members: members.map((member) => jsonOf(member, newest)),
    };
  },
};

/** The servers of a connect string, each as `host:port`. */
export function serversOf(connectString: string): readonly string[] {
  return [...new Set(parseConnectString(connectString).hosts.map(formatAddress))];
}

async function ask(server: string, invocation: Invocation): Promise<MemberStatus> {
  return { server, found: await askServer(server, invocation, timeoutMs(invocation.flags)) };
}

/** The members in `/zookeeper/config`; without it the listed servers have answered all the same. */
async function configured(invocation: Invocation): Promise<readonly string[]> {
  return memberAddresses((await readText(invocation, CONFIG_PATH)) ?? "");
}

/** In the words of the server of the session; undefined from one that is not Zooid's. */
async function featureLevel(invocation: Invocation): Promise<number | undefined> {
  const text = await readText(invocation, SERVER_FEATURES_PATH);
  return text === undefined ? undefined : levelInFeatures(text);
}

/**
 * The text of a node; undefined where it cannot be read. The session of a single command may not be
 * connected yet.
 */
async function readText({ connection, signal }: Invocation, path: string): Promise<string | undefined> {
  try {
    const limited = AbortSignal.any([signal, limitSignal(TIMEOUT_MS)]);
    const client = await connection.ready({ path, isAbsolute: true, signal: limited });
    const { data } = await client.get(path, { signal, timeoutMs: TIMEOUT_MS });
    return Buffer.from(data ?? "").toString();
  } catch {
    signal.throwIfAborted();
    return undefined;
  }
}

/**
 * How many sessions moved here from Apache's servers; undefined from a server that does not say it.
 */
async function derivedPasswords(server: string | undefined, invocation: Invocation): Promise<number | undefined> {
  if (server === undefined) return undefined;
  const { connection, flags, signal } = invocation;
  try {
    const answer = await adminCommand(server, "mntr", {
      signal,
      ...connection.security,
      timeoutMs: timeoutMs(flags) ?? TIMEOUT_MS,
    });
    const count = /^zk_zooid_derived_password_sessions\t(\d+)$/m.exec(answer)?.[1];
    return count === undefined ? undefined : Number(count);
  } catch {
    signal.throwIfAborted();
    return undefined;
  }
}

function cellsOf({ server, found }: MemberStatus, newest: bigint): readonly string[] {
  if (typeof found === "string") return [server, "no answer"];
  const { mode, zxid, latencyMs, connections, outstanding, nodes } = found;
  const text = (value: number | string | undefined): string => (value === undefined ? "?" : `${value}`);
  return [
    ...[server, mode],
    ...(zxid === undefined ? ["?", "?", "?"] : [`${epochOfText(zxid)}`, zxid, text(lagOf(zxid, newest))]),
    ...[latencyMs === undefined ? "?" : `${latencyMs.avg}/${latencyMs.max} ms`],
    ...[text(connections), text(outstanding), text(nodes), versionCell(found)],
  ];
}

function jsonOf({ server, found }: MemberStatus, newest: bigint): JsonObject {
  if (typeof found === "string") return { server, error: found };
  const { mode, zxid, latencyMs, connections, outstanding, nodes, version, zooidVersion } = found;
  const place = zxid === undefined ? {} : { zxid, epoch: Number(epochOfText(zxid)), lag: lagOf(zxid, newest) ?? null };
  return {
    server,
    mode,
    ...place,
    ...(latencyMs === undefined ? {} : { latencyMs }),
    connections,
    outstanding,
    nodes,
    version,
    zooidVersion,
  };
}

interface Verdict {
  readonly text: string;
  readonly isWell: boolean;
  /** The server that leads, or stands alone. */
  readonly head?: string;
}

function verdictOf(members: readonly MemberStatus[]): Verdict {
  const modes = members.map(({ found }) => (typeof found === "string" ? undefined : found.mode));
  const serving = modes.filter((mode) => mode !== undefined && SERVING.has(mode)).length;
  const heads = members.filter((_, at) => modes[at] === "leader" || modes[at] === "standalone");
  const count = `${serving} of ${members.length} ${members.length === 1 ? "server serves" : "servers serve"}`;
  const [head] = heads;
  if (head === undefined) return { text: `${count}; no leader among them`, isWell: false };
  if (heads.length > 1) {
    return {
      text: `${count}; several lead or stand alone: ${heads.map(({ server }) => server).join(", ")}`,
      isWell: false,
    };
  }
  // A member that does not serve is in the table: the ensemble serves without it, as for
  // `member list`.
  const isLeader = modes.includes("leader");
  return { text: `${count}${isLeader ? `; leader ${head.server}` : ""}`, isWell: true, head: head.server };
}
