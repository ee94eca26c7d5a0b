import type { Client } from "@zooid/client";
import { expect, test } from "vitest";
import type { Role } from "../access/role.ts";
import { ask, ROLES_OF_REQUESTERS, refusalOf, requestersOf } from "../testing/requesters.ts";
import { startStage } from "../testing/stage.ts";

/** A route: the role that it needs, and a request that has an effect if it is carried out. */
interface Row {
  /** "anyone" who is not refused for a wrong credential. */
  readonly for: Role | "anyone";
  /** @param n another number each time */
  request?(n: number, world: World): { readonly query?: string; readonly body?: unknown; readonly headers?: object };
  /** For those who may; one of them, where the first changes what the next one finds. Default 200. */
  readonly status?: number | readonly number[];
}

interface World {
  readonly sessionId: string;
}

const IF_ANY = { "If-Match": "*" };
const OPEN = [{ scheme: "world", id: "anyone", permissions: ["read", "write", "create", "delete", "admin"] }];
const IMPORTED = { path: "", data: { text: "" } };
const ADD = { kind: "add", server: "4=127.0.0.1:1:2;3" };

const ROWS: Readonly<Record<string, Row>> = {
  "GET /session": { for: "anyone" },
  "POST /login": { for: "anyone", request: () => ({ body: { user: "nobody", password: "x" } }), status: 401 },
  "GET /openapi.json": { for: "anyone" },
  "GET /events": { for: "viewer", request: () => ({ query: "path=no-path" }), status: 400 },
  "GET /node": { for: "viewer", request: () => ({ query: "path=/kept" }) },
  "GET /node, revealed": { for: "editor", request: () => ({ query: "path=/my-password&reveal=true" }) },
  "POST /node": { for: "editor", request: (n) => ({ body: { path: `/made${n}` } }), status: 201 },
  "PUT /node": {
    for: "editor",
    request: (n) => ({ query: "path=/kept", body: { data: { text: `${n}` } }, headers: IF_ANY }),
  },
  "GET /children": { for: "viewer", request: () => ({ query: "path=/" }) },
  "GET /acl": { for: "viewer", request: () => ({ query: "path=/kept" }) },
  "PUT /acl": { for: "editor", request: () => ({ query: "path=/kept", body: { acl: OPEN }, headers: IF_ANY }) },
  "POST /multi": {
    for: "editor",
    request: (n) => ({ body: { ops: [{ op: "create", path: `/multi${n}`, data: { text: "" } }] } }),
  },
  "GET /rights": { for: "viewer", request: () => ({ query: "path=/kept" }) },
  "GET /quota": { for: "viewer", request: () => ({ query: "path=/kept" }) },
  "GET /ensemble": { for: "viewer" },
  "GET /sessions": { for: "viewer" },
  "GET /metrics": { for: "viewer" },
  "POST /members/check": { for: "operator", request: () => ({ body: ADD }), status: 422 },
  "POST /members": { for: "operator", request: () => ({ body: { change: ADD, version: "0x0" } }), status: 422 },
  "POST /leader/transfer": { for: "operator", request: () => ({ body: { to: null } }), status: 501 },
  "GET /drain": { for: "operator", status: 501 },
  "POST /drain": { for: "operator", request: () => ({ body: { action: "begin" } }), status: 501 },
  "GET /sessions/watches": {
    for: "operator",
    request: (_, { sessionId }) => ({ query: `id=${sessionId}` }),
  },
  "POST /sessions/end": { for: "operator", request: () => ({ body: { id: "0x1" } }), status: 501 },
  "GET /words": { for: "operator", request: () => ({ query: "word=conf" }) },
  "GET /audit": { for: "operator", request: () => ({ query: "sid=0" }), status: 501 },
  "GET /recipes": { for: "viewer" },
  "GET /recipes/part": { for: "viewer" },
  "GET /hot-spots": { for: "viewer" },
  "GET /export": { for: "viewer", request: () => ({ query: "path=/kept" }) },
  "GET /export, revealed": { for: "editor", request: () => ({ query: "path=/my-password&reveal=true" }) },
  "POST /import": {
    for: "editor",
    request: (n) => ({
      body: { path: `/imported${n}`, isDryRun: false, existing: "keep", withAcl: false, nodes: [IMPORTED] },
    }),
  },
  "DELETE /node": { for: "editor", request: () => ({ query: "path=/kept", headers: IF_ANY }), status: [200, 404] },
  // The last one: it ends the logins.
  "POST /logout": { for: "anyone" },
};

test("every route of the document has a row", async () => {
  await using stage = await startStage();
  const { json } = await stage.api("GET", "/openapi.json");
  const paths: Readonly<Record<string, object>> = json.paths;
  const routes = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  expect(
    Object.keys(ROWS)
      .filter((name) => !name.includes(","))
      .sort(),
  ).toEqual(routes.sort());
});

test("every requester gets at every route what its role allows, and a refusal carries nothing out", async () => {
  await using stage = await startStage({ roles: ROLES_OF_REQUESTERS });
  const { zk } = stage;
  for (const path of ["/kept", "/my-password"]) await zk.create(path, "kept");
  const api = `${stage.url}/api/v1`;
  const requesters = await requestersOf(api);
  const world = { sessionId: `0x${zk.sessionId.toString(16)}` };
  const [faults, counts]: [string[], { refused: number; allowed: number }] = [[], { refused: 0, allowed: 0 }];
  let n = 0;
  for (const [name, row] of Object.entries(ROWS)) {
    const [, method = "", path = ""] = /^(\w+) ([^,]+)/.exec(name) ?? [];
    const before = await contentOf(zk);
    const allowed: (() => Promise<void>)[] = [];
    for (const requester of requesters) {
      n++;
      const { query = "", body, headers } = row.request?.(n, world) ?? {};
      const refusal = refusalOf(requester, method, row.for);
      const go = async (): Promise<void> => {
        const answer = await ask(`${api}${path}?${query}`, method, { ...headers, ...requester.headers }, body);
        const isExpected =
          refusal === undefined
            ? [row.status ?? 200].flat().includes(answer.status)
            : answer.status === refusal.status && answer.json?.code === refusal.code;
        const expected = refusal === undefined ? `status ${row.status ?? 200}` : `${refusal.status} ${refusal.code}`;
        if (!isExpected)
          faults.push(
            `${name} for ${requester.name}: ${answer.status} ${JSON.stringify(answer.json)}, not ${expected}`,
          );
      };
      if (refusal === undefined) allowed.push(go);
      else {
        counts.refused++;
        await go();
      }
    }
    expect(await contentOf(zk), `after all that were refused at ${name}`).toEqual(before);
    for (const go of allowed) await go();
    counts.allowed += allowed.length;
  }
  expect(faults).toEqual([]);
  expect(counts.refused).toBeGreaterThan(400);
  expect(counts.allowed).toBeGreaterThan(150);
});

/** All nodes with their versions, and that this session is there. */
async function contentOf(zk: Client): Promise<readonly string[]> {
  const lines: string[] = [zk.state.kind];
  for (const path of ["/", ...(await zk.children("/")).names.map((name) => `/${name}`).sort()]) {
    const { stat } = await zk.get(path);
    lines.push(`${path} ${stat.mzxid} ${stat.aversion} ${stat.cversion}`);
  }
  return lines;
}
