import { adminUrlFault, counted, formatZxid, type Zxid } from "@zooid/model";
import { usageError } from "../../cli-error.ts";
import { type Invocation, wholeNumber } from "../../command.ts";
import { ExitStatus } from "../../exit-status.ts";
import type { JsonObject } from "../../output.ts";
import { Progress } from "../../progress.ts";
import { shownText } from "../../texts/shown-text.ts";
import { credentialsOf, rateOf, readingFault, type ServerSession, serversIn, sessionWith } from "../apache-clients.ts";
import { RequestPace } from "../request-pace.ts";
import { ClientPortOther, ClientPortServer } from "./client-port-sides.ts";
import { type Comparison, compareSides, type Uncompared } from "./compare-sides.ts";
import { differenceJson, differenceLines } from "./difference-text.ts";
import { FollowerSide } from "./follower-side.ts";
import { TABLE_SERVERS_MAX } from "./node-table.ts";
import type { OtherSide } from "./sides.ts";

const SHOWN = 100;
const SHOWN_MAX = 10_000;
/** With `--data`, of each side. */
const KEPT_BYTES_MAX = 64 * 1024 * 1024;

/** `migrate compare`: whether Apache's servers and a server of ours hold the same nodes. */
export async function runCompare(invocation: Invocation): Promise<JsonObject> {
  const { flags, output, shell, signal } = invocation;
  const plan = planOf(invocation);
  const sessions: ServerSession[] = [];
  await using _sessions = {
    async [Symbol.asyncDispose](): Promise<void> {
      await Promise.all(sessions.map((session) => session[Symbol.asyncDispose]()));
    },
  };
  const keptBytesMax = flags.has("data") ? KEPT_BYTES_MAX : 0;
  const portOf = async (name: string) => {
    const session = await sessionWith(invocation, name, plan.credentials);
    sessions.push(session);
    return { name, client: session.client, pace: new RequestPace(plan.rate), signal, keptBytesMax };
  };
  let other: OtherSide;
  let comparison: Comparison;
  const unreached: { server: string; reason: string }[] = [];
  try {
    other =
      plan.follower === undefined
        ? new ClientPortOther(await portOf(plan.zooid))
        : new FollowerSide({ base: plan.follower, auth: plan.adminAuth, signal }, keptBytesMax);
    const servers = await Promise.all(
      plan.apache.map(async (name) => {
        try {
          return new ClientPortServer(await portOf(name));
        } catch (error) {
          signal.throwIfAborted();
          unreached.push({ server: name, reason: readingFault(error) });
          return undefined;
        }
      }),
    );
    const reached = servers.filter((server) => server !== undefined);
    if (reached.length === 0) return couldNotLook(invocation, unreached);
    const progress = new Progress(output, "read");
    comparison = await compareSides({
      servers: reached,
      other,
      shownMax: plan.shownMax,
      failure: (error) => {
        signal.throwIfAborted();
        return readingFault(error);
      },
      step: (path) => progress.step(path),
    });
  } catch (error) {
    signal.throwIfAborted();
    return couldNotLook(invocation, [
      ...unreached,
      { server: plan.follower?.origin ?? plan.zooid, reason: readingFault(error) },
    ]);
  }
  const failed = [...unreached, ...comparison.failed];
  const gaps = gapLines(comparison, failed, other.name);
  for (const difference of comparison.differences) output.lines(differenceLines(difference, other.name));
  const left = comparison.differenceCount - comparison.differences.length;
  if (left > 0) output.line(`and ${counted(left, "difference")} more; --limit lists them`);
  output.lines(gaps.map((line) => `Not compared: ${line}`));
  output.line(verdictText(comparison, plan.apache.length - failed.length, gaps.length > 0));
  if (comparison.differenceCount > 0) shell.endsWith(ExitStatus.FAILED);
  else if (gaps.length > 0) shell.endsWith(ExitStatus.CONNECTION);
  return resultJson(comparison, failed, gaps.length > 0);
}

interface Plan {
  readonly apache: readonly string[];
  readonly follower: URL | undefined;
  /** Empty where a follower is named. */
  readonly zooid: string;
  readonly credentials: ReturnType<typeof credentialsOf>;
  readonly adminAuth: string | undefined;
  readonly rate: number;
  readonly shownMax: number;
}

function planOf(invocation: Invocation): Plan {
  const { flags } = invocation;
  const apache = flags.value("apache");
  if (apache === undefined) throw usageError("migrate compare takes --apache host:port[,host:port ...]");
  const addresses = serversIn("--apache", apache);
  if (addresses.length > TABLE_SERVERS_MAX) {
    throw usageError(`--apache takes at most ${TABLE_SERVERS_MAX} servers, found ${addresses.length}`);
  }
  const [follower, zooid] = [flags.value("follower"), flags.value("zooid")];
  if ((follower === undefined) === (zooid === undefined)) {
    throw usageError("migrate compare takes either --follower with an admin port or --zooid with a client port");
  }
  const fault = follower === undefined ? undefined : adminUrlFault(follower);
  if (fault !== undefined) throw usageError(`--follower: ${fault}`);
  const [port = "", ...more] = zooid === undefined ? [] : serversIn("--zooid", zooid);
  if (more.length > 0) throw usageError(`--zooid takes one server, found ${more.length + 1}`);
  const shownMax = wholeNumber(flags, "limit") ?? SHOWN;
  if (shownMax > SHOWN_MAX) throw usageError(`--limit takes 0 to ${SHOWN_MAX}, found ${shownMax}`);
  return {
    apache: addresses,
    follower: follower === undefined ? undefined : new URL(follower.endsWith("/") ? follower : `${follower}/`),
    zooid: port,
    credentials: credentialsOf(invocation),
    adminAuth: flags.value("admin-auth") ?? process.env["ZOOID_ADMIN_AUTH"],
    rate: rateOf(invocation),
    shownMax,
  };
}

interface Failed {
  readonly server: string;
  readonly reason: string;
}

function couldNotLook({ output, shell }: Invocation, failed: readonly Failed[]): JsonObject {
  for (const { server, reason } of failed) output.note(`${server}: ${reason}`);
  output.note("nothing is compared");
  shell.endsWith(ExitStatus.CONNECTION);
  return { equal: false, compared: false, failed: failed.map((each) => ({ ...each })) };
}

/** One line for each kind of nodes that are not compared; they are never taken as equal. */
function gapLines(found: Comparison, failed: readonly Failed[], other: string): readonly string[] {
  const { moved, unread, belowUnread, hiddenLists, unconfirmed, isBehind, zxid, serverZxid } = found;
  const example = ({ path }: Uncompared): string => (path === undefined ? "" : `, such as ${shownText(path)}`);
  const lines = failed.map(({ server, reason }) => `${server}: ${reason}`);
  const add = (what: Uncompared, text: string): void => {
    if (what.count > 0) lines.push(`${counted(what.count, "node")} ${text}${example(what)}`);
  };
  add(unread, "that may not be read (--auth)");
  add(belowUnread, "below one that may not be read");
  add(hiddenLists, "with an access list that is shown without its hashes (--auth with ADMIN)");
  add(unconfirmed, "that seemed different, and were too many to be read again");
  if (isBehind) {
    lines.push(
      `${other} is behind: it is at ${formatZxid(zxid as Zxid)}, and the servers at ${formatZxid(serverZxid as Zxid)}`,
    );
  }
  add(moved, "that changed at each reading");
  return lines;
}

function verdictText({ differenceCount, nodes, zxid }: Comparison, servers: number, hasGaps: boolean): string {
  const scope = `${counted(servers, "server")}, ${counted(nodes, "node")}, up to ${formatZxid(zxid as Zxid)}`;
  if (differenceCount > 0) return `${scope}: ${counted(differenceCount, "difference")}`;
  return hasGaps ? `${scope}: no difference in what was compared` : `${scope}: equal`;
}

function resultJson(found: Comparison, failed: readonly Failed[], hasGaps: boolean): JsonObject {
  const { nodes, zxid, serverZxid, rounds, differenceCount, differences, isBehind } = found;
  const count = ({ count: number, path }: Uncompared): JsonObject => ({ count: number, path: path ?? null });
  return {
    equal: differenceCount === 0 && !hasGaps,
    compared: true,
    nodes,
    zxid: formatZxid(zxid as Zxid),
    serverZxid: formatZxid(serverZxid as Zxid),
    rounds,
    differenceCount,
    differences: differences.map(differenceJson),
    notCompared: {
      moved: count(found.moved),
      unread: count(found.unread),
      belowUnread: count(found.belowUnread),
      hiddenLists: count(found.hiddenLists),
      unconfirmed: count(found.unconfirmed),
      behind: isBehind,
    },
    failed: failed.map((each) => ({ ...each })),
  };
}
