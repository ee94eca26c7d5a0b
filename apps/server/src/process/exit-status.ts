import { BackupError } from "@zooid/backup";
import {
  ConfigError,
  FollowError,
  OfflineError,
  PeerPortError,
  type ServerOptions,
  StoreError,
} from "@zooid/embedded-server";
import { hostPort } from "@zooid/model";
import { InterruptedError } from "../offline/interruptible.ts";

/** How the process ends, for supervisors: which of these a restart can help is in the README. */
export const ExitStatus = {
  OK: 0,
  UNEXPECTED: 1,
  CONFIG: 2,
  DATA_IN_USE: 3,
  /** A target of backups could not be used, and nothing was changed. */
  TARGET: 4,
  PORT: 5,
  /** A request of the operator was refused, and nothing was changed. */
  REFUSED: 6,
  DATA_UNREADABLE: 7,
  STORAGE_FAILED: 20,
  DATA_DAMAGED: 21,
  DATA_FOREIGN: 22,
  DATA_NEWER: 23,
} as const;
export type ExitStatus = (typeof ExitStatus)[keyof typeof ExitStatus];

/** As shells have it for SIGINT: a signal ended a command. */
export const INTERRUPTED_STATUS = 130;

/** The status for what stopped the server. */
export function exitStatusOf(error: unknown): ExitStatus | typeof INTERRUPTED_STATUS {
  if (error instanceof ConfigError) return ExitStatus.CONFIG;
  if (error instanceof StoreError) return STORE_STATUS[error.code] ?? ExitStatus.UNEXPECTED;
  if (error instanceof BackupError) return BACKUP_STATUS[error.code] ?? ExitStatus.TARGET;
  if (error instanceof InterruptedError) return INTERRUPTED_STATUS;
  if (error instanceof OfflineError || error instanceof FollowError) return ExitStatus.REFUSED;
  if (error instanceof PeerPortError) return ExitStatus.PORT;
  if (error instanceof Error && "code" in error && FULL.has(error.code)) return ExitStatus.STORAGE_FAILED;
  // Beside its ports, the server touches nothing of the system's but its data.
  if (isSystemError(error)) return error.syscall === "listen" ? ExitStatus.PORT : ExitStatus.DATA_UNREADABLE;
  return ExitStatus.UNEXPECTED;
}

/** The file, options and settings of a start. */
export interface StartedWith {
  /** Undefined where the command line alone decides. */
  readonly configFile?: string;
  readonly options: Pick<ServerOptions, "logDir" | "port" | "securePort" | "ensemble">;
  /** Where each setting stands, by its key. */
  readonly origins: ReadonlyMap<string, string>;
}

/**
 * The reason why the server stopped, in a sentence, with the setting that it is about and the
 * remedy.
 *
 * @param started undefined where the command line could not be read, or the server runs already
 */
export function explain(error: unknown, started?: StartedWith): string {
  if (isSystemError(error) && error.syscall === "listen") return explainPort(error, started);
  if (error instanceof PeerPortError)
    return behindLine(`server.${started?.options.ensemble?.sid}`, error.message, started);
  if (isSystemError(error)) {
    const text = `the data directory cannot be used: ${error.message}`;
    return behindLine(directoryKey(error.path, started), text, started);
  }
  if (error instanceof StoreError) return behindLine(directoryKey(pathOf(error), started), error.message, started);
  return error instanceof Error ? error.message : String(error);
}

/**
 * As in other problems of the file, whose line is in front: the sentence itself does not name the
 * setting.
 */
function behindLine(key: string, text: string, started: StartedWith | undefined): string {
  const origin = started?.origins.get(key);
  if (origin === undefined || started?.configFile === undefined || !origin.startsWith("line ")) return text;
  return `${started.configFile}: ${key} (${origin}): ${text}`;
}

function pathOf({ detail }: StoreError): string | undefined {
  if ("file" in detail) return detail.file;
  return "directory" in detail ? detail.directory : undefined;
}

function directoryKey(path: string | undefined, started: StartedWith | undefined): string {
  const logDir = started?.options.logDir;
  return logDir !== undefined && path !== undefined && `${path}/`.startsWith(`${logDir}/`) ? "dataLogDir" : "dataDir";
}

const STORE_STATUS: Readonly<Partial<Record<StoreError["code"], ExitStatus>>> = {
  LOCKED: ExitStatus.DATA_IN_USE,
  FOREIGN: ExitStatus.DATA_FOREIGN,
  NEWER_FORMAT: ExitStatus.DATA_NEWER,
  UNKNOWN_LEVEL: ExitStatus.DATA_NEWER,
  UNREADABLE: ExitStatus.DATA_UNREADABLE,
  NOT_DURABLE: ExitStatus.DATA_UNREADABLE,
  DAMAGED: ExitStatus.DATA_DAMAGED,
  UNFINISHED: ExitStatus.DATA_DAMAGED,
  LOG_SHORTENED: ExitStatus.DATA_DAMAGED,
  WRITE_FAILED: ExitStatus.STORAGE_FAILED,
  NOT_OPENED: ExitStatus.STORAGE_FAILED,
  DISK_FULL: ExitStatus.STORAGE_FAILED,
};

const BACKUP_STATUS: Readonly<Partial<Record<BackupError["code"], ExitStatus>>> = {
  SETTING: ExitStatus.CONFIG,
  NO_BACKUP: ExitStatus.REFUSED,
  FOREIGN: ExitStatus.DATA_FOREIGN,
};

/** Codes of the system and of SQLite for a disk without room. */
const FULL: ReadonlySet<unknown> = new Set(["ENOSPC", "EDQUOT", "SQLITE_FULL", "SQLITE_IOERR_SHMSIZE"]);

const PORT_MAX = 65_535;

interface SystemError extends Error {
  readonly code: string;
  readonly syscall: string;
  readonly path?: string;
  readonly address?: string;
  readonly port?: number;
}

function isSystemError(error: unknown): error is SystemError {
  return error instanceof Error && "code" in error && "syscall" in error;
}

function nextPort(port: number): number {
  return port < PORT_MAX ? port + 1 : port - 1;
}

function explainPort({ code, address, port = 0, message }: SystemError, started: StartedWith | undefined): string {
  const isSecure = port === started?.options.securePort;
  const setting = settingOf(isSecure ? "secureClientPort" : "clientPort", started);
  switch (code) {
    case "EADDRINUSE":
      return (
        `port ${port} on ${address} is taken by another process, perhaps by a server that still runs; ` +
        (started?.configFile === undefined
          ? `end that one, or choose another port: npx zooid-server --port ${nextPort(port)} --data data-${nextPort(port)}`
          : `end that one, or choose another port with ${setting}`)
      );
    case "EACCES":
      return `port ${port} on ${address} needs more rights than this process has; choose one above 1023 with ${setting}`;
    case "EADDRNOTAVAIL":
      return `${address} is not an address of this machine; see ${settingOf(isSecure ? "secureClientPortAddress" : "clientPortAddress", started)}`;
    default:
      return `cannot listen on ${hostPort(address ?? "*", port)}: ${message}`;
  }
}

const OPTION_OF: Readonly<Record<string, string>> = { clientPort: "--port", clientPortAddress: "--address" };

/** A setting, or the server's line that says it instead, with the file and line where it stands. */
function settingOf(key: string, started: StartedWith | undefined): string {
  const option = OPTION_OF[key];
  if (started?.configFile === undefined) return option === undefined ? key : `${key} or ${option}`;
  const { configFile, options, origins } = started;
  const origin = origins.get(key);
  const member = `server.${options.ensemble?.sid}`;
  const line = origins.get(member);
  const isOfLine = origin === undefined && line !== undefined && option !== undefined;
  const [name, where] = isOfLine ? [`the client part of ${member}`, line] : [key, origin];
  if (where === undefined) return `${name} in ${configFile}`;
  return where.startsWith("line ") ? `${name} in ${configFile} (${where})` : `${name} (${where})`;
}
