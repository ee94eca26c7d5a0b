import type { Client } from "@zooid/client";
import {
  type ApacheFacts,
  type ApacheServerFacts,
  type ApacheTreeFacts,
  apacheFindings,
  apacheSummary,
  apacheUnseen,
  reportJson,
  reportLines,
} from "@zooid/doctor";
import { counted } from "@zooid/model";
import { parseConfiguration } from "@zooid/model/membership";
import { adminPatterns } from "../../admin-patterns.ts";
import { usageError } from "../../cli-error.ts";
import { type Invocation, operand } from "../../command.ts";
import { ExitStatus } from "../../exit-status.ts";
import { CONFIG_PATH } from "../../members/configuration.ts";
import type { JsonObject } from "../../output.ts";
import { Progress } from "../../progress.ts";
import { credentialsOf, rateOf, readingFault, serversIn, sessionWith } from "../apache-clients.ts";
import { RequestPace } from "../request-pace.ts";
import { READ_MS, readTree } from "../tree-reading.ts";
import { askServers } from "./ask-servers.ts";
import { type SurveyedConfiguration, TreeSurvey } from "./tree-survey.ts";

const SID_MAX = 255;

/** `migrate check`: obstacles to a move, and preparations for it. */
export async function runCheck(invocation: Invocation): Promise<JsonObject> {
  const { output, shell } = invocation;
  const addresses = serversIn("migrate check", operand(invocation, 1));
  const newSids = newSidsOf(invocation);
  // They are checked before anything is asked.
  const [patterns, credentials, rate] = [adminPatterns(invocation), credentialsOf(invocation), rateOf(invocation)];
  const { servers, missing: silent } = await askServers(addresses, patterns, invocation);
  if (servers.every(({ report }) => typeof report === "string")) {
    const reasons = servers.map(({ address, report }) => `${address}: ${String(report)}`);
    output.note(`no server answers: ${reasons.join("; ")}`);
    shell.endsWith(ExitStatus.CONNECTION);
    return { sound: false, looked: "0 servers", missing: reasons, findings: [] };
  }
  const missing = [...silent];
  const tree = await surveyFirst(invocation, servers, { credentials, rate, missing });
  const facts: ApacheFacts = { servers, tree, newSids };
  missing.push(...apacheUnseen(facts));
  const findings = apacheFindings(facts);
  const looked = `${counted(servers.length, "server")}${tree === undefined ? "" : `, ${counted(tree.nodes, "node")}`}`;
  output.lines([...apacheSummary(facts), ""]);
  output.lines(reportLines(findings, { looked, missing }));
  if (findings.length > 0) shell.endsWith(ExitStatus.FAILED);
  const { sound, findings: sorted } = reportJson(findings, { looked, missing });
  return { sound, looked, missing, findings: sorted.map((found) => ({ ...found })), facts: factsJson(facts) };
}

interface Survey {
  readonly credentials: ReturnType<typeof credentialsOf>;
  readonly rate: number;
  /** Gets what could not be read, with its reason. */
  readonly missing: string[];
}

/** Followers and observers first: the leader has the writes to do. */
const ROLES: readonly (string | undefined)[] = ["observer", "follower", "standalone", "leader"];

async function surveyFirst(
  invocation: Invocation,
  servers: readonly ApacheServerFacts[],
  survey: Survey,
): Promise<ApacheTreeFacts | undefined> {
  const roleOf = ({ report }: ApacheServerFacts): number =>
    typeof report === "string" || report.isZooid ? -1 : ROLES.indexOf(report.mode);
  const serving = servers.filter((server) => roleOf(server) >= 0).sort((a, b) => roleOf(a) - roleOf(b));
  for (const { address } of serving) {
    try {
      return await surveyServer(invocation, address, survey);
    } catch (error) {
      invocation.signal.throwIfAborted();
      survey.missing.push(`nodes of ${address}: ${readingFault(error)}`);
    }
  }
  return undefined;
}

async function surveyServer(
  invocation: Invocation,
  address: string,
  { credentials, rate }: Survey,
): Promise<ApacheTreeFacts> {
  const { output, signal } = invocation;
  await using session = await sessionWith(invocation, address, credentials);
  const { client } = session;
  const survey = new TreeSurvey();
  const progress = new Progress(output, "checked");
  await readTree({
    client,
    signal,
    pace: new RequestPace(rate),
    read: (path) => client.getAcl(path, { signal, timeoutMs: READ_MS }),
    requestsPerRead: 1,
    node: (path, { acl, stat }) => {
      survey.node(path, acl, stat);
      progress.step(path);
    },
    unread: (path) => survey.unread(path),
  });
  return survey.facts(address, await configurationOf(client, signal));
}

/** From `/zookeeper/config`, which a server alone has without any. */
async function configurationOf(client: Client, signal: AbortSignal): Promise<SurveyedConfiguration> {
  try {
    const { data } = await client.get(CONFIG_PATH, { signal, timeoutMs: READ_MS });
    const { members } = parseConfiguration(Buffer.from(data ?? []).toString());
    return {
      members: members.servers.map(({ sid, isObserver }) => ({ sid, isObserver })),
      hasReconfig: members.version > 0,
    };
  } catch {
    signal.throwIfAborted();
    return { members: [], hasReconfig: undefined };
  }
}

function newSidsOf({ flags }: Invocation): readonly number[] {
  const text = flags.value("sids");
  if (text === undefined) return [];
  const sids = text.split(",").map((part) => (/^\d{1,3}$/.test(part) ? Number(part) : Number.NaN));
  if (sids.every((sid) => sid >= 1 && sid < SID_MAX)) return sids;
  throw usageError(
    `--sids takes numbers from 1 to ${SID_MAX - 1} with commas between them, found ${JSON.stringify(text)}`,
  );
}

/** For programs: numbers, without the values of settings, among which may be secrets. */
function factsJson({ servers, tree }: ApacheFacts): JsonObject {
  return {
    servers: servers.map(({ address, report, sid, sessions }) => ({
      address,
      ...(typeof report === "string"
        ? { silent: report }
        : { version: report.version ?? null, mode: report.mode ?? null, epoch: report.epoch ?? null }),
      sid: sid ?? null,
      sessions: sessions?.length ?? null,
    })),
    tree: tree === undefined ? null : treeJson(tree),
  };
}

function treeJson(tree: ApacheTreeFacts): JsonObject {
  const { address, nodes, dataBytes, ephemerals, owners, ownerBytes, longestData, longestPath, mostChildren } = tree;
  return {
    address,
    nodes,
    dataBytes,
    ephemerals,
    owners,
    ownerBytes: [...ownerBytes].sort((a, b) => a - b),
    longestData: { ...longestData },
    longestPath: { ...longestPath },
    mostChildren: { ...mostChildren },
    schemes: Object.fromEntries([...tree.schemes].map(([scheme, place]) => [scheme, { ...place }])),
    unread: tree.unread === undefined ? null : { ...tree.unread },
  };
}
