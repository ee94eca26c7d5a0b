import type { AdminOptions, Report, ZooidServer } from "@zooid/embedded-server";
import { hostPort } from "@zooid/model";
import { Console, wordsByConnection } from "@zooid/web-console";
import { askedHost } from "../configuration/asked-host.ts";
import type { ConsoleSettings } from "../configuration/keys/key-rule.ts";
import type { ProcessLines } from "../logs/log-events.ts";

export interface OpenConsoleOptions {
  readonly server: ZooidServer;
  /** This server's id in its ensemble, if it is in one. */
  readonly sid: number | undefined;
  readonly admin: AdminOptions | undefined;
  readonly settings: ConsoleSettings;
  readonly version: string;
  readonly log: ProcessLines;
}

/** Words that the server answers in its own process, whatever its whitelist. */
const REPORTS: ReadonlySet<string> = new Set<Report>([
  ...(["srvr", "cons", "dump", "conf", "envi"] as const),
  ...(["mntr", "dirs", "wchs", "wchc", "wchp"] as const),
]);
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|::1)$/i;

/** Loads what the console's API needs, before the server serves clients. */
export function loadConsoleApi(): Promise<void> {
  return Console.load();
}

/** The console of this server, which answers on its admin port; undefined where there is none. */
export function openConsole({ server, sid, admin, settings, version, log }: OpenConsoleOptions): Console | undefined {
  if (server.adminPort === undefined || settings.isEnabled === false) return undefined;
  const { readPath } = server;
  if (readPath === undefined && server.port === server.securePort) {
    log.info(
      "the console is not served: its sessions need a client port without TLS; run zooid-console --tls instead",
      {
        event: "console-not-served",
      },
    );
    return undefined;
  }
  const { viewers = [], editors = [], operators = [], hostNames = [], adminUrls = {} } = settings;
  const place = hostPort(askedHost(admin?.address), server.adminPort);
  const ownUrl = `${admin?.tls === undefined ? "http" : "https"}://${place}${admin?.commandUrl ?? "/commands"}`;
  // A server that follows an Apache ensemble has no client port: the page names its admin port.
  const hosts = readPath === undefined ? hostPort(askedHost(server.address), server.port) : place;
  const words = wordsByConnection();
  return new Console({
    hosts,
    hostNames,
    version,
    roles: { viewers, editors, operators },
    ...(readPath === undefined ? {} : { readPath }),
    adminUrls: { [sid ?? 0]: ownUrl, ...adminUrls },
    isLoopback: LOOPBACK.test(admin?.address ?? "127.0.0.1"),
    // Its own words need no connection and no whitelist.
    words: (member, word, signal) => {
      // Without an id it is the one server of the connect string.
      const isOwn = member.sid === null || member.sid === sid;
      if (isOwn && isReport(word)) return server.report(word);
      return words(member, word, signal);
    },
    ownServer: { sid: sid ?? 0, report: (name, query) => server.adminReport(name, query) },
    warn: (text) => log.warn(text, { event: "console-warning" }),
  });
}

function isReport(word: string): word is Report {
  return REPORTS.has(word);
}
