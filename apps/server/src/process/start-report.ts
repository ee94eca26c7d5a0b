import { formatZxid, hostPort, ZXID_NONE, type Zxid } from "@zooid/model";
import { askedHost } from "../configuration/asked-host.ts";
import type { ProcessLog } from "../logs/logger.ts";

/** The facts that an operator reads of a server that has started. */
export interface StartFacts {
  readonly version: string;
  readonly client: { readonly address: string; readonly port: number };
  /** Undefined where clients have no TLS port. */
  readonly securePort: number | undefined;
  readonly dataDir: string | undefined;
  /** A sentence about the start: `recovered 5 znodes and 0 sessions at 0x0 in 4 ms, …`. */
  readonly recovered: string;
  /** {@link ZXID_NONE} where the data is new. */
  readonly zxid: Zxid;
  /** Undefined where the admin port is closed. */
  readonly admin: { readonly url: string } | undefined;
  /** Undefined where there is none. */
  readonly metricsPort: number | undefined;
  /** The Apache servers that are followed; undefined where clients are served. */
  readonly follows?: string | undefined;
}

/** Reports a start: to the log, or to a person on a terminal. */
export interface StartReport {
  /** Once, when clients can connect. */
  serving(facts: StartFacts): void;
  /** Once, after {@link serving}; undefined where no console is served. */
  console(url: string | undefined): void;
}

/** Where zooid-cli connects by default. */
const CLI_DEFAULT = "127.0.0.1:2181";

/**
 * Four lines on a terminal, one line for each fact in the log elsewhere.
 *
 * @param isTerminal whether a person reads the output
 * @param print takes one line for that person
 */
export function startReport(log: ProcessLog, isTerminal: boolean, print: (line: string) => void): StartReport {
  const isQuiet = log.level === "warn" || log.level === "error";
  return isTerminal && !isQuiet ? terminalReport(print) : logReport(log);
}

function terminalReport(print: (line: string) => void): StartReport {
  let started: StartFacts | undefined;
  return {
    serving: (facts) => {
      started = facts;
    },
    console: (url) => {
      if (started !== undefined) for (const line of terminalLines(started, url)) print(line);
    },
  };
}

function logReport(log: ProcessLog): StartReport {
  return {
    serving: ({ version, client, securePort, dataDir, recovered, admin, metricsPort, follows }) => {
      if (admin !== undefined)
        log.info(`operators are answered on ${admin.url}, /readyz and /metrics`, { event: "operator-port" });
      if (metricsPort !== undefined)
        log.info(`metrics are answered on port ${metricsPort} at /metrics`, { event: "metrics-port" });
      if (securePort !== undefined && securePort !== client.port && follows === undefined)
        log.info(`clients that speak TLS come to port ${securePort}`, { event: "tls-port" });
      const does =
        follows === undefined
          ? `serves ZooKeeper clients on ${hostPort(client.address, client.port)}`
          : `follows the Apache ensemble at ${follows} and serves no clients`;
      log.info(
        `zooid-server ${version} ${does}, ` +
          `data in ${dataDir ?? "memory"} (${recovered}), Node.js ${process.versions.node}, process ${process.pid}`,
        { event: "serving" },
      );
    },
    console: (url) => {
      if (url !== undefined) log.info(`the console is at ${url}`, { event: "console" });
    },
  };
}

/**
 * The lines for a person at a terminal: addresses for clients, the place of the data, the console,
 * and a command to try.
 */
export function terminalLines(facts: StartFacts, consoleUrl: string | undefined): readonly string[] {
  const { version, client, dataDir = "memory", recovered, zxid, follows, admin } = facts;
  const state = zxid === ZXID_NONE ? "new" : `${recovered}, last zxid ${formatZxid(zxid)}`;
  if (follows !== undefined)
    return [
      `Zooid ${version} follows the Apache ensemble at ${follows} and serves no clients`,
      `Data:    ${dataDir} (${state})`,
      ...(consoleUrl === undefined ? [] : [`Console: ${consoleUrl}`]),
      ...(admin === undefined ? [] : [`Try, in another terminal: curl ${admin.url}/follow_status`]),
    ];
  return [
    `Zooid ${version} serves ZooKeeper clients on ${hostPort(client.address, client.port)}`,
    `Data:    ${dataDir} (${state})`,
    `Console: ${consoleUrl ?? "not served"}`,
    `Try, in another terminal: ${commandToTry(facts)}`,
  ];
}

function commandToTry({ client: { address, port }, securePort, zxid }: StartFacts): string {
  // Clients need certificates there; the server knows its own.
  if (port === securePort) return "npx zooid-server status ZOO.CFG";
  const server = hostPort(askedHost(address), port);
  const cli = server === CLI_DEFAULT ? "npx zooid-cli" : `npx zooid-cli -server ${server}`;
  return zxid === ZXID_NONE ? `${cli} create /greeting hello` : `${cli} ls /`;
}
