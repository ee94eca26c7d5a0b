/** Findings about clients' sessions. */
import { counted, formatSessionId, type SessionId } from "@zooid/model";
import { type Finding, finding } from "../finding.ts";
import type { ApacheFacts, ApacheServerFacts } from "./apache-facts.ts";
import { APACHE_SETTINGS, isOn, namesOf } from "./seen-setting.ts";

/** A take-over ends within half of the shortest timeout: below this it has no room. */
export const SESSION_TIMEOUT_MS_MIN = 6000;
const SHOWN_MAX = 10;

export function sessions({ servers }: ApacheFacts): readonly Finding[] {
  return [...shortTimeouts(servers), ...localSessions(servers)];
}

function shortTimeouts(servers: readonly ApacheServerFacts[]): readonly Finding[] {
  const short = servers
    .flatMap((server) => server.sessions ?? [])
    .filter(({ timeoutMs }) => timeoutMs < SESSION_TIMEOUT_MS_MIN)
    .sort((a, b) => a.timeoutMs - b.timeoutMs);
  if (short.length === 0) return [];
  const shown = short
    .slice(0, SHOWN_MAX)
    .map(({ id, address, timeoutMs }) => `${formatSessionId(id as SessionId)} of ${address} with ${timeoutMs} ms`);
  const more = short.length > SHOWN_MAX ? `, and ${short.length - SHOWN_MAX} more` : "";
  const found = `${counted(short.length, "session has", "sessions have")} less than ${SESSION_TIMEOUT_MS_MIN} ms: ${shown.join(", ")}${more}`;
  return [finding("timeout-short", "clients", found, "raise the session timeout in these clients, and restart them")];
}

function localSessions(servers: readonly ApacheServerFacts[]): readonly Finding[] {
  const enabled = servers.filter((server) => isOn(server, APACHE_SETTINGS.localSessions));
  const open = servers.filter((server) => (server.localSessions ?? 0) > 0);
  const having = [...new Set([...enabled, ...open])];
  if (having.length === 0) return [];
  const count = open.reduce((sum, server) => sum + (server.localSessions ?? 0), 0);
  const found = `localSessionsEnabled=true${count === 0 ? "" : `, and ${counted(count, "local session is", "local sessions are")} open`}`;
  const remedy =
    "set localSessionsEnabled=false and restart the servers one by one, if the clients must keep their sessions";
  return [finding("local-sessions", namesOf(having), found, remedy)];
}
