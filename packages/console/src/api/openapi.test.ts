import { expect, test } from "vitest";
import { startStage } from "../testing/stage.ts";
import { ROUTES } from "./routes.ts";
import { SESSION_ROUTES } from "./session-routes.ts";
import { problem } from "./shapes.ts";

/** A request that succeeds, for each operation but the event stream. */
const REQUESTS: Readonly<Record<string, { query?: string; body?: unknown; headers?: Record<string, string> }>> = {
  "GET /session": {},
  "POST /login": { body: { user: "alice", password: "secret" } },
  "POST /logout": {},
  "GET /openapi.json": {},
  "GET /node": { query: "?path=/a" },
  "GET /children": { query: "?path=/" },
  "POST /node": { body: { path: "/new", data: { text: "x" } } },
  "PUT /node": { query: "?path=/a", body: { data: { text: "x" } }, headers: { "If-Match": "*" } },
  "DELETE /node": { query: "?path=/gone", headers: { "If-Match": "*" } },
  "GET /acl": { query: "?path=/a" },
  "GET /rights": { query: "?path=/a" },
  "GET /quota": { query: "?path=/a" },
  "PUT /acl": {
    query: "?path=/a",
    body: { acl: [{ scheme: "world", id: "anyone", permissions: ["read"] }] },
    headers: { "If-Match": "*" },
  },
  "POST /multi": { body: { ops: [{ op: "check", path: "/a", version: -1 }] } },
  "GET /ensemble": {},
  "GET /sessions": {},
  "GET /sessions/watches": { query: "?id=0x1" },
  "GET /words": { query: "?word=srvr" },
  "GET /metrics": {},
  "GET /hot-spots": {},
  "GET /export": { query: "?path=/a" },
  "POST /import": {
    body: {
      path: "/copy",
      isDryRun: false,
      existing: "keep",
      withAcl: true,
      nodes: [{ path: "", data: { text: "x" }, acl: [{ scheme: "world", id: "anyone", permissions: ["read"] }] }],
    },
  },
  "GET /recipes": { query: "?path=/" },
};

const ALL = [...SESSION_ROUTES, ...ROUTES];
/**
 * Streams, and what needs an ensemble and admin ports, or a history: member-routes.test.ts and
 * history-routes.test.ts compare those.
 */
const ELSEWHERE: ReadonlySet<string> = new Set([
  "/events",
  "/members/check",
  "/members",
  "/leader/transfer",
  "/drain",
  "/sessions/end",
  "/config/reload",
  "/audit",
  "/history",
  "/undo",
]);
const ANSWERED = ALL.filter(({ path }) => !ELSEWHERE.has(path));

test("the document has every operation of the running server, and no other", async () => {
  await using stage = await startStage();
  const { json } = await stage.api("GET", "/openapi.json");
  const documented = Object.entries<object>(json.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  expect(documented.toSorted()).toEqual(ALL.map(({ method, path }) => `${method} ${path}`).toSorted());
  // Generators of clients name their functions by them.
  const ids = [...JSON.stringify(json.paths).matchAll(/"operationId":"([^"]*)"/g)].map(([, id = ""]) => id);
  expect(new Set(ids).size).toBe(ALL.length);
  for (const id of ids) expect(id).toMatch(/^(get|post|put|delete|patch)[A-Z][\w.-]*$/);
  for (const path of Object.keys(json.paths)) {
    const { status, headers } = await stage.api("PATCH", path);
    expect(status).toBe(405);
    const allowed = (headers.get("allow") ?? "").split(", ");
    expect(allowed.map((method) => method.toLowerCase()).toSorted()).toEqual(Object.keys(json.paths[path]).toSorted());
  }
});

test.each(ANSWERED.map((each) => [`${each.method} ${each.path}`, each] as const))(
  "%s answers as documented",
  async (name, route) => {
    await using stage = await startStage();
    await stage.zk.create("/a", "one");
    await stage.zk.create("/gone", "");
    const { query = "", ...given } = REQUESTS[name] ?? {};
    const { status, json } = await stage.api(route.method, `${route.path}${query}`, given);
    expect(status).toBe(route.status ?? 200);
    // Parsing leaves out fields that are not documented, and so the comparison finds them.
    expect(route.reply.parse(json)).toEqual(json);
  },
);

test("what a request needs is documented as required, and nothing else", async () => {
  await using stage = await startStage();
  const { json } = await stage.api("GET", "/openapi.json");
  for (const { method, path, body, takesVersion } of ALL) {
    const { requestBody, parameters } = json.paths[path][method.toLowerCase()];
    expect([path, requestBody?.required]).toEqual([path, body === undefined ? undefined : true]);
    const header = parameters.find(({ name }: { readonly name: string }) => name === "If-Match");
    expect([path, header?.required]).toEqual([path, takesVersion === true ? true : undefined]);
  }
});

test("a refusal has the documented form", async () => {
  await using stage = await startStage();
  const { json } = await stage.api("GET", "/node?path=/none");
  expect(problem.strict().parse(json)).toEqual(json);
});
