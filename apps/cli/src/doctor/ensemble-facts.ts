import { adminCommand, limitSignal, parseConnectString } from "@zooid/client";
import type { EnsembleFacts, ServerFacts, ServerReport } from "@zooid/doctor";
import { hostPort, type Members, type ServerId } from "@zooid/model";
import { clientAddressOf, isServing, parseConfiguration } from "@zooid/model/membership";
import { CliError } from "../cli-error.ts";
import type { Invocation } from "../command.ts";
import { serversOf } from "../commands/servers/status.ts";
import { CONFIG_PATH } from "../members/configuration.ts";
import { otherServers } from "../members/same-server.ts";
import { silenceText } from "../members/server-status.ts";
import { parseServerReport } from "../texts/server-report.ts";
import { askAdminPort, type FoundAdmin } from "./admin-facts.ts";

/** All steps together take less than ten seconds, whatever hangs. */
const SERVER_MS = 2_500;
const ADMIN_MS = 2_000;

export interface FoundEnsemble {
  readonly facts: EnsembleFacts;
  /** Servers and ports that could not be looked at, each with its reason. */
  readonly missing: readonly string[];
}

/**
 * Asks all servers of the connect string and of the list in force.
 *
 * @param adminPattern where their admin ports are, see {@link adminBases}
 */
export async function findEnsemble(invocation: Invocation, adminPattern: readonly string[]): Promise<FoundEnsemble> {
  const named = await otherServers(serversOf(invocation.connection.server), []);
  const first = await askAll(named, invocation);
  const serving = first.filter(({ status }) => isServing(status)).map(({ address }) => address);
  const members = serving.length === 0 ? undefined : await listInForce(serving, invocation);
  const listed = members?.servers.flatMap((member) => clientAddressOf(member) ?? []) ?? [];
  const asked = [...first, ...(await askAll(await otherServers(listed, named), invocation))];
  const bases = adminBases(
    adminPattern,
    asked.map(({ address }) => address),
  );
  const admins = await Promise.all(bases.map((base) => askAdmin(base, invocation.signal)));
  const found = admins.filter((admin) => typeof admin !== "string");
  const missing = admins.filter((admin) => typeof admin === "string");
  const servers = asked.map((server) => serverFacts(server, members, found));
  const silent = members?.servers.filter((member) => clientAddressOf(member) === undefined) ?? [];
  const unasked = silent.filter(({ sid }) => !servers.some((server) => server.sid === sid));
  return {
    facts: { members, servers, cli: invocation.connection.cliCall },
    missing: [
      ...missing,
      ...unasked.map(
        ({ sid }) => `server ${sid}: the list in force has no client port of it; add it to the connect string`,
      ),
    ],
  };
}

/**
 * Where admin ports are: each pattern that has a `*` as the host stands for one port at each
 * server's host, and others for themselves.
 */
export function adminBases(patterns: readonly string[], servers: readonly string[]): readonly URL[] {
  const hosts = servers.flatMap((server) => parseConnectString(server).hosts.map(({ host }) => host));
  const texts = patterns.flatMap((pattern) =>
    pattern.includes("*") ? hosts.map((host) => pattern.replace("*", hostPort(host, 0).replace(/:0$/, ""))) : [pattern],
  );
  return [...new Set(texts)].map((text) => new URL(text.endsWith("/") ? text : `${text}/`));
}

interface Asked {
  readonly address: string;
  readonly status: ServerFacts["status"];
}

function askAll(servers: readonly string[], invocation: Invocation): Promise<readonly Asked[]> {
  return Promise.all(servers.map(async (address) => ({ address, status: await askForReport(address, invocation) })));
}

/** A server that has no role answers with a sentence. */
const NO_ROLE: ServerReport = { mode: "none", zxid: undefined, version: undefined, unlisted: [] };

async function askForReport(server: string, { connection, signal }: Invocation): Promise<ServerReport | string> {
  try {
    const answer = await adminCommand(server, "srvr", { signal, ...connection.security, timeoutMs: SERVER_MS });
    const report = parseServerReport(answer);
    return report === undefined ? NO_ROLE : { ...report, version: report.zooidVersion ?? report.version };
  } catch (error) {
    signal.throwIfAborted();
    return silenceText(error);
  }
}

/**
 * By a session with servers that serve: that of the command may wait for one that hangs. Undefined
 * for a server without an ensemble, or without an answer in time.
 */
async function listInForce(
  serving: readonly string[],
  { connection, signal }: Invocation,
): Promise<Members | undefined> {
  const client = connection.clientOf(serving);
  try {
    const limited = AbortSignal.any([signal, limitSignal(SERVER_MS)]);
    const { data } = await client.get(CONFIG_PATH, { signal: limited });
    return parseConfiguration(Buffer.from(data ?? []).toString()).members;
  } catch {
    signal.throwIfAborted();
    return undefined;
  } finally {
    await client.close();
  }
}

async function askAdmin(base: URL, signal: AbortSignal): Promise<FoundAdmin | string> {
  try {
    return await askAdminPort(base, AbortSignal.any([signal, AbortSignal.timeout(ADMIN_MS)]));
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof CliError)) throw error;
    return `the admin port at ${base.origin}: ${error.message}; name it with --admin`;
  }
}

/** The admin port of a server says its id or its client port. */
function serverFacts(
  { address, status }: Asked,
  members: Members | undefined,
  admins: readonly FoundAdmin[],
): ServerFacts {
  const [place] = parseConnectString(address).hosts;
  const sid = members?.servers.find((member) => clientAddressOf(member) === address)?.sid;
  const isHere = (found: FoundAdmin): boolean => found.base.hostname === urlHost(place?.host);
  // A server without a role says neither: its host decides.
  const admin =
    admins.find((found) => sid !== undefined && found.sid === sid) ??
    admins.find((found) => found.clientPort === place?.port && isHere(found)) ??
    admins.find((found) => found.clientPort === undefined && isHere(found));
  const known = sid ?? (members?.servers.find((member) => member.sid === admin?.sid)?.sid as ServerId | undefined);
  return {
    name: known === undefined ? address : `server ${known} at ${address}`,
    address,
    sid: known,
    status,
    admin: admin?.facts,
  };
}

/** As a URL has it. */
function urlHost(host: string | undefined): string | undefined {
  return host === undefined ? undefined : new URL(`http://${hostPort(host, 1)}`).hostname;
}
