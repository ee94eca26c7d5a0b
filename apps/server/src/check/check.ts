import { realpathSync } from "node:fs";
import { hostname } from "node:os";
import {
  type Finding,
  finding,
  hostFindings,
  machineFindings,
  reportJson,
  reportLines,
  type Scope,
  securityFindings,
  voterFindings,
} from "@zooid/doctor";
import { ConfigError } from "@zooid/embedded-server";
import { type Member, serverId } from "@zooid/model";
import type { CheckCommand, ServeCommand } from "../configuration/command-line.ts";
import { hostFacts, ownAddresses } from "./host-facts.ts";
import { machineFacts, processOf } from "./machine-facts.ts";
import { securityFacts } from "./security-facts.ts";

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
  const hosts = await hostFacts(servers, options.ensemble?.sid, (sid) => originOf(command, `server.${sid}`, subject));
  const machine = machineFacts(
    { dataDir, logDir, heldBytesMax: options.heldBytesMax, pid: processOf(logDir) },
    missing,
  );
  return [
    ...warnings.map((warning) =>
      finding("setting-doubtful", subject, warning, "correct or remove the line; docs/settings.md lists all settings"),
    ),
    ...voterFindings(subject, { servers }),
    ...hostFindings(hosts, ownAddresses()),
    ...machineFindings(hostname(), machine),
    ...securityFindings(subject, securityFacts(command, missing), Date.now()),
  ];
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
