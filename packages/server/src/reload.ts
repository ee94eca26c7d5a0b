import type { OperatorPorts } from "./admin/operator-ports.ts";
import type { ClientPorts } from "./clients/client-ports.ts";
import { ConfigError, parseServerConfig, type ServerConfig, type ServerOptions } from "./config.ts";
import type { EnsemblePeers } from "./ensemble-peers.ts";
import { type LiveSettings, liveSettingsOf } from "./live-settings.ts";
import type { ReloadMode, ReloadResult } from "./reload-result.ts";
import type { OwnCertificate } from "./tls/certificate-report.ts";

/**
 * The parts of a running server that a reload reads and changes; a part that has not started is
 * undefined.
 */
export interface RunningParts {
  /** In force. */
  readonly config: ServerConfig;
  readonly ports: ClientPorts | undefined;
  readonly operators: OperatorPorts | undefined;
  readonly peers: EnsemblePeers | undefined;
  /** Those in force. */
  certificates(): readonly OwnCertificate[];
  apply(settings: LiveSettings): void;
}

/**
 * Takes over changed options, and reads the certificates again.
 *
 * Each part first reads and checks what is its own, and hands back a change that it could apply.
 * Only when no part has a problem are the changes applied, all of them: a server never runs with
 * half of a new configuration.
 *
 * @param options undefined: those in force, whose certificates are read again
 */
export function reloadParts(
  { config: inForce, ports, operators, peers, certificates, apply }: RunningParts,
  options: ServerOptions | undefined,
  { isDryRun = false }: ReloadMode = {},
): ReloadResult {
  const before = certificates();
  const client = ports?.readCertificates();
  const problems = [...(client !== undefined && "length" in client ? client : [])];
  const config = options === undefined ? undefined : checked(options, problems);
  const { admin, ensemble } = options ?? {};
  // Both count files that cannot be used, also where the check of the options has found that.
  const operator = operators?.readCertificates(admin);
  const security = ensemble === undefined ? undefined : peers?.prepareSecurity(ensemble);
  const next = options === undefined || config === undefined ? undefined : liveSettingsOf(options, config, inForce);
  problems.push(...(next?.problems ?? []));
  if (options !== undefined && config === undefined) return refusal(problems);
  problems.push(...(operator !== undefined && "length" in operator ? operator : []));
  problems.push(...(security?.problems ?? []));
  // Without options for links their certificates are read here, and are in force at once where
  // they are valid.
  if (problems.length === 0 && security === undefined && !isDryRun)
    problems.push(...(peers?.reloadCertificates() ?? []));
  if (problems.length > 0) return refusal(problems);
  const { changes = [] } = security ?? {};
  const notices = config?.notices ?? [];
  if (isDryRun) return { changes, certificates: [], notices, problems };
  security?.apply();
  for (const each of [client, operator]) if (each !== undefined && "apply" in each) each.apply();
  if (next !== undefined) apply(next.settings);
  const renewed = certificates().map(({ shownTo, notAfter }) => ({
    shownTo,
    notAfter,
    notAfterBefore: before.find((each) => each.shownTo === shownTo)?.notAfter,
  }));
  return { changes, certificates: renewed, notices, problems };
}

/**
 * The options as a start takes them; undefined where it would refuse them, for which there are
 * problems then.
 */
function checked(options: ServerOptions, problems: string[]): ServerConfig | undefined {
  try {
    return parseServerConfig(options);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    problems.push(...error.problems.filter((problem) => !problems.includes(problem)));
    return undefined;
  }
}

function refusal(problems: readonly string[]): ReloadResult {
  return { changes: [], certificates: [], notices: [], problems };
}
