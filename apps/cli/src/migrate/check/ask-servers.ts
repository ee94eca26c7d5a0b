import { adminCommand, parseConnectString } from "@zooid/client";
import type { ApacheReport, ApacheServerFacts } from "@zooid/doctor";
import { type AdminFields, adminFields, hostPort } from "@zooid/model";
import { adminPage } from "../../admin-port.ts";
import { CliError } from "../../cli-error.ts";
import type { Invocation } from "../../command.ts";
import { adminBases } from "../../doctor/ensemble-facts.ts";
import { silenceText } from "../../members/server-status.ts";
import { parseServerReport } from "../../texts/server-report.ts";
import {
  configurationOf,
  epochOf,
  parseConf,
  parseConnections,
  parseCons,
  parseLocalSessions,
  propertiesOf,
  type ServerConfiguration,
  settingsOf,
} from "./server-answers.ts";

/** Each server takes less than half a minute, whatever hangs. */
const WORD_MS = 2_500;
/** The first requests of a Java process take seconds. */
const ADMIN_MS = 15_000;

export interface AskedServers {
  readonly servers: readonly ApacheServerFacts[];
  /** Admin ports without an answer, each with its reason. */
  readonly missing: readonly string[];
}

/**
 * Asks each server, by four-letter words and at its admin port, for what can be seen from outside.
 *
 * @param adminPatterns where admin ports are; `*` stands for each server's host
 */
export async function askServers(
  addresses: readonly string[],
  adminPatterns: readonly string[],
  invocation: Pick<Invocation, "connection" | "signal">,
): Promise<AskedServers> {
  const { signal } = invocation;
  const bases = adminBases(adminPatterns, addresses);
  const asked = await Promise.all(bases.map((base) => askAdmin(base, signal)));
  const admins = asked.filter((admin) => typeof admin !== "string");
  const missing = asked.filter((admin) => typeof admin === "string");
  const servers = await Promise.all(addresses.map((address) => askServer(address, admins, invocation)));
  return { servers, missing };
}

/** The answers of an admin port, as far as it knows the commands. */
interface FoundAdmin {
  readonly hostname: string;
  readonly configuration: ServerConfiguration;
  readonly settings: ReturnType<typeof settingsOf>;
  readonly properties: ReturnType<typeof propertiesOf>;
  readonly sessions: ReturnType<typeof parseConnections>;
}

async function askAdmin(base: URL, signal: AbortSignal): Promise<FoundAdmin | string> {
  const limited = AbortSignal.any([signal, AbortSignal.timeout(ADMIN_MS)]);
  const textOf = async (command: string): Promise<string> =>
    (await adminPage(base, `commands/${command}`, limited)).text;
  const fieldsOf = async (command: string): Promise<AdminFields> => adminFields(await textOf(command)) ?? {};
  try {
    return {
      hostname: base.hostname,
      configuration: configurationOf(await fieldsOf("configuration")),
      settings: settingsOf(await fieldsOf("initial_configuration")),
      properties: propertiesOf(await fieldsOf("system_properties")),
      sessions: parseConnections(await textOf("connections")),
    };
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof CliError)) throw error;
    return `the admin port at ${base.origin}: ${error.message}; name it with --admin`;
  }
}

async function askServer(
  address: string,
  admins: readonly FoundAdmin[],
  { connection, signal }: Pick<Invocation, "connection" | "signal">,
): Promise<ApacheServerFacts> {
  const word = (name: string): Promise<string> =>
    adminCommand(address, name, { signal, ...connection.security, timeoutMs: WORD_MS });
  /** A server may not admit the word, or hang. */
  const perhaps = async (name: string): Promise<string> => {
    try {
      return await word(name);
    } catch {
      signal.throwIfAborted();
      return "";
    }
  };
  let report: ApacheReport | string;
  try {
    report = reportOf(await word("srvr"));
  } catch (error) {
    signal.throwIfAborted();
    report = silenceText(error);
  }
  const admin = adminOf(address, admins);
  const isAnswering = typeof report !== "string";
  const conf = admin?.configuration ?? (isAnswering ? parseConf(await perhaps("conf")) : undefined);
  return {
    address,
    report,
    sid: conf?.sid,
    settings: admin?.settings === undefined ? undefined : { subject: address, settings: admin.settings },
    properties: admin?.properties,
    limits: conf?.limits,
    sessions: admin?.sessions ?? (isAnswering ? parseCons(await perhaps("cons")) : undefined),
    localSessions: isAnswering ? parseLocalSessions(await perhaps("mntr")) : undefined,
  };
}

function reportOf(answer: string): ApacheReport | string {
  const report = parseServerReport(answer);
  if (report === undefined) {
    const [line = ""] = answer.trim().split("\n");
    // A server without a quorum says nothing but that.
    if (/not currently serving/.test(line))
      return { version: undefined, isZooid: false, mode: undefined, epoch: undefined };
    return line === "" ? "an empty answer to srvr" : line;
  }
  const { mode, version, zooidVersion, zxid } = report;
  return { version, isZooid: zooidVersion !== undefined, mode, epoch: epochOf(zxid) };
}

/** By the client port that it names, on the same host. */
export function adminOf<A extends Pick<FoundAdmin, "hostname" | "configuration">>(
  address: string,
  admins: readonly A[],
): A | undefined {
  const [place] = parseConnectString(address).hosts;
  if (place === undefined) return undefined;
  const { hostname } = new URL(`http://${hostPort(place.host, 1)}`);
  const here = admins.filter((admin) => admin.hostname === hostname);
  return (
    here.find(({ configuration }) => configuration.clientPort === place.port) ??
    // A port with TLS only, of the one server there.
    here.find(({ configuration }) => here.length === 1 && (configuration.clientPort ?? 0) <= 0)
  );
}
