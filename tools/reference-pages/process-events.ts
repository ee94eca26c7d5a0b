import { LOG_EVENTS, type LogEvent } from "@zooid/embedded-server";
import type { ProcessLogEvent } from "zooid-server/internal/logs/log-events";

/** Every kind of line in the log of zooid-server, and when it is written. */
export const PROCESS_EVENTS: Readonly<Record<ProcessLogEvent | LogEvent, string>> = {
  ...LOG_EVENTS,
  "audit-log": "clients' writes are written down in a file, or cannot be",
  console: "the console is served at an address",
  "console-not-served": "the console is not served",
  "console-warning": "a request to the console failed",
  container: "what the container made of its environment",
  "dynamic-file-not-written": "the files of the configuration cannot follow the one in force",
  "metrics-port": "the metrics port is open",
  "operator-port": "the admin port is open",
  "reload-refused": "a reload changed nothing, since the configuration has mistakes",
  reloaded: "a reload was answered: the changed settings, and those that need a restart",
  "server-failed": "the process ends because the server has failed",
  serving: "clients are served",
  "start-failed": "the start failed",
  status: "SIGUSR1 was answered",
  "stop-failed": "the stop failed",
  "stop-forced": "the stop took too long, and the process ends without it",
  stopped: "a role ended because the server stops, or the process has stopped",
  stopping: "a signal stops the server",
  "tls-port": "the port for clients with TLS is open",
};
