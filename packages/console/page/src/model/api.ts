import type { HistoryPageJson, UndoPlanJson } from "../../../src/api/history-shapes.ts";
import type { HotSpotsJson } from "../../../src/api/hot-spot-routes.ts";
import type { QuotaJson, RightsJson } from "../../../src/api/node-fact-shapes.ts";
import type { RecipePartJson, RecipesJson } from "../../../src/api/recipe-shapes.ts";
import type {
  AclEntryJson,
  AuditTailJson,
  ChildrenJson,
  DrainStatusJson,
  EnsembleJson,
  MemberChangedJson,
  MemberChangeJson,
  MemberPlanJson,
  MetricsJson,
  MultiOpJson,
  MultiResultJson,
  NodeJson,
  ProblemJson,
  SessionJson,
  SessionsJson,
  StatJson,
  WatchedJson,
  Word,
  WordAnswerJson,
  WrittenData,
} from "../../../src/api/shapes.ts";
import type { ExportPageJson, ImportRequestJson, ImportResultJson } from "../../../src/api/subtree-shapes.ts";
import { PREFIX } from "./place.ts";

/** The server refused a request, or could not answer it. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly problem: ProblemJson;

  constructor(problem: ProblemJson) {
    super(problem.detail ?? problem.title);
    this.problem = problem;
  }

  get code(): string {
    return this.problem.code;
  }
}

interface Request {
  readonly query?: Readonly<Record<string, string | number | boolean | null | undefined>>;
  readonly body?: unknown;
  readonly version?: number | "*";
  readonly signal?: AbortSignal;
}

interface WrittenNode {
  readonly path: string;
  readonly stat: StatJson;
}

let csrfToken = "";

async function call<T>(method: string, path: string, request: Request = {}): Promise<T> {
  const { query = {}, body, version, signal } = request;
  const given = Object.entries(query).flatMap(([name, value]) =>
    value == null || value === false ? [] : [[name, String(value)]],
  );
  const search = new URLSearchParams(given).toString();
  const headers: Record<string, string> = {};
  if (method !== "GET") headers["X-CSRF-Token"] = csrfToken;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (version !== undefined) headers["If-Match"] = version === "*" ? "*" : `"${version}"`;
  let answer: Response;
  try {
    answer = await fetch(`${PREFIX}/api/v1${path}${search === "" ? "" : `?${search}`}`, {
      method,
      headers,
      credentials: "same-origin",
      cache: "no-store",
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    });
  } catch (error) {
    if (signal?.aborted === true) throw error;
    const title = "The console's server does not answer";
    throw new ApiError({ type: "about:blank", title, status: 0, code: "NO_ANSWER" });
  }
  const json: unknown = await answer.json();
  if (!answer.ok) throw new ApiError(json as ProblemJson);
  return json as T;
}

async function session(method: string, path: string, body?: unknown): Promise<SessionJson> {
  const found = await call<SessionJson>(method, path, body === undefined ? {} : { body });
  ({ csrfToken } = found);
  return found;
}

export const api = {
  session: () => session("GET", "/session"),
  login: (user: string, password: string) => session("POST", "/login", { user, password }),
  logout: () => session("POST", "/logout"),
  ensemble: (signal?: AbortSignal) => call<EnsembleJson>("GET", "/ensemble", signal === undefined ? {} : { signal }),
  checkMembers: (change: MemberChangeJson) => call<MemberPlanJson>("POST", "/members/check", { body: change }),
  changeMembers: (change: MemberChangeJson, version: string) =>
    call<MemberChangedJson>("POST", "/members", { body: { change, version } }),
  transferLeadership: (to: number | null) => call<{ leader: number }>("POST", "/leader/transfer", { body: { to } }),
  drainStatus: (sid: number) => call<DrainStatusJson>("GET", "/drain", { query: { sid } }),
  drain: (sid: number, action: "begin" | "end") =>
    call<DrainStatusJson>("POST", "/drain", { query: { sid }, body: { action } }),
  sessions: () => call<SessionsJson>("GET", "/sessions"),
  sessionsWith: (more: { readonly watches: boolean; readonly clients: boolean }) =>
    call<SessionsJson>("GET", "/sessions", { query: more }),
  watches: (id: string, from: number) =>
    call<WatchedJson>("GET", "/sessions/watches", { query: { id, from: String(from) } }),
  endSession: (id: string) => call<{ id: string }>("POST", "/sessions/end", { body: { id } }),
  word: (word: Word, sid: number | undefined) => call<WordAnswerJson>("GET", "/words", { query: { word, sid } }),
  audit: (sid: number, since: string, after: number) =>
    call<AuditTailJson>("GET", "/audit", { query: { sid, since, after } }),
  metrics: () => call<MetricsJson>("GET", "/metrics"),
  recipes: (path: string) => call<RecipesJson>("GET", "/recipes", { query: { path } }),
  /** @param from where the part before has ended; null: the first part */
  recipePart: (path: string, from: RecipePartJson["next"]) =>
    call<RecipePartJson>("GET", "/recipes/part", {
      query: { path, ...(from === null ? {} : { from: from.path, isVisited: String(from.isVisited) }) },
    }),
  hotSpots: () => call<HotSpotsJson>("GET", "/hot-spots"),
  node: (path: string, reveal = false) => call<NodeJson>("GET", "/node", { query: { path, reveal } }),
  children: (
    path: string,
    options: { readonly after?: string | undefined; readonly filter?: string | undefined } = {},
  ) => call<ChildrenJson>("GET", "/children", { query: { path, ...options } }),
  create: (node: object) => call<WrittenNode>("POST", "/node", { body: node }),
  set: (path: string, data: WrittenData, version: number) =>
    call<WrittenNode>("PUT", "/node", { query: { path }, body: { data }, version }),
  remove: (path: string, { version, recursive }: { readonly version: number | "*"; readonly recursive: boolean }) =>
    call<{ deletedCount: number }>("DELETE", "/node", { query: { path, recursive }, version }),
  acl: (path: string) => call<{ acl: AclEntryJson[]; stat: StatJson }>("GET", "/acl", { query: { path } }),
  exportPage: (
    query: { readonly path: string; readonly after: string | undefined; readonly reveal: boolean },
    signal: AbortSignal,
  ) => call<ExportPageJson>("GET", "/export", { query, signal }),
  importNodes: (request: ImportRequestJson, signal: AbortSignal) =>
    call<ImportResultJson>("POST", "/import", { body: request, signal }),
  rights: (path: string) => call<RightsJson>("GET", "/rights", { query: { path } }),
  quota: (path: string) => call<QuotaJson>("GET", "/quota", { query: { path } }),
  history: (path: string, after: string, limit: number) =>
    call<HistoryPageJson>("GET", "/history", { query: { path, after, limit } }),
  undoPlan: (path: string, zxid: string, reveal: boolean) =>
    call<UndoPlanJson>("GET", "/undo", { query: { path, zxid, reveal } }),
  undo: (path: string, zxid: string, version: number | null) =>
    call<{ path: string; step: string }>("POST", "/undo", { body: { path, zxid, version } }),
  multi: (ops: readonly MultiOpJson[]) => call<MultiResultJson>("POST", "/multi", { body: { ops } }),
  setAcl: (path: string, acl: readonly AclEntryJson[], version: number) =>
    call<WrittenNode>("PUT", "/acl", { query: { path }, body: { acl }, version }),
};

export function textOf(error: unknown): string {
  if (error instanceof ApiError) return error.message;
  return error instanceof Error ? error.message : String(error);
}

/** Whether a change was refused because the node has another version by now. */
export function isConflict(error: unknown): boolean {
  return error instanceof ApiError && error.code === "BAD_VERSION";
}
