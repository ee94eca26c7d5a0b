import { setTimeout as delay } from "node:timers/promises";
import { limitSignal } from "@zooid/client";
import { adminFields, adminUrlFault, foreignAdminAnswer, formatZxid, type Zxid } from "@zooid/model";
import { adminPage } from "../../admin-port.ts";
import { CliError, usageError } from "../../cli-error.ts";
import type { Invocation } from "../../command.ts";
import { ExitStatus } from "../../exit-status.ts";
import type { JsonObject } from "../../output.ts";
import { tableLines } from "../../texts/table.ts";
import { type Asked, type Readiness, readinessOf } from "./readiness.ts";
import { type FollowerReport, followerReport, type StandbyReport, standbyReport } from "./reports.ts";

const ANSWER_MS = 5000;
const MEMBERS_MAX = 100;
/** Members read on meanwhile: a few looks find all of them at one transaction. */
const LOOKS = 5;
const LOOK_AGAIN_MS = 300;
const WATCH_MS = 2000;

/** A report of servers, and what follows from it. */
interface Status {
  readonly follower: Asked<FollowerReport>;
  readonly members: readonly Asked<StandbyReport>[];
  readonly readiness: Readiness;
}

/**
 * `migrate status`: how far the follower and the members that stand by are, and what blocks a
 * take-over.
 */
export async function runStatus(invocation: Invocation): Promise<JsonObject> {
  const { flags, output, signal, shell } = invocation;
  const [follower = "", ...further] = urlsOf("follower", flags.value("follower"));
  if (follower === "") throw usageError("migrate status takes --follower with the follower's admin port");
  if (further.length > 0) throw usageError(`--follower takes one URL, found ${further.length + 1}`);
  const members = urlsOf("members", flags.value("members"));
  let status = await look({ follower, members, signal });
  output.lines(linesOf(status));
  if (flags.has("watch")) status = await watch({ invocation, follower, members, first: status });
  const { blockers } = status.readiness;
  if (typeof status.follower.found === "string") shell.endsWith(ExitStatus.CONNECTION);
  else if (blockers.length > 0) shell.endsWith(ExitStatus.FAILED);
  return jsonOf(status);
}

interface Place {
  readonly follower: string;
  readonly members: readonly string[];
  readonly signal: AbortSignal;
}

/** Prints the report again whenever another sentence is true, until the user ends it. */
async function watch({
  invocation: { output, signal },
  first,
  ...place
}: Omit<Place, "signal"> & { readonly invocation: Invocation; readonly first: Status }): Promise<Status> {
  let status = first;
  output.json(jsonOf(status));
  output.progress("watching until Ctrl-C");
  while (!signal.aborted) {
    try {
      await delay(WATCH_MS, undefined, { signal });
      const found = await look({ ...place, signal });
      const isSame = JSON.stringify(found.readiness) === JSON.stringify(status.readiness);
      status = found;
      if (isSame) continue;
    } catch (error) {
      if (signal.aborted) break;
      throw error;
    }
    output.lines(["", new Date().toISOString(), ...linesOf(status)]);
    output.json({ time: new Date().toISOString(), ...jsonOf(status) });
  }
  return status;
}

async function look({ follower, members, signal }: Place): Promise<Status> {
  for (let left = LOOKS; ; left--) {
    const [found, standbys] = await Promise.all([
      ask(follower, { command: "follow_status", read: followerReport, signal }),
      Promise.all(members.map((url) => ask(url, { command: "standby", read: standbyReport, signal }))),
    ]);
    const readiness = readinessOf(found, standbys);
    const isDecided = readiness.isEqual !== undefined || readiness.blockers.length > 0 || members.length === 0;
    if (isDecided || left === 1) return { follower: found, members: standbys, readiness };
    await delay(LOOK_AGAIN_MS, undefined, { signal });
  }
}

interface Question<T> {
  readonly command: string;
  readonly read: (fields: JsonObject) => T;
  readonly signal: AbortSignal;
}

async function ask<T>(url: string, { command, read, signal }: Question<T>): Promise<Asked<T>> {
  try {
    const limited = AbortSignal.any([signal, limitSignal(ANSWER_MS)]);
    const { status, text } = await adminPage(new URL(`${url}/`), `commands/${command}`, limited);
    const fields = adminFields(text);
    if (fields === undefined) return { url, found: foreignAdminAnswer(status, text) };
    const { error } = fields as JsonObject;
    if (typeof error === "string") return { url, found: refusalText(command, error) };
    return { url, found: read(fields as JsonObject) };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof CliError || error instanceof TypeError) return { url, found: error.message };
    throw error;
  }
}

function refusalText(command: string, error: string): string {
  const isOlder = error.startsWith("Unknown command");
  return isOlder ? `its version does not know ${command}: upgrade it` : error;
}

function urlsOf(name: string, text: string | undefined): readonly string[] {
  if (text === undefined) return [];
  const urls = text.split(",").map((part) => {
    const url = part.trim();
    return url.endsWith("/") ? url.slice(0, -1) : url;
  });
  for (const url of urls) {
    const fault = adminUrlFault(url);
    if (fault !== undefined) throw usageError(`--${name}: ${fault}`);
  }
  if (urls.length > MEMBERS_MAX) throw usageError(`--${name} takes at most ${MEMBERS_MAX} URLs, found ${urls.length}`);
  const twice = urls.find((url, i) => urls.indexOf(url) !== i);
  if (twice !== undefined) throw usageError(`--${name} names ${twice} twice`);
  return urls;
}

const COLUMNS = [
  { title: "MEMBER" },
  { title: "CLIENTS" },
  { title: "ZXID" },
  { title: "DIGEST" },
  { title: "CHAIN" },
  { title: "NODES", isNumber: true },
  { title: "SESSIONS", isNumber: true },
  { title: "BEHIND", isNumber: true },
];

function linesOf({ follower, members, readiness }: Status): readonly string[] {
  const { blockers, remarks, isEqual, next } = readiness;
  const verdict = isEqual === true ? ["all members have the same state"] : [];
  return [
    ...followerLines(follower),
    ...(members.length === 0 ? [] : tableLines(COLUMNS, members.map(cellsOf))),
    ...verdict,
    ...remarks.map((remark) => `Note: ${remark}`),
    ...(blockers.length === 0 ? ["nothing found here blocks a take-over"] : blockers.map((text) => `Blocks: ${text}`)),
    `next: ${next}`,
  ];
}

function followerLines({ url, found }: Asked<FollowerReport>): readonly string[] {
  if (typeof found === "string") return [`follower ${url}: no report`];
  const { state, server, epoch, zxid, lagTransactions, lagMs, digest, digestsCompared, snapshots, resyncs } = found;
  const { lastError } = found;
  const source = server === undefined ? "" : ` ${server} in epoch ${epoch}`;
  return [
    `follower ${url}: ${state}${source}`,
    `at ${formatZxid(zxid as Zxid)}; behind: ${lagTransactions} transactions, ${lagMs} ms; digests: ${digest}, ${digestsCompared} compared`,
    `since its start: snapshots ${snapshots}, links that ended ${resyncs}`,
    ...(lastError === undefined ? [] : [`last error: ${lastError}`]),
  ];
}

function cellsOf({ url, found }: Asked<StandbyReport>): readonly string[] {
  if (typeof found === "string") return [url, "no report"];
  const { clients, standby } = found;
  if (standby === undefined) return [url, clients, "none"];
  const { zxid, digest, chain, nodes, sessions, behindMs } = standby;
  return [
    url,
    clients,
    formatZxid(zxid as Zxid),
    digest,
    chain,
    `${nodes}`,
    `${sessions}`,
    behindMs === undefined ? "?" : `${behindMs} ms`,
  ];
}

function jsonOf({ follower, members, readiness }: Status): JsonObject {
  const { blockers, remarks, isEqual, next } = readiness;
  return {
    ready: blockers.length === 0,
    equal: isEqual ?? null,
    blockers: [...blockers],
    remarks: [...remarks],
    next,
    follower: followerJson(follower),
    members: members.map(memberJson),
  };
}

function followerJson({ url, found }: Asked<FollowerReport>): JsonObject {
  if (typeof found === "string") return { url, error: found };
  const { zxid, server, lastError, mark, ...rest } = found;
  return {
    url,
    ...rest,
    zxid: formatZxid(zxid as Zxid),
    server: server ?? null,
    lastError: lastError ?? null,
    treeDigest: mark?.digest ?? null,
    chain: mark?.chain ?? null,
  };
}

function memberJson({ url, found }: Asked<StandbyReport>): JsonObject {
  if (typeof found === "string") return { url, error: found };
  const { clients, standby, hasTakenOver, lastError } = found;
  return {
    url,
    clients,
    hasTakenOver,
    standby:
      standby === undefined
        ? null
        : { ...standby, zxid: formatZxid(standby.zxid as Zxid), behindMs: standby.behindMs ?? null },
    lastError: lastError ?? null,
  };
}
