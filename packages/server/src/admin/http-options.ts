import { parseTls, type TlsConfig, type TlsOptions } from "../tls/tls-config.ts";

/** The HTTP port for operators: Apache's admin commands, health probes and metrics. */
export interface AdminOptions {
  /** `admin.enableServer`. Default true. */
  readonly enabled?: boolean;
  /** `admin.serverPort`; 0 lets the system choose. Default 8080. */
  readonly port?: number;
  /** `admin.serverAddress`; `*` for every one. Who can reach it can read all that is told there. Default 127.0.0.1. */
  readonly address?: string;
  /** `admin.commandURL`: where the commands begin. Default `/commands`. */
  readonly commandUrl?: string;
  /** `admin.idleTimeout`: a connection that says nothing for so many milliseconds is closed. Default 30000. */
  readonly idleTimeoutMs?: number;
  /** `admin.forceHttps`: whether it speaks HTTPS, and nothing else. Default false. */
  readonly forceHttps?: boolean;
  /** `admin.needClientAuth`: whether whoever asks needs a certificate; only with `forceHttps`. Default false. */
  readonly needClientAuth?: boolean;
  /** `admin.snapshot.enabled`: whether the state may be taken away, by those who have every permission on the root. Default true. */
  readonly snapshotEnabled?: boolean;
  /** `admin.restore.enabled`: whether they may bring another one. Default true. */
  readonly restoreEnabled?: boolean;
  /** `admin.rateLimiterIntervalInMS`: one restore in so many milliseconds, and a thousand snapshots. Default 300000. */
  readonly rateLimiterIntervalMs?: number;
  /** Key and authorities of HTTPS, which `ssl.quorum.*` name; for these ports they are the same as between servers. */
  readonly tls?: Omit<TlsOptions, "clientAuth">;
}

/** A port that answers `/metrics` and nothing else. */
export interface MetricsOptions {
  /** Whether `metricsProvider.className` asks for it. Default true. */
  readonly enabled?: boolean;
  /** `metricsProvider.httpPort`; 0 lets the system choose. Default 7000. */
  readonly port?: number;
  /** `metricsProvider.httpHost`; `*` for every one. Default `*`. */
  readonly address?: string;
  /** `metricsProvider.exportJvmInfo`: memory and threads under the names of Java's as well, for boards that ask for those. Default true. */
  readonly exportJvmInfo?: boolean;
}

export interface AdminConfig {
  readonly port: number;
  readonly address: string;
  readonly commandUrl: string;
  readonly idleTimeoutMs: number;
  /** Undefined: it is plain. */
  readonly tls: TlsConfig | undefined;
  readonly snapshots: SnapshotCommandsConfig;
}

/** What may be asked of `snapshot` and `restore`. */
export interface SnapshotCommandsConfig {
  readonly isSnapshotEnabled: boolean;
  readonly isRestoreEnabled: boolean;
  /** Between two restores; a thousandth of it between two snapshots. */
  readonly intervalMs: number;
}

/** Where there is no admin port. */
export const NO_SNAPSHOT_COMMANDS: SnapshotCommandsConfig = {
  isSnapshotEnabled: false,
  isRestoreEnabled: false,
  intervalMs: 0,
};
export type MetricsConfig = Required<Omit<MetricsOptions, "enabled">>;

type WholeNumber = (name: string, value: number, min: number, max: number) => number;

const INT_MAX = 2 ** 31 - 1;
const COMMAND_URL = /^(\/[\w.-]+)+\/?$/;

/** @returns undefined where no such port is asked for */
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
  const { forceHttps = false, needClientAuth = false, tls = {} } = options;
  if (needClientAuth && !forceHttps) {
    problems.push("admin.needClientAuth=true asks for certificates, which need admin.forceHttps=true");
  }
  const clientAuth = needClientAuth ? "need" : "none";
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
    tls: forceHttps ? parseTls({ ...tls, clientAuth }, "ssl.quorum", problems, notices) : undefined,
  };
}

/** @returns undefined where no such port is asked for */
export function parseMetrics(options: MetricsOptions | undefined, whole: WholeNumber): MetricsConfig | undefined {
  if (options === undefined || options.enabled === false) return undefined;
  return {
    port: whole("metricsProvider.httpPort", options.port ?? 7000, 0, 65_535),
    address: options.address ?? "*",
    exportJvmInfo: options.exportJvmInfo ?? true,
  };
}
