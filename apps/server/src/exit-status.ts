import { hostPort } from "@zooid/model";
import { ConfigError, OfflineError, PeerPortError, StoreError } from "@zooid/server";

/** How the process ends, for supervisors: which of these a restart can help is in the README. */
export const ExitStatus = {
  OK: 0,
  UNEXPECTED: 1,
  CONFIG: 2,
  DATA_IN_USE: 3,
  PORT: 5,
  /** What an operator asked for was not done, and nothing was changed. */
  REFUSED: 6,
  DATA_UNREADABLE: 7,
  STORAGE_FAILED: 20,
  DATA_DAMAGED: 21,
  DATA_FOREIGN: 22,
  DATA_NEWER: 23,
} as const;
export type ExitStatus = (typeof ExitStatus)[keyof typeof ExitStatus];

/** The status for what stopped the server. */
export function exitStatusOf(error: unknown): ExitStatus {
  if (error instanceof ConfigError) return ExitStatus.CONFIG;
  if (error instanceof StoreError) return storeStatus(error);
  if (error instanceof OfflineError) return ExitStatus.REFUSED;
  if (error instanceof PeerPortError) return ExitStatus.PORT;
  // Beside its ports, the server touches nothing of the system's but its data.
  if (isSystemError(error)) return error.syscall === "listen" ? ExitStatus.PORT : ExitStatus.DATA_UNREADABLE;
  return ExitStatus.UNEXPECTED;
}

/**
 * What stopped the server, in a sentence, with what helps.
 *
 * @param configFile the file that it was started with; undefined where the command line alone decides
 */
export function explain(error: unknown, configFile?: string): string {
  if (isSystemError(error) && error.syscall === "listen") return explainPort(error, configFile);
  if (isSystemError(error)) return `the data directory cannot be used: ${error.message}`;
  return error instanceof Error ? error.message : String(error);
}

function storeStatus(error: StoreError): ExitStatus {
  switch (error.code) {
    case "LOCKED":
      return ExitStatus.DATA_IN_USE;
    case "FOREIGN":
      return ExitStatus.DATA_FOREIGN;
    case "NEWER_FORMAT":
      return ExitStatus.DATA_NEWER;
    case "UNREADABLE":
    case "NOT_DURABLE":
      return ExitStatus.DATA_UNREADABLE;
    case "DAMAGED":
    case "LOG_SHORTENED":
      return ExitStatus.DATA_DAMAGED;
    case "WRITE_FAILED":
    case "NOT_OPENED":
      return ExitStatus.STORAGE_FAILED;
    default:
      return ExitStatus.UNEXPECTED;
  }
}

const PORT_MAX = 65_535;

interface SystemError extends Error {
  readonly code: string;
  readonly syscall: string;
  readonly address?: string;
  readonly port?: number;
}

function isSystemError(error: unknown): error is SystemError {
  return error instanceof Error && "code" in error && "syscall" in error;
}

function nextPort(port: number): number {
  return port < PORT_MAX ? port + 1 : port - 1;
}

function explainPort({ code, address, port = 0, message }: SystemError, configFile: string | undefined): string {
  switch (code) {
    case "EADDRINUSE":
      return (
        `port ${port} on ${address} is taken by another process, perhaps by a server that still runs; ` +
        (configFile === undefined
          ? `end that one, or choose another port: npx zooid-server --port ${nextPort(port)} --data data-${nextPort(port)}`
          : `end that one, or choose another port with clientPort in ${configFile}, or in the client part of this server's line`)
      );
    case "EACCES":
      return `port ${port} on ${address} needs more rights than this process has; choose one above 1023`;
    case "EADDRNOTAVAIL":
      return `${address} is not an address of this machine; see clientPortAddress or --address`;
    default:
      return `cannot listen on ${hostPort(address ?? "*", port)}: ${message}`;
  }
}
