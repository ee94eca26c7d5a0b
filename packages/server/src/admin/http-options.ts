import { parseTls, type TlsConfig, type TlsOptions } from "../tls/tls-config.ts";

/** The HTTP port for operators: Apache's admin commands, health probes and metrics. */
export interface AdminOptions {
  /** `admin.enableServer`. Default true. */
  readonly enabled?: boolean;
  /** `admin.serverPort`; 0 lets the system choose. Default 8080. */
  readonly port?: number;
  /**
   * `admin.serverAddress`; `*` for every address. All that this port shows can be read by every
   * host that reaches it. Default 127.0.0.1.
   */
  readonly address?: string;
  /** `admin.commandURL`: prefix of the commands. Default `/commands`. */
  readonly commandUrl?: string;
  /** `admin.idleTimeout`: milliseconds until an idle connection is closed. Default 30000. */
  readonly idleTimeoutMs?: number;
  /**
   * `admin.portUnification`: whether the port accepts HTTP and HTTPS, by the first byte. Default
   * false.
   */
  readonly portUnification?: boolean;
  /** `admin.forceHttps`: whether the port accepts only HTTPS. Default false. */
  readonly forceHttps?: boolean;
  /**
   * `admin.needClientAuth`: whether clients need a certificate; only with `forceHttps`. Default
   * false.
   */
  readonly needClientAuth?: boolean;
  /**
   * `admin.snapshot.enabled`: whether snapshots can be downloaded, with every permission on the
   * root. Default true.
   */
  readonly snapshotEnabled?: boolean;
  /**
   * `admin.restore.enabled`: whether snapshots can be restored, with the same permissions. Default
   * true.
   */
  readonly restoreEnabled?: boolean;
  /**
   * `admin.rateLimiterIntervalInMS`: milliseconds in which one restore is allowed, and a thousand
   * snapshots. Default 300000.
   */
  readonly rateLimiterIntervalMs?: number;
  /** Key and authorities of HTTPS, from `ssl.quorum.*`; HTTPS and peer connections share them. */
  readonly tls?: Omit<TlsOptions, "clientAuth">;
}

/** A port that serves `/metrics` and nothing else. */
export interface MetricsOptions {
  /** Whether `metricsProvider.className` enables it. Default true. */
  readonly enabled?: boolean;
  /** `metricsProvider.httpPort`; 0 lets the system choose. Default 7000. */
  readonly port?: number;
  /** `metricsProvider.httpHost`; `*` for every address. Default `*`. */
  readonly address?: string;
  /**
   * `metricsProvider.exportJvmInfo`: memory and threads under Java's names as well, for dashboards
   * that use those. Default true.
   */
  readonly exportJvmInfo?: boolean;
}

export interface AdminConfig {
  readonly port: number;
  readonly address: string;
  readonly commandUrl: string;
  readonly idleTimeoutMs: number;
  /** Undefined: plain HTTP. */
  readonly tls: TlsConfig | undefined;
  /** With TLS: whether plain HTTP is accepted too. */
  readonly servesBoth: boolean;
  readonly snapshots: SnapshotCommandsConfig;
}

/** Settings of `snapshot` and `restore`. */
export interface SnapshotCommandsConfig {
  readonly isSnapshotEnabled: boolean;
  readonly isRestoreEnabled: boolean;
  /** Between two restores; a thousandth of it between two snapshots. */
  readonly intervalMs: number;
}

/** Without an admin port. */
export const NO_SNAPSHOT_COMMANDS: SnapshotCommandsConfig = {
  isSnapshotEnabled: false,
  isRestoreEnabled: false,
  intervalMs: 0,
};
export type MetricsConfig = Required<Omit<MetricsOptions, "enabled">>;

type WholeNumber = (name: string, value: number, min: number, max: number) => number;

const INT_MAX = 2 ** 31 - 1;
const COMMAND_URL = /^(\/[\w.-]+)+\/?$/;

/** @returns undefined if the port is not configured */
export function parseAdmin(
  options: AdminOptions | undefined,
  whole: WholeNumber,
  problems: string[],
  notices: string[],
): AdminConfig | undefined {
  if (options === undefined || options.enabled === false) return undefined;
  const commandUrl = options.commandUrl ?? "/commands";
  if (!COMMAND_URL.test(commandUrl)) {
    problems.push(`admin.commandURL is a path like /commands, found "${commandUrl}"`);
  }
  const { forceHttps = false, portUnification = false, needClientAuth = false } = options;
  if (needClientAuth && !forceHttps) {
    problems.push("admin.needClientAuth=true asks for certificates, which need admin.forceHttps=true");
  }
  return {
    port: whole("admin.serverPort", options.port ?? 8080, 0, 65_535),
    address: options.address ?? "127.0.0.1",
    commandUrl: commandUrl.replace(/\/$/, ""),
    idleTimeoutMs: whole("admin.idleTimeout", options.idleTimeoutMs ?? 30_000, 1, INT_MAX),
    snapshots: {
      isSnapshotEnabled: options.snapshotEnabled ?? true,
      isRestoreEnabled: options.restoreEnabled ?? true,
      intervalMs: whole("admin.rateLimiterIntervalInMS", options.rateLimiterIntervalMs ?? 300_000, 0, INT_MAX),
    },
    servesBoth: portUnification && !forceHttps,
    tls: parseAdminTls(options, problems, notices),
  };
}

/** @returns undefined if the port has no TLS, or if there is a problem with it */
export function parseAdminTls(
  { enabled = true, forceHttps = false, portUnification = false, needClientAuth = false, tls = {} }: AdminOptions,
  problems: string[],
  notices: string[],
): TlsConfig | undefined {
  if (!enabled || (!forceHttps && !portUnification)) return undefined;
  return parseTls({ ...tls, clientAuth: needClientAuth ? "need" : "none" }, "ssl.quorum", problems, notices);
}

/** @returns undefined if the port is not configured */
export function parseMetrics(options: MetricsOptions | undefined, whole: WholeNumber): MetricsConfig | undefined {
  if (options === undefined || options.enabled === false) return undefined;
  return {
    port: whole("metricsProvider.httpPort", options.port ?? 7000, 0, 65_535),
    address: options.address ?? "*",
    exportJvmInfo: options.exportJvmInfo ?? true,
  };
}
