import { realpathSync } from "node:fs";
import { hostname } from "node:os";
import {
  type CliCall,
  type Finding,
  finding,
  hostFindings,
  machineFindings,
  portFindings,
  reportJson,
  reportLines,
  type Scope,
  securityFindings,
  voterFindings,
} from "@zooid/doctor";
import { ConfigError, type OwnPort, ownPorts, parseServerConfig, type ServerConfig } from "@zooid/embedded-server";
import { hostPort, type Member, serverId } from "@zooid/model";
import type { CheckCommand, ServeCommand } from "../configuration/command-line.ts";
import { ANY_ADDRESS } from "../configuration/key-values.ts";
import { operated } from "../configuration/operated.ts";
import { errorWithOrigins } from "../configuration/setting-origins.ts";
import { hostFacts, ownAddresses } from "./host-facts.ts";
import { machineFacts, processOf } from "./machine-facts.ts";
import { portFacts } from "./port-facts.ts";
import { securityFacts } from "./security-facts.ts";

const CLIENT_PORT = 2181;
const PORT_MAX = 65_535;

/** Prints the report. @returns whether nothing was found */
export async function check({ server, file, isJson }: CheckCommand, print: (line: string) => void): Promise<boolean> {
  const subject = file ?? hostname();
  const missing: string[] = [];
  const findings =
    server instanceof ConfigError
      ? refusedConfiguration(server, subject)
      : await configuredServer(server, subject, missing);
  const scope: Scope = {
    looked: file === undefined ? "this machine" : `${file} and this machine`,
    missing:
      server instanceof ConfigError ? ["this machine: the configuration does not say where the data are"] : missing,
  };
  if (isJson) print(JSON.stringify(reportJson(findings, scope)));
  else for (const line of reportLines(findings, scope)) print(line);
  return findings.length === 0;
}

function refusedConfiguration({ problems }: ConfigError, subject: string): readonly Finding[] {
  const remedy = "correct the line; docs/settings.md lists all settings and their values";
  return problems.map((problem) => finding("configuration-refused", subject, problem, remedy));
}

async function configuredServer(
  command: ServeCommand,
  subject: string,
  missing: string[],
): Promise<readonly Finding[]> {
  const { options, warnings } = command;
  const dataDir = realOf(options.dataDir ?? ".");
  const logDir = realOf(options.logDir ?? options.dataDir ?? ".");
  const servers = members(command);
  const subjectOf = (key: string): string => originOf(command, key, subject);
  const hosts = await hostFacts(servers, options.ensemble?.sid, (sid) => subjectOf(`server.${sid}`));
  const pid = processOf(logDir);
  const config = validated(command);
  const { ports, presumedUid } = await portFacts(portsOf(config, command), { pid, directory: logDir }, subjectOf);
  const isRunning = pid !== undefined || presumedUid !== undefined;
  const machine = machineFacts({ dataDir, logDir, heldBytesMax: options.heldBytesMax, pid, isRunning }, missing);
  if (presumedUid !== undefined) missing.push(presumedText(presumedUid, logDir, command));
  const refused = config instanceof ConfigError ? config.problems : [];
  if (refused.length > 0) missing.push("the ports for operators and servers: the configuration is refused");
  // A file that this user may not read is no fault of a server that runs as another one.
  if (presumedUid !== undefined) missing.push(...refused.map((problem) => `the configuration: ${problem}`));
  return [
    ...(presumedUid === undefined ? refusedConfiguration(new ConfigError(refused), subject) : []),
    ...warnings.map((warning) =>
      finding("setting-doubtful", subject, warning, "correct or remove the line; docs/settings.md lists all settings"),
    ),
    ...voterFindings(subject, { servers }, cliCallOf(command)),
    ...hostFindings(hosts, ownAddresses()),
    ...portFindings(ports),
    ...machineFindings(hostname(), machine),
    ...securityFindings(subject, securityFacts(command, missing), Date.now()),
  ];
}

/** The configuration of a start, or the error that would end it. */
function validated(command: ServeCommand): ServerConfig | ConfigError {
  try {
    return parseServerConfig(operated(command));
  } catch (error) {
    const placed = errorWithOrigins(error, command);
    if (!(placed instanceof ConfigError)) throw placed;
    return placed;
  }
}

/** The ports of a valid configuration; of another one the ports for clients are known. */
function portsOf(config: ServerConfig | ConfigError, { options }: ServeCommand): readonly OwnPort[] {
  const { port = CLIENT_PORT, address = ANY_ADDRESS, plainPort = true } = options;
  const { securePort, secureAddress = ANY_ADDRESS } = options;
  const none = { admin: undefined, metrics: undefined, ensemble: undefined };
  const settings = { port, address, plainPort, securePort, secureAddress, ...none };
  return ownPorts(config instanceof ConfigError ? settings : config).filter(
    (own) => own.port > 0 && own.port <= PORT_MAX,
  );
}

function presumedText(uid: number, directory: string, { configFile = "" }: ServeCommand): string {
  return (
    `whether the ports and the directories are the server's: it seems to run as user ${uid}, to whom ${directory} belongs; ` +
    `run the check as that user: sudo -u '#${uid}' zooid-server check ${configFile}`
  ).trimEnd();
}

/** Undefined where the members' files alone change the list. */
function cliCallOf({ options }: ServeCommand): CliCall | undefined {
  if (options.reconfigEnabled !== true) return undefined;
  const { address, port = CLIENT_PORT, plainPort = true, secureAddress, securePort } = options;
  const [host, number] = plainPort ? [address, port] : [secureAddress, securePort ?? port];
  const servers = hostPort(host === undefined || host === ANY_ADDRESS ? "localhost" : host, number || CLIENT_PORT);
  return { servers, options: plainPort ? [] : ["-client-configuration", "FILE"] };
}

function members({ options }: ServeCommand): readonly Member[] {
  return (options.ensemble?.servers ?? []).map(
    ({ sid, isObserver = false, group, weight = 1, clientAddress, ...places }) => ({
      ...places,
      sid: serverId(sid),
      isObserver,
      group,
      weight,
      clientAddress: clientAddress === undefined ? undefined : { host: clientAddress.host, port: clientAddress.port },
    }),
  );
}

/** `zoo.cfg, line 7`, where the file has the setting. */
function originOf({ origins }: ServeCommand, key: string, subject: string): string {
  const origin = origins.get(key);
  return origin === undefined ? subject : `${subject}, ${origin}`;
}

/** As the kernel names it; the server makes it at its first start. */
function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
