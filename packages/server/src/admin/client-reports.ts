/**
 * Reports that name clients' users, and the nodes that they write: for those who have every
 * permission on the root, and for the console in this process. Apache ZooKeeper has no such
 * commands.
 */
import { TLSSocket } from "node:tls";
import { formatSessionId, hostPort, type Identity } from "@zooid/model";
import type { ClientConnection } from "../clients/client-connection.ts";
import type { AuditCursor, AuditTailEntry } from "../operators/audit-tail.ts";
import { type AdminView, isServing, NOT_SERVING } from "./admin-view.ts";
import { type Json, JsonFields, JsonItems, javaJsonPieces } from "./java-json.ts";

/** A command that other parts of this process ask, without the requester's rights. */
export type AdminReport = "audit_tail" | "session_clients";

/** Lines of one answer of `audit_tail`. */
const AUDIT_LINES_MAX = 500;
/** Sessions of one answer of `session_clients`; an answer with more says that it was cut. */
const SESSIONS_MAX = 10_000;
/** Users of one session that are listed, and characters of each. */
const USERS_MAX = 20;
const USER_CHARS_MAX = 256;
const WHOLE = /^\d{1,15}$/;

/** A parameter is wrong. */
export class BadParameter {
  readonly error: string;

  constructor(error: string) {
    this.error = error;
  }
}

/** The newest writes of this server's clients, from the first such request on. */
export function auditTail({ auditTail: tail, config }: AdminView, query: URLSearchParams): JsonFields | BadParameter {
  const limit = wholeOf(query, "limit", AUDIT_LINES_MAX);
  const number = wholeOf(query, "after", 0);
  const sinceMs = wholeOf(query, "since", 0);
  for (const found of [limit, number, sinceMs]) if (found instanceof BadParameter) return found;
  if (typeof limit !== "number" || limit < 1 || limit > AUDIT_LINES_MAX) {
    return new BadParameter(`limit is a number of lines from 1 to ${AUDIT_LINES_MAX}, not ${query.get("limit")}`);
  }
  const page = tail.read(cursorOf(sinceMs, number), limit);
  return new JsonFields([
    ["server_id", config.ensemble?.sid ?? 0],
    ["since", page.sinceMs],
    ["dropped", page.droppedCount],
    ["lines", new JsonItems(linesOf(page.entries))],
  ]);
}

function cursorOf(sinceMs: number | BadParameter, number: number | BadParameter): AuditCursor | undefined {
  return typeof sinceMs === "number" && typeof number === "number" ? { sinceMs, number } : undefined;
}

function* linesOf(entries: readonly AuditTailEntry[]): Generator<Json, void, undefined> {
  for (const entry of entries) {
    const { number, atMs, session, user = null, address = null, operation, path = null, result, isCut } = entry;
    yield { number, time: atMs, session, user, ip: address, operation, znode: path, result, is_cut: isCut };
  }
}

/** The users of each session that is connected here, and how its client connects. */
export function sessionClients(view: AdminView): JsonFields {
  let count = 0;
  function* clients(): Generator<Json | undefined, void, undefined> {
    for (const connection of view.driver.connections()) {
      const known = view.driver.replica.connection(connection.ref);
      if (known?.session === undefined) yield undefined;
      else if (++count > SESSIONS_MAX) return;
      else yield clientOf(connection, known.session.id, known.identities);
    }
  }
  function* fields(): Generator<readonly [string, Json], void, undefined> {
    yield ["sessions", new JsonItems(clients())];
    if (count > SESSIONS_MAX) yield ["truncated", true];
  }
  return new JsonFields(fields());
}

function clientOf(
  { address, port, socket, sentReadOnly }: ClientConnection,
  session: Parameters<typeof formatSessionId>[0],
  identities: readonly Identity[],
): Json {
  const users = identities.filter(({ scheme }) => scheme !== "ip").map(userText);
  return {
    session_id: formatSessionId(session),
    remote_socket_address: hostPort(address, port),
    users: users.slice(0, USERS_MAX),
    user_count: users.length,
    certificate_subject: identities.find(({ scheme }) => scheme === "x509")?.id ?? null,
    is_secure: socket instanceof TLSSocket,
    knows_read_only: sentReadOnly,
  };
}

/** `scheme:name`; of a digest the part before the hash. */
function userText({ scheme, id }: Identity): string {
  const name = scheme === "digest" ? id.replace(/:.*$/s, "") : id;
  const text = name === "" ? scheme : `${scheme}:${name}`;
  return text.slice(0, USER_CHARS_MAX).toWellFormed();
}

function wholeOf(query: URLSearchParams, name: string, absent: number): number | BadParameter {
  const text = query.get(name);
  if (text === null) return absent;
  return WHOLE.test(text) ? Number(text) : new BadParameter(`${name} is a whole number, not ${JSON.stringify(text)}`);
}

/** The fields of a report, for other parts of this process; `error` where there are none. */
export async function adminReport(
  view: AdminView,
  report: AdminReport,
  query: Readonly<Record<string, string>>,
): Promise<Readonly<Record<string, unknown>>> {
  if (!isServing(view)) return { error: NOT_SERVING };
  const found = report === "audit_tail" ? auditTail(view, new URLSearchParams(query)) : sessionClients(view);
  if (found instanceof BadParameter) return { error: found.error };
  const text = await view.slices.text(javaJsonPieces(found));
  return Object.fromEntries(Object.entries<unknown>(JSON.parse(text)));
}
