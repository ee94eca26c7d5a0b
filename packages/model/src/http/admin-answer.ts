/** Answers of admin ports, and what other services send in their place, for all that ask them. */
import { found, foundBytes } from "../arguments/found.ts";

/** The fields of an answer. `error` is the reason of a refusal, or null. */
export type AdminFields = Readonly<Record<string, unknown>>;

/**
 * The fields of an admin command's answer; undefined for the answer of another service. Every admin
 * server, Apache's too, names the command in each of its answers.
 */
export function adminFields(body: string): AdminFields | undefined {
  let fields: unknown;
  try {
    fields = JSON.parse(body);
  } catch {
    return undefined;
  }
  if (typeof fields !== "object" || fields === null || Array.isArray(fields)) return undefined;
  return "command" in fields && typeof fields.command === "string" ? (fields as AdminFields) : undefined;
}

/** The kind of page that came in place of an admin command's answer. */
export function foreignAdminAnswer(status: number, body: string): string {
  return `no admin port: it answers with status ${status} and ${body === "" ? "no body" : found(body.trim().split(/[\r\n]/, 1)[0])}`;
}

/** Causes by the codes that the system and Node.js have for them. */
const REASONS: ReadonlyMap<string, string> = new Map([
  ["ECONNREFUSED", "connection refused: no process listens on this port"],
  ["ERR_SSL_WRONG_VERSION_NUMBER", "the port does not speak TLS: its URL begins with http://"],
  ["EPROTO", "the port does not speak TLS: its URL begins with http://"],
  ["UND_ERR_SOCKET", "the connection was closed without an answer: another service, or a port with TLS"],
  ["UND_ERR_HEADERS_OVERFLOW", "the port does not speak HTTP: it sends without an end"],
]);

/** Why a request of `fetch` has no answer, from its error. */
export function fetchFault(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  if (!(cause instanceof Error)) return found(cause);
  if (cause.name === "TimeoutError") return "no answer in time";
  if (cause.name === "HTTPParserError") return `the port does not speak HTTP: it sent ${sentBytes(cause)}`;
  // The standard of `fetch` has a list of ports, and this text for all of them.
  if (cause.message === "bad port")
    return "the port belongs to another protocol, and fetch never asks it: use another one";
  return REASONS.get("code" in cause ? String(cause.code) : "") ?? cause.message;
}

/** The parser keeps the bytes at which it stopped, as text. */
function sentBytes(error: Error): string {
  const data: unknown = "data" in error ? error.data : undefined;
  return typeof data === "string" ? foundBytes(new TextEncoder().encode(data)) : "another answer";
}
