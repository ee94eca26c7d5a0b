import { join } from "node:path";
import { parseWhitelist } from "@zooid/embedded-server/internal/admin/word-names";
import {
  ConfigError,
  parseServerConfig,
  type ServerConfig,
  type ServerOptions,
} from "@zooid/embedded-server/internal/config";
import { javaAddress } from "@zooid/model";
import { parseCommandLine } from "zooid-server/internal/configuration/command-line";
import { planContainer } from "zooid-server/internal/container/container-plan";
import { type ConfigurationCase, inFolder, writeCase } from "./configuration-case.ts";
import { type Outcome, withoutOwnClient } from "./outcome.ts";

/** The values in force by Zooid's parser, under the names of {@link apacheOutcome}. */
export function zooidOutcome(configuration: ConfigurationCase, folder: string): Outcome {
  const flags = configuration.flags.map((flag) => `-D${flag}`).join(" ");
  try {
    writeCase({ ...configuration, ...containerFiles(configuration, folder) }, folder);
    const command = parseCommandLine([join(folder, "zoo.cfg")], { SERVER_JVMFLAGS: flags });
    if (command.kind !== "serve") throw new Error("a configuration file starts a server");
    const config = parseServerConfig(operated(command.options));
    const values = { ...valuesOf(config), "audit.enable": String(command.auditFile !== undefined) };
    return {
      kind: "starts",
      values: new Map(
        Object.entries(values).flatMap(([name, value]) =>
          value === undefined ? [] : [[name, value.replaceAll(folder, "{dir}")]],
        ),
      ),
    };
  } catch (error) {
    if (!(error instanceof Error) || error.name !== ConfigError.name) throw error;
    return { kind: "refuses", reason: error.message.replaceAll(folder, "{dir}") };
  }
}

/**
 * The files that the image of Zooid makes of the variables, instead of those of the official one.
 */
function containerFiles({ environment }: ConfigurationCase, folder: string): Partial<ConfigurationCase> {
  if (environment === undefined) return {};
  const variables = new Map(Object.entries(environment).map(([name, value]) => [name, inFolder(value, folder)]));
  const { zooCfg, myId } = planContainer({ variables, files: new Map(), hostname: "zk-0" });
  return { files: { "zoo.cfg": zooCfg, "data/myid": `${myId}\n` } };
}

/**
 * As server-process.ts: a process has a port for operators, and one for metrics where the provider
 * of those is named.
 */
function operated(options: ServerOptions): ServerOptions {
  return { ...options, admin: { ...options.admin }, metrics: { enabled: false, ...options.metrics } };
}

function valuesOf(config: ServerConfig): Readonly<Record<string, string | undefined>> {
  const { ensemble, admin, metrics } = config;
  return {
    clientAddress: config.plainPort ? `${listenedHost(config.address)} ${config.port}` : "none",
    secureAddress:
      config.securePort === undefined ? "none" : `${listenedHost(config.secureAddress)} ${config.securePort}`,
    dataDir: config.dataDir,
    dataLogDir: config.logDir,
    tickTime: String(config.tickMs),
    maxClientCnxns: String(config.connectionsPerAddressMax),
    minSessionTimeout: String(config.sessionTimeoutMsMin),
    maxSessionTimeout: String(config.sessionTimeoutMsMax),
    clientPortListenBacklog: String(config.listenBacklog ?? -1),
    localSessionsEnabled: String(config.localSessions),
    localSessionsUpgradingEnabled: String(config.localSessionsUpgrading),
    standaloneEnabled: String(config.standaloneEnabled),
    reconfigEnabled: String(config.reconfigEnabled),
    isMetricsPortOpen: String(metrics !== undefined),
    metricsPort: metrics === undefined ? undefined : String(metrics.port),
    isMember: String(ensemble !== undefined),
    initLimit: ensemble && String(ensemble.initLimit),
    syncLimit: ensemble && String(ensemble.syncLimit),
    electionAlg: ensemble && String(ensemble.electionAlg),
    observerMasterPort: ensemble && String(ensemble.observerMasterPort ?? 0),
    quorumListenOnAllIPs: ensemble && String(ensemble.listenOnAllAddresses),
    serverId: ensemble && String(ensemble.sid),
    peerType: ensemble && (ensemble.isObserver ? "OBSERVER" : "PARTICIPANT"),
    members: ensemble && withoutOwnClient(membersText(ensemble), String(ensemble.sid)),
    maxCnxns: String(config.connectionsMax),
    globalOutstandingLimit: String(config.outstandingCountMax),
    skipACL: String(config.skipAcl),
    superDigest: config.superDigest ?? "",
    digestEnabled: String(config.digestEnabled),
    "4lw.commands.whitelist": wordsText(config),
    "admin.enableServer": String(admin !== undefined),
    "admin.serverPort": admin && String(admin.port),
    "admin.commandURL": admin?.commandUrl,
    "admin.idleTimeout": admin && String(admin.idleTimeoutMs),
    extendedTypesEnabled: String(config.ttlNodes),
    enforceQuota: String(config.enforceQuota),
    clientTcpKeepAlive: String(config.tcpKeepAlive),
    leaderServes: String(config.leaderServes),
    "jute.maxbuffer": String(config.frameBytesMax),
    "readonlymode.enabled": String(config.readOnlyMode),
    "znode.container.checkIntervalMs": String(config.reaping.checkIntervalMs),
    "znode.container.maxPerMinute": String(config.reaping.perMinuteMax),
    "fsync.warningthresholdms": String(config.fsyncWarnMs),
  };
}

function wordsText({ fourLetterWords, readOnlyMode }: ServerConfig): string {
  const all = parseWhitelist("*");
  if (fourLetterWords.size === all.size) return "*";
  return [...new Set([...fourLetterWords, ...(readOnlyMode ? ["isro"] : [])])].toSorted().join(",");
}

function membersText({ servers }: NonNullable<ServerConfig["ensemble"]>): string {
  return servers
    .toSorted((a, b) => a.sid - b.sid)
    .map(({ sid, host, quorumPort, electionPort, isObserver, clientAddress, weight }) => {
      const client = clientAddress === undefined ? "-" : `${anyHost(clientAddress.host)} ${clientAddress.port}`;
      return `${sid}=${javaAddress(host)} ${quorumPort} ${electionPort} ${isObserver ? "OBSERVER" : "PARTICIPANT"} ${client} ${weight}\n`;
    })
    .join("");
}

function listenedHost(host: string): string {
  return host === "localhost" ? "127.0.0.1" : anyHost(host);
}

function anyHost(host: string | undefined): string {
  return host === undefined || host === "0.0.0.0" || host === "::" ? "*" : javaAddress(host);
}
