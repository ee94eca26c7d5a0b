import type { LogEvent, ServerLog } from "@zooid/embedded-server";

/** Kinds of lines that the process writes beside those of the server in it. */
export type ProcessLogEvent =
  | "audit-log"
  | "console"
  | "console-not-served"
  | "console-warning"
  | "container"
  | "dynamic-file-not-written"
  | "metrics-port"
  | "operator-port"
  | "reload-refused"
  | "reloaded"
  | "server-failed"
  | "serving"
  | "start-failed"
  | "status"
  | "stop-failed"
  | "stop-forced"
  | "stopping"
  | "tls-port";

/** Receives lines of the process and of the server in it. */
export type ProcessLines = ServerLog<LogEvent | ProcessLogEvent>;
