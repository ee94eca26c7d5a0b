import type { LogSettings } from "@zooid/txn-log";
import type { ServerConfig, ServerOptions } from "./config.ts";
import type { HistoryOptions } from "./disk/history-reports.ts";

/**
 * The settings that a reload changes in a running server, beside certificates and the links between
 * servers: limits, thresholds, the retention of log and history, and the place of the backup.
 */
export type LiveSettings = Pick<
  ServerConfig,
  | "fourLetterWords"
  | "connectionsPerAddressMax"
  | "connectionsMax"
  | "connectionThrottle"
  | "sessionTimeoutMsMin"
  | "sessionTimeoutMsMax"
  | "enforceQuota"
  | "heldBytesMax"
  | "multiPartsMax"
  | "childrenBytesMax"
  | "watchBytesMax"
  | "slowRequestMs"
  | "fsyncWarnMs"
  | "retention"
  | "history"
  | "backup"
  | "disk"
  | "auth"
>;

/** The settings of a running server that the options lead to. */
export interface NextSettings {
  readonly settings: LiveSettings;
  /** Why they do not fit with what stays in force until the next start, a sentence each. */
  readonly problems: readonly string[];
}

/**
 * @param options the new ones
 * @param next what a start would make of them
 * @param inForce what this server started with; a tick of another length waits for the next start
 */
export function liveSettingsOf(
  { sessionTimeoutMsMin, sessionTimeoutMsMax }: ServerOptions,
  next: ServerConfig,
  inForce: ServerConfig,
): NextSettings {
  const isOtherTick = next.tickMs !== inForce.tickMs;
  const min = isOtherTick && isDefault(sessionTimeoutMsMin) ? 2 * inForce.tickMs : next.sessionTimeoutMsMin;
  const max = isOtherTick && isDefault(sessionTimeoutMsMax) ? 20 * inForce.tickMs : next.sessionTimeoutMsMax;
  const problems =
    min > max
      ? [
          `minSessionTimeout (${min}) is above maxSessionTimeout (${max}) while tickTime is ${inForce.tickMs}: tickTime changes at the next start`,
        ]
      : [];
  const isKept = isHistoryKept(next.history, inForce.history);
  const settings: LiveSettings = {
    fourLetterWords: next.fourLetterWords,
    connectionsPerAddressMax: next.connectionsPerAddressMax,
    connectionsMax: next.connectionsMax,
    connectionThrottle: next.connectionThrottle,
    sessionTimeoutMsMin: min,
    sessionTimeoutMsMax: max,
    enforceQuota: next.enforceQuota,
    heldBytesMax: next.heldBytesMax,
    multiPartsMax: next.multiPartsMax,
    childrenBytesMax: next.childrenBytesMax,
    watchBytesMax: next.watchBytesMax,
    slowRequestMs: next.slowRequestMs,
    fsyncWarnMs: next.fsyncWarnMs,
    retention: next.retention,
    history: isKept ? next.history : inForce.history,
    backup: isKept ? next.backup : inForce.backup,
    disk: { ...inForce.disk, ...next.disk },
    auth: { ...inForce.auth, failures: next.auth.failures },
  };
  return { settings, problems };
}

/**
 * Whether a history is kept before and after a change: it begins and ends, with its backup, at a
 * start.
 */
function isHistoryKept(...histories: readonly (HistoryOptions | undefined)[]): boolean {
  return histories.every((history) => (history?.retainMs ?? 0) > 0);
}

/** Those that concern the log of a store. */
export function logSettingsOf({
  retention,
  fsyncWarnMs,
}: Pick<ServerConfig, "fsyncWarnMs" | "retention">): LogSettings {
  return { logKeepBytes: retention.bytes, retentionMs: retention.ms, fsyncWarnMs };
}

/** -1 is Apache's word for a default. */
function isDefault(timeoutMs: number | undefined): boolean {
  return timeoutMs === undefined || timeoutMs === -1;
}
