import { type IncomingHttpHeaders, request } from "node:http";
import { digestId } from "@zooid/client";
import { includesRole, type Role, type RoleOptions } from "../access/role.ts";

/** A refusal by the console itself, before anything of the request is carried out. */
export interface Refusal {
  readonly status: number;
  readonly code: string;
}

/** A kind of requester: the headers that it sends, and its rights. */
export interface Requester {
  readonly name: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Undefined: none. */
  readonly role?: Role;
  /** The refusal of every request. */
  readonly refusal?: Refusal;
  /** The refusal of every request that changes something. */
  readonly changeRefusal?: Refusal;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  // biome-ignore lint/suspicious/noExplicitAny: tests read the fields that they expect
  readonly json: any;
}

const USERS = { viewer: "vera", editor: "edda", operator: "otto" } as const;
const passwordOf = (role: Role): string => `secret of a ${role}`;
const idOf = (role: Role): string => `digest:${digestId(USERS[role], passwordOf(role))}`;

export const ROLES_OF_REQUESTERS: RoleOptions = {
  viewers: [idOf("viewer")],
  editors: [idOf("editor")],
  operators: [idOf("operator")],
};

const LOGIN_FAILED: Refusal = { status: 401, code: "LOGIN_FAILED" };
const NO_CREDENTIALS: Refusal = { status: 401, code: "AUTHORIZATION" };
const CSRF: Refusal = { status: 403, code: "CSRF" };
const OTHER_SITE: Refusal = { status: 403, code: "OTHER_SITE" };

/**
 * The last address that a request came from. Failed logins delay their address: so each has one of
 * its own.
 */
let address = 1;

/** One request, from an address of its own. */
export function ask(url: string, method: string, headers: object = {}, body?: unknown): Promise<HttpAnswer> {
  address++;
  const localAddress = `127.${1 + ((address >> 16) & 63)}.${(address >> 8) & 255}.${1 + (address & 127)}`;
  const text = body === undefined ? undefined : JSON.stringify(body);
  const type =
    text === undefined ? {} : { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(text) };
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, localAddress, headers: { ...type, ...headers } }, (answer) => {
      const parts: Buffer[] = [];
      answer.on("data", (part: Buffer) => parts.push(part));
      answer.once("error", reject);
      answer.once("end", () => {
        const found = Buffer.concat(parts).toString();
        const json = found.startsWith("{") ? JSON.parse(found) : undefined;
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, json });
      });
    });
    sent.once("error", reject);
    sent.end(text);
  });
}

/**
 * Every kind of requester at a console with {@link ROLES_OF_REQUESTERS}, logged in where it needs
 * to be.
 */
export async function requestersOf(api: string): Promise<readonly Requester[]> {
  const basic = (text: string): string => `Basic ${Buffer.from(text).toString("base64")}`;
  const headerOf = (role: Role): string => `digest ${USERS[role]}:${passwordOf(role)}`;
  const logins = {
    viewer: await login(api, "viewer"),
    editor: await login(api, "editor"),
    operator: await login(api, "operator"),
  };
  const ended = await login(api, "operator");
  await ask(`${api}/logout`, "POST", ended);
  const { Cookie: operatorCookie, "X-CSRF-Token": operatorToken } = logins.operator;
  const { Cookie: viewerCookie, "X-CSRF-Token": viewerToken } = logins.viewer;
  const [cookieName = ""] = operatorCookie.split("=");
  const anonymousToken = String((await ask(`${api}/session`, "GET")).json.csrfToken);
  return [
    { name: "no credential", headers: {} },
    { name: "an invented user", headers: { Authorization: "digest nobody:x" }, refusal: LOGIN_FAILED },
    {
      name: "the right user with a wrong password",
      headers: { Authorization: `digest ${USERS.operator}:wrong` },
      refusal: LOGIN_FAILED,
    },
    {
      name: "the right user with no password",
      headers: { Authorization: basic(`${USERS.operator}:`) },
      refusal: LOGIN_FAILED,
    },
    {
      name: "the right user with another user's password",
      headers: { Authorization: `digest ${USERS.operator}:${passwordOf("viewer")}` },
      refusal: LOGIN_FAILED,
    },
    { name: "the superuser, without a role", headers: { Authorization: "digest super:test" }, refusal: LOGIN_FAILED },
    { name: "another scheme", headers: { Authorization: "Bearer x" }, refusal: NO_CREDENTIALS },
    { name: "an empty header", headers: { Authorization: "" }, refusal: NO_CREDENTIALS },
    {
      name: "an identity instead of a password",
      headers: { Authorization: `digest ${idOf("operator").slice("digest:".length)}` },
      refusal: LOGIN_FAILED,
    },
    { name: "a viewer", headers: { Authorization: headerOf("viewer") }, role: "viewer" },
    {
      name: "an editor, by Basic",
      headers: { Authorization: basic(`${USERS.editor}:${passwordOf("editor")}`) },
      role: "editor",
    },
    { name: "an operator", headers: { Authorization: headerOf("operator") }, role: "operator" },
    { name: "a viewer's browser", headers: logins.viewer, role: "viewer" },
    { name: "an editor's browser", headers: logins.editor, role: "editor" },
    { name: "an operator's browser", headers: logins.operator, role: "operator" },
    {
      name: "an operator's browser without its token",
      headers: { Cookie: operatorCookie },
      role: "operator",
      changeRefusal: CSRF,
    },
    {
      name: "an operator's cookie with a viewer's token",
      headers: { Cookie: operatorCookie, "X-CSRF-Token": viewerToken },
      role: "operator",
      changeRefusal: CSRF,
    },
    {
      name: "an operator's cookie with the token of browsers that have not logged in",
      headers: { Cookie: operatorCookie, "X-CSRF-Token": anonymousToken },
      role: "operator",
      changeRefusal: CSRF,
    },
    {
      name: "a viewer's cookie with an operator's token",
      headers: { Cookie: viewerCookie, "X-CSRF-Token": operatorToken },
      role: "viewer",
      changeRefusal: CSRF,
    },
    { name: "an operator's cookie after its logout", headers: ended, changeRefusal: CSRF },
    {
      name: "an invented cookie with the token of browsers that have not logged in",
      headers: { Cookie: `${cookieName}=${"A".repeat(43)}`, "X-CSRF-Token": anonymousToken },
    },
    {
      name: "an operator's token in the cookie of another console",
      headers: { Cookie: operatorCookie.replace(cookieName, `${cookieName}0`), "X-CSRF-Token": anonymousToken },
    },
    {
      name: "an operator's browser with a wrong password beside it",
      headers: { ...logins.operator, Authorization: `digest ${USERS.operator}:wrong` },
      refusal: LOGIN_FAILED,
    },
    {
      name: "an operator's browser that logs in with each request, on a page of the console",
      headers: { Authorization: headerOf("operator"), Origin: new URL(api).origin },
      role: "operator",
      changeRefusal: CSRF,
    },
    {
      name: "an operator's browser that logs in with each request, and names no origin",
      headers: { Authorization: headerOf("operator"), "Sec-Fetch-Site": "same-origin" },
      role: "operator",
      changeRefusal: CSRF,
    },
    {
      name: "an operator's browser on another site",
      headers: { ...logins.operator, Origin: "https://evil.example" },
      refusal: OTHER_SITE,
    },
    {
      name: "an operator's browser that follows another site's form",
      headers: { ...logins.operator, "Sec-Fetch-Site": "cross-site" },
      refusal: OTHER_SITE,
    },
  ] as const;
}

/** The refusal of a request that needs a role; undefined if it is carried out. */
export function refusalOf(
  { role, refusal, changeRefusal }: Requester,
  method: string,
  needed: Role | "anyone",
): Refusal | undefined {
  if (refusal !== undefined) return refusal;
  if (method !== "GET" && changeRefusal !== undefined) return changeRefusal;
  if (needed === "anyone") return undefined;
  if (role === undefined) return { status: 401, code: "LOGIN_NEEDED" };
  return includesRole(role, needed) ? undefined : { status: 403, code: "ROLE" };
}

/** The headers of a browser that has logged in. */
async function login(api: string, role: Role): Promise<{ readonly Cookie: string; readonly "X-CSRF-Token": string }> {
  const { headers, json } = await ask(`${api}/login`, "POST", {}, { user: USERS[role], password: passwordOf(role) });
  const [cookie = ""] = headers["set-cookie"] ?? [];
  return { Cookie: cookie.split(";")[0] ?? "", "X-CSRF-Token": String(json.csrfToken) };
}
