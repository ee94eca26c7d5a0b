/** One request to the API: who asks, whether they may, what they ask, and the answer. */
import { createHash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { startTimer } from "@zooid/client";
import { addressShare, BUDGETS, dropBody, hasUnreadBody, rules, found as shown } from "@zooid/model";
import type { z } from "zod";
import type { LoginThrottle } from "../access/login-throttle.ts";
import { includesRole, type Role, type RoleTable } from "../access/role.ts";
import { ANONYMOUS, certificateUser, digestUser, type User, userOfHeader } from "../access/user.ts";
import type { UserClients } from "../access/user-clients.ts";
import { isSameToken, newToken, type WebSession, type WebSessions } from "../access/web-sessions.ts";
import { IdempotentAnswers, type KeptAnswer } from "../api/idempotency.ts";
import type { LiveChanges } from "../api/live-changes.ts";
import { documentOf, openApiPaths } from "../api/openapi.ts";
import type { Route, SharedParts } from "../api/route.ts";
import { ROUTES } from "../api/routes.ts";
import { EVENTS, LOGIN, LOGOUT, OPENAPI, SESSION, SESSION_ROUTES } from "../api/session-routes.ts";
import { login, type SessionJson } from "../api/shapes.ts";
import type { EnsembleLink } from "../ensemble-link.ts";
import { type CookiePlace, cookieName, cookieValue, endedCookie, sessionCookie } from "./cookie.ts";
import { inputProblems } from "./input-problems.ts";
import { type Problem, problemJson, problemOf, refuse } from "./problem.ts";
import { LOGIN_LIMITS, readJson } from "./request-body.ts";
import { addressOf, isFromBrowser, isSecure } from "./request-checks.ts";

const { count: IN_FLIGHT_MAX, ofAddress: IN_FLIGHT_SHARE_MAX } = BUDGETS.consoleRequests;
const ALL_ROUTES: readonly Route[] = [...SESSION_ROUTES, ...ROUTES];
const OPEN_ROUTES: ReadonlySet<Route> = new Set([OPENAPI, SESSION, LOGIN, LOGOUT]);
/** Problems of a request that its answer names. */
const PROBLEMS_MAX = 10;
/** Made when this module is loaded: a server does that before it serves clients. */
const PATHS: object = openApiPaths(ALL_ROUTES);

export interface ApiParts extends SharedParts {
  readonly roles: RoleTable;
  readonly sessions: WebSessions;
  readonly throttle: LoginThrottle;
  readonly clients: UserClients;
  readonly live: LiveChanges;
  readonly version: string;
  /** Beginning of this ensemble's paths where the port serves several; else empty. */
  readonly prefix: string;
  readonly ensembles: readonly EnsembleLink[];
  /** Reports a request whose handler failed of a defect. */
  failed(error: unknown): void;
}

/** The target of a request. */
export interface ApiTarget {
  /** Below `/api/v1`. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** The subject of the client's certificate, if there was one. */
  readonly certificateSubject: string | undefined;
}

/** The requester. */
interface Requester {
  readonly user: User;
  readonly role: Role | undefined;
  readonly csrfToken: string;
  /** The cookie's value, of a browser that has logged in. */
  readonly token: string | undefined;
}

export class ApiHandler {
  readonly #parts: ApiParts;
  readonly #routes: ReadonlyMap<string, Route> = new Map(
    ALL_ROUTES.map((each) => [`${each.method} ${each.path}`, each]),
  );
  readonly #document: string;
  readonly #answers = new IdempotentAnswers();
  /** For browsers that have not logged in: another site cannot read it. */
  readonly #anonymousToken: string = newToken();
  /** Requests that are carried out, by the share of their address. */
  readonly #inFlight = new Map<string, number>();
  #inFlightCount = 0;

  constructor(parts: ApiParts) {
    this.#parts = parts;
    this.#document = JSON.stringify(documentOf(PATHS, { version: parts.version, prefix: parts.prefix }));
  }

  async handle(message: IncomingMessage, response: ServerResponse, target: ApiTarget): Promise<void> {
    try {
      await this.#handle(message, response, target);
    } catch (error) {
      sendProblem(response, this.#problemOf(error));
    }
  }

  #problemOf(error: unknown): Problem {
    const known = problemOf(error);
    if (known !== undefined) return known;
    this.#parts.failed(error);
    return {
      status: 500,
      code: "DEFECT",
      title: "The request failed in the console",
      detail: "Its log has the reason",
    };
  }

  async #handle(
    message: IncomingMessage,
    response: ServerResponse,
    { path, query, certificateSubject }: ApiTarget,
  ): Promise<void> {
    const { method = "" } = message;
    const route = this.#routes.get(`${method === "HEAD" ? "GET" : method} ${path}`);
    if (route === undefined) throw this.#unknown(response, path);
    const requester = this.#requester(message, certificateSubject);
    if (method !== "GET" && method !== "HEAD") checkToken(message, requester);
    // Those need no role: they give one.
    const role = OPEN_ROUTES.has(route) ? undefined : allowed(route, requester);
    const parsedQuery = parse(route.query, queryObject(query), "query");
    switch (route) {
      case OPENAPI:
        return send(response, { status: 200, headers: {}, body: this.#document });
      case SESSION:
        return send(response, okJson(this.#sessionJson(requester)));
      case LOGIN:
        // An address that has to wait is not read.
        if (this.#parts.roles.isConfigured) refuseBefore(this.#parts.throttle.addressWaitMs(addressOf(message)));
        return this.#login(message, response, parse(login, (await readJson(message, LOGIN_LIMITS)).value, "body"));
      case LOGOUT:
        return this.#logout(message, response, requester);
      default:
    }
    if (role === undefined) throw new TypeError("the route needs a role");
    const closed = closeSignal(response);
    if (route === EVENTS) {
      // Streams have their own limit.
      const at = { path: String(parsedQuery["path"]), key: addressShare(addressOf(message)), response, signal: closed };
      await this.#parts.clients.use(requester.user, at.key, (client) => this.#parts.live.stream(client, at));
      return;
    }
    const given = await givenOf(route, message);
    const work = (): Promise<KeptAnswer> =>
      this.#run(route, { message, requester, role, query: parsedQuery, given, signal: closed });
    const key = message.headers["idempotency-key"];
    if (typeof key !== "string" || route.method === "GET") return send(response, await work());
    const { user } = requester;
    const request = hashOf([method, message.url ?? "", String(given.ifMatch), given.bytes]);
    const keyed = { key: hashOf([user.name ?? "", user.credential?.auth ?? "", key]), request };
    send(response, await this.#answers.once(keyed, work));
  }

  async #run(route: Route, { message, requester, role, query, given, signal }: Running): Promise<KeptAnswer> {
    const { clients, ...parts } = this.#parts;
    try {
      const { body, ifMatch } = given;
      const { user } = requester;
      const reply = await this.#counted(addressOf(message), (share) =>
        clients.use(user, share, (client) =>
          route.handle({ ...parts, query, body: body as undefined, user, role, ifMatch, signal, client }),
        ),
      );
      const headers: Record<string, string> = reply.version === undefined ? {} : { ETag: `"${reply.version}"` };
      return { status: reply.status ?? route.status ?? 200, headers, body: JSON.stringify(reply.body) };
    } catch (error) {
      return problemAnswer(this.#problemOf(error));
    }
  }

  /** A request counts once its body is there: until then it takes nothing but its connection. */
  async #counted<T>(address: string, work: (share: string) => Promise<T>): Promise<T> {
    const share = addressShare(address);
    const ofShare = this.#inFlight.get(share) ?? 0;
    if (this.#inFlightCount >= IN_FLIGHT_MAX || ofShare >= IN_FLIGHT_SHARE_MAX) {
      throw refuse(503, "BUSY", "Too many requests at a time", { retryAfterSeconds: 1 });
    }
    this.#inFlight.set(share, ofShare + 1);
    this.#inFlightCount++;
    try {
      return await work(share);
    } finally {
      this.#inFlightCount--;
      const rest = (this.#inFlight.get(share) ?? 1) - 1;
      if (rest === 0) this.#inFlight.delete(share);
      else this.#inFlight.set(share, rest);
    }
  }

  #requester(message: IncomingMessage, subject: string | undefined): Requester {
    const { sessions, roles } = this.#parts;
    const { authorization, cookie } = message.headers;
    if (authorization !== undefined) {
      const user = userOfHeader(authorization);
      if (user === undefined) {
        throw refuse(401, "AUTHORIZATION", "Authorization is `digest user:password`, or HTTP's Basic");
      }
      this.#checkLogin(message, user);
      return { user, role: roles.roleOf(user.identities), csrfToken: this.#anonymousToken, token: undefined };
    }
    const token = cookieValue(cookie, cookieName(this.#cookiePlace(message)));
    const session: WebSession | undefined = token === undefined ? undefined : sessions.find(token);
    const user = session?.user ?? (subject === undefined ? ANONYMOUS : certificateUser(subject));
    return {
      user,
      role: roles.roleOf(user.identities),
      csrfToken: session?.csrfToken ?? this.#anonymousToken,
      token: session === undefined ? undefined : token,
    };
  }

  #cookiePlace({ socket }: IncomingMessage): CookiePlace {
    return { port: socket.localPort, prefix: this.#parts.prefix };
  }

  #sessionJson({ user, role, csrfToken }: Requester): SessionJson {
    const { facts, roles, version, admin, ensembles } = this.#parts;
    return {
      user: user.name ?? null,
      role: role ?? null,
      identities: user.identities.map(({ scheme, id }) => ({ scheme, id })),
      csrfToken,
      version,
      hasRoles: roles.isConfigured,
      ensemble: facts.name,
      ensembles: ensembles.map(({ name, prefix }) => ({ name, prefix })),
      features: {
        sessions: true,
        watches: true,
        metrics: true,
        clientReports: admin.hasReports,
        adminServers: [...admin.sids],
      },
    };
  }

  #login(message: IncomingMessage, response: ServerResponse, given: { user: string; password: string }): void {
    const { sessions, roles } = this.#parts;
    if (given.user.includes(":")) throw refuse(400, "BAD_ARGUMENTS", "A user's name has no colon");
    const user = digestUser(given);
    this.#checkLogin(message, user);
    const { token, session } = sessions.start(user);
    const role = roles.roleOf(user.identities);
    const cookie = sessionCookie(this.#cookiePlace(message), token, isSecure(message));
    const { status, body } = okJson(this.#sessionJson({ user, role, csrfToken: session.csrfToken, token }));
    send(response, { status, headers: { "Set-Cookie": cookie }, body });
  }

  /**
   * @throws ProblemError for a user without a role, and for every one that comes too soon after
   *   failures
   */
  #checkLogin(message: IncomingMessage, user: User): void {
    const { roles, throttle } = this.#parts;
    if (!roles.isConfigured) return;
    const place = { address: addressOf(message), user: user.name ?? "" };
    refuseBefore(throttle.waitMs(place));
    if (roles.roleOf(user.identities) !== undefined) return throttle.succeeded(place);
    throttle.failed(place);
    throw refuse(401, "LOGIN_FAILED", "The user is unknown, or the password is wrong");
  }

  #logout(message: IncomingMessage, response: ServerResponse, { token }: Requester): void {
    if (token !== undefined) this.#parts.sessions.end(token);
    const role = this.#parts.roles.roleOf([]);
    const { status, body } = okJson(
      this.#sessionJson({ user: ANONYMOUS, role, csrfToken: this.#anonymousToken, token: undefined }),
    );
    const cookie = endedCookie(this.#cookiePlace(message), isSecure(message));
    send(response, { status, headers: { "Set-Cookie": cookie }, body });
  }

  #unknown(response: ServerResponse, path: string): Error {
    const methods = ALL_ROUTES.filter((each) => each.path === path).map(({ method }) => method);
    if (methods.length === 0) return refuse(404, "NO_ROUTE", "There is no such path; /api/v1/openapi.json lists all");
    response.setHeader("Allow", methods.join(", "));
    return refuse(405, "METHOD", `This path takes ${methods.join(", ")}`);
  }
}

function refuseBefore(waitMs: number): void {
  if (waitMs === 0) return;
  const retryAfterSeconds = Math.ceil(waitMs / 1000);
  throw refuse(429, "TOO_MANY_LOGINS", "Too many failed logins; try again later", { retryAfterSeconds });
}

interface Running {
  readonly message: IncomingMessage;
  readonly requester: Requester;
  readonly role: Role;
  readonly query: Record<string, unknown>;
  readonly given: Given;
  readonly signal: AbortSignal;
}

/** The parts of a request beside its path and query, checked. */
interface Given {
  readonly body: unknown;
  /** The body as it came; empty where the route takes none. */
  readonly bytes: Uint8Array;
  readonly ifMatch: number | undefined;
}

/** @throws ProblemError for what the route does not take: such a request begins nothing */
async function givenOf(route: Route, message: IncomingMessage): Promise<Given> {
  const ifMatch = route.takesVersion === true ? versionOf(message.headers["if-match"]) : undefined;
  if (route.body === undefined) return { body: undefined, bytes: new Uint8Array(), ifMatch };
  const { bytes, value } = await readJson(message, route.bodyLimits);
  return { body: parse(route.body, value, "body"), bytes, ifMatch };
}

/** Each part with its length, so that no two lists have the same bytes. */
function hashOf(parts: readonly (string | Uint8Array)[]): string {
  const hash = createHash("sha256");
  for (const part of parts) {
    const bytes = Buffer.from(part);
    hash.update(`${bytes.length} `).update(bytes);
  }
  return hash.digest("base64");
}

/** A change by a browser repeats its token, which pages of other sites cannot read. */
function checkToken({ headers }: IncomingMessage, { csrfToken }: Requester): void {
  if (!isFromBrowser(headers)) return;
  const given = headers["x-csrf-token"];
  if (typeof given === "string" && isSameToken(given, csrfToken)) return;
  throw refuse(403, "CSRF", "The request has no valid X-CSRF-Token; read /api/v1/session again");
}

function allowed({ role: needed }: Route, { role, user }: Requester): Role {
  if (role === undefined) {
    throw user.name === undefined
      ? refuse(401, "LOGIN_NEEDED", "Log in first")
      : refuse(403, "ROLE", "This user has no role");
  }
  if (includesRole(role, needed)) return role;
  throw refuse(403, "ROLE", `This needs the role ${needed}, and the user has the role ${role}`);
}

function parse<T extends z.ZodType>(schema: T | undefined, value: unknown, what: string): z.infer<T> {
  const found = schema?.safeParse(value);
  if (found === undefined) throw new TypeError("the route has no schema");
  if (found.success) return found.data;
  const problems = inputProblems({ schema: schema as T, value, name: what }, found.error.issues);
  const detail = problems.slice(0, PROBLEMS_MAX).join("; ");
  throw refuse(400, "BAD_ARGUMENTS", "The request is not valid", { detail });
}

/** Each parameter once: of several, other programs on the way could use another one. */
function queryObject(query: URLSearchParams): Record<string, string> {
  const values = new Map<string, string>();
  for (const [name, value] of query) {
    if (values.has(name)) {
      const detail = `query: expected ${shown(name)} once, found it ${query.getAll(name).length} times`;
      throw refuse(400, "BAD_ARGUMENTS", "The request is not valid", { detail });
    }
    values.set(name, value);
  }
  return Object.fromEntries(values);
}

/** `"3"`, or `*` for any version. */
function versionOf(header: string | undefined): number | undefined {
  if (header === undefined) return undefined;
  if (header.trim() === "*") return -1;
  // In its only form, and not as the number that stands for any version.
  const version = Number(/^"(0|-?[1-9]\d{0,9})"$/.exec(header.trim())?.[1] ?? Number.NaN);
  if (!rules.int.accepts(version) || version === -1) {
    const detail = `If-Match: expected a version in quotes, such as "3", or *, found ${shown(header)}`;
    throw refuse(400, "IF_MATCH", "The header If-Match is not valid", { detail });
  }
  return version;
}

function closeSignal(response: ServerResponse): AbortSignal {
  const closing = new AbortController();
  response.once("close", () => closing.abort());
  return closing.signal;
}

function okJson(
  value: unknown,
): { readonly status: number; readonly headers: object; readonly body: string } & KeptAnswer {
  return { status: 200, headers: {}, body: JSON.stringify(value) };
}

function problemAnswer(problem: Problem): KeptAnswer {
  const { retryAfterSeconds } = problem;
  const headers: Record<string, string> = { "Content-Type": "application/problem+json" };
  if (retryAfterSeconds !== undefined) headers["Retry-After"] = String(retryAfterSeconds);
  return { status: problem.status, headers, body: problemJson(problem) };
}

function sendProblem(response: ServerResponse, problem: Problem): void {
  if (!response.headersSent) send(response, problemAnswer(problem));
  else response.destroy();
}

function send(response: ServerResponse, answer: KeptAnswer): void {
  if (hasUnreadBody(response.req)) void dropBody(response.req, startTimer).then(() => write(response, answer));
  else write(response, answer);
}

function write(response: ServerResponse, { status, headers, body }: KeptAnswer): void {
  if (response.destroyed) return;
  const bytes = Buffer.from(body);
  response.writeHead(status, {
    "Content-Type": "application/json; charset=utf-8",
    "Content-Length": bytes.length,
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    // A long body that was not read is not waited for.
    ...(response.req.complete ? {} : { Connection: "close" }),
    ...headers,
  });
  response.end(response.req.method === "HEAD" ? undefined : bytes);
}
