import { setTimeout as delay } from "node:timers/promises";
import { parseConnectString } from "@zooid/client";
import { adminFields, adminUrlFault, fetchFault, foreignAdminAnswer } from "@zooid/model";
import { adminAuth, FLAG_AUTH } from "./admin-auth.ts";
import { CliError, usageError } from "./cli-error.ts";
import { type Invocation, timeoutMs } from "./command.ts";
import type { Flag } from "./command-flags.ts";
import type { JsonObject } from "./output.ts";

/** Admin commands by HTTP, for what clients' ports do not offer. */

export const ADMIN_FLAGS: readonly Flag[] = [
  { name: "admin", takesValue: true, isOwn: true, meaning: "The server's admin port, as http://host:8080" },
  FLAG_AUTH,
];

const ADMIN_PORT = 8080;
const ANSWER_MS = 15_000;
const NOT_YET_POLL_MS = 250;
/** The status of a server that refuses for now. */
const NOT_YET = 503;
/** Far more than any admin command answers. */
const ANSWER_BYTES_MAX = 2 ** 24;

/** The fields of an answer; `error` is the reason of a refusal. */
export interface AdminAnswer {
  readonly status: number;
  readonly fields: JsonObject;
  readonly error: string | undefined;
}

export async function askAdmin(
  invocation: Invocation,
  path: string,
  method: "GET" | "POST" = "POST",
): Promise<AdminAnswer> {
  const { response, url } = await fetchAdmin(invocation, `commands/${path}`, method);
  const fields = await fieldsOf(response, url);
  const error = fields["error"];
  return { status: response.status, fields, error: typeof error === "string" ? error : undefined };
}

/** A page of the admin port beside its commands, whatever its status. */
export async function askAdminText(
  invocation: Invocation,
  path: string,
): Promise<{ readonly origin: string; readonly status: number; readonly text: string }> {
  const { response, url } = await fetchAdmin(invocation, path, "GET");
  return { origin: url.origin, status: response.status, text: await textOf(response, url) };
}

/**
 * A page of an admin port, without credentials and whatever its status. For a look at many ports:
 * the caller says why it looks, and until when.
 *
 * @throws CliError with the reason why there is no answer
 */
export async function adminPage(
  base: URL,
  path: string,
  signal: AbortSignal,
): Promise<{ readonly status: number; readonly text: string }> {
  const url = new URL(path, base);
  let response: Response;
  try {
    response = await fetch(url, { signal, redirect: "manual" });
  } catch (error) {
    throw new CliError(fetchFault(error), { code: "NOT_CONNECTED" });
  }
  return { status: response.status, text: await textOf(response, url) };
}

export interface AdminPlace {
  readonly base: URL;
  /** The value of the header `Authorization`. */
  readonly auth: string | undefined;
}

/**
 * A command of an admin port, for those that ask several ports.
 *
 * @throws CliError with the reason why there is no answer
 */
export async function askAdminAt(
  { base, auth }: AdminPlace,
  path: string,
  { method, signal }: { readonly method: "GET" | "POST"; readonly signal: AbortSignal },
): Promise<AdminAnswer> {
  const url = new URL(`commands/${path}`, base);
  const headers: Record<string, string> = auth === undefined ? {} : { authorization: auth };
  let response: Response;
  try {
    response = await fetch(url, { method, signal, redirect: "manual", headers });
  } catch (error) {
    throw new CliError(`no answer from the admin port at ${url.origin}: ${fetchFault(error)}`, {
      code: "NOT_CONNECTED",
    });
  }
  const fields = await fieldsOf(response, url);
  const error = fields["error"];
  return { status: response.status, fields, error: typeof error === "string" ? error : undefined };
}

async function fetchAdmin(
  invocation: Invocation,
  path: string,
  method: "GET" | "POST",
): Promise<{ readonly response: Response; readonly url: URL }> {
  const url = new URL(path, adminBase(invocation));
  const auth = adminAuth(invocation);
  const signal = AbortSignal.any([invocation.signal, AbortSignal.timeout(ANSWER_MS)]);
  try {
    // No admin port redirects, and another service would be given the credentials.
    const headers: Record<string, string> = auth === undefined ? {} : { authorization: auth };
    const response = await fetch(url, { method, signal, redirect: "manual", headers });
    return { response, url };
  } catch (error) {
    invocation.signal.throwIfAborted();
    throw new CliError(`no answer from the admin port at ${url.origin}: ${fetchFault(error)}`, {
      code: "NOT_CONNECTED",
      hint: "name the admin port of the server with --admin http://host:port",
    });
  }
}

/** The fields of an answer, or its reason as an error. */
export async function demandAdmin(
  invocation: Invocation,
  path: string,
  method: "GET" | "POST" = "POST",
): Promise<JsonObject> {
  const { status, fields, error } = await askAdmin(invocation, path, method);
  if (error === undefined) return fields;
  if (status === 401 || status === 403) {
    throw new CliError(`the server refuses: ${error}`, {
      code: "NO_AUTH",
      hint: "give --auth 'digest super:password', or set ZOOID_ADMIN_AUTH",
    });
  }
  throw new CliError(`the server refuses: ${error}`, { code: "REFUSED" });
}

/** With `--wait` asks again while the server refuses for now, and shows each new reason. */
export async function demandAdminWaiting(invocation: Invocation, path: string): Promise<JsonObject> {
  const { flags, output, signal } = invocation;
  const limitMs = timeoutMs(flags) ?? Number.POSITIVE_INFINITY;
  const startMs = performance.now();
  let shown: string | undefined;
  while (flags.has("wait") && performance.now() - startMs < limitMs) {
    const { status, fields, error } = await askAdmin(invocation, path);
    if (error === undefined) return fields;
    if (status !== NOT_YET) break;
    if (error !== shown) output.line(`waiting: ${error}`);
    shown = error;
    await delay(NOT_YET_POLL_MS, undefined, { signal });
  }
  return await demandAdmin(invocation, path);
}

/** The fields of an answer that a command prints as JSON: without those of every answer. */
export function shownFields({ command: _, error: __, ...shown }: JsonObject): JsonObject {
  return shown;
}

async function fieldsOf(response: Response, url: URL): Promise<JsonObject> {
  const text = await textOf(response, url);
  const fields = adminFields(text);
  if (fields !== undefined) return fields as JsonObject;
  throw new CliError(`${url.origin} is ${foreignAdminAnswer(response.status, text)}`, { code: "UNREADABLE_ANSWER" });
}

/** The body, up to a limit: a port of something else may send without an end. */
async function textOf({ body }: Response, { origin }: URL): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body ?? []) {
      const part: Uint8Array = chunk;
      bytes += part.length;
      if (bytes > ANSWER_BYTES_MAX) break;
      chunks.push(part);
    }
  } catch (error) {
    throw new CliError(`the answer of ${origin} has no end: ${fetchFault(error)}`, { code: "UNREADABLE_ANSWER" });
  }
  if (bytes > ANSWER_BYTES_MAX) {
    throw new CliError(`the answer of ${origin} has more than ${ANSWER_BYTES_MAX} bytes`, {
      code: "UNREADABLE_ANSWER",
    });
  }
  return Buffer.concat(chunks).toString();
}

/** The admin port that a command asks: `--admin`, or port 8080 of the first server. */
export function adminBase({ flags, connection }: Invocation): URL {
  const text = flags.value("admin") ?? `http://${firstHost(connection.server)}:${ADMIN_PORT}`;
  const fault = adminUrlFault(text);
  if (fault === undefined) return new URL(text.endsWith("/") ? text : `${text}/`);
  const place = text.includes("@") ? "; credentials go into --auth or ZOOID_ADMIN_AUTH" : "";
  throw usageError(`--admin: ${fault}${place}`);
}

function firstHost(connectString: string): string {
  const [first] = parseConnectString(connectString).hosts;
  const host = first?.host ?? "localhost";
  return host.includes(":") ? `[${host}]` : host;
}
