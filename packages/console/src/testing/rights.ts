import type { Client } from "@zooid/client";
import type { Role } from "../access/role.ts";
import { ask, refusalOf, requestersOf } from "./requesters.ts";

/** A route: the role that it needs, and a request that has an effect if it is carried out. */
interface Row {
  /** "anyone" who is not refused for a wrong credential. */
  readonly for: Role | "anyone";
  /** @param n another number each time */
  request?(n: number, world: World): { readonly query?: string; readonly body?: unknown; readonly headers?: object };
  /**
   * For those who may; one of them, where the first changes what the next one finds. Default 200.
   */
  readonly status?: number | readonly number[];
}

/** The nodes and sessions that requests name. */
interface World {
  readonly sessionId: string;
}

const IF_ANY = { "If-Match": "*" };
const OPEN = [{ scheme: "world", id: "anyone", permissions: ["read", "write", "create", "delete", "admin"] }];
const IMPORTED = { path: "", data: { text: "" } };
const ADD = { kind: "add", server: "4=127.0.0.1:1:2;3" };

/** Every route, and those with a variant behind a comma. The last one ends the logins. */
export const RIGHTS: Readonly<Record<string, Row>> = {
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
  "GET /history": { for: "viewer", request: () => ({ query: "path=/kept" }), status: 501 },
  "GET /undo": { for: "viewer", request: () => ({ query: "path=/kept&zxid=0x1" }), status: 501 },
  "GET /undo, revealed": {
    for: "editor",
    request: () => ({ query: "path=/my-password&zxid=0x1&reveal=true" }),
    status: 501,
  },
  "POST /undo": {
    for: "editor",
    request: () => ({ body: { path: "/kept", zxid: "0x1", version: 0 } }),
    status: 501,
  },
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
  "POST /config/reload": { for: "operator", request: () => ({ body: { sid: 0 } }), status: 501 },
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

export interface RightsFound {
  /**
   * One line for each answer that is not the expected one, and for each refused request that
   * changed something.
   */
  readonly faults: readonly string[];
  readonly refusedCount: number;
  readonly allowedCount: number;
}

/**
 * Every requester at every route of a console with `ROLES_OF_REQUESTERS`, first those that are
 * refused.
 *
 * @param api where the console's API is
 * @param zk a client of the server behind it, whose own nodes are `/kept` and `/my-password` from
 *   now on
 */
export async function rightsAt(api: string, zk: Client): Promise<RightsFound> {
  for (const path of ["/kept", "/my-password"]) await zk.create(path, "kept");
  const requesters = await requestersOf(api);
  const world = { sessionId: `0x${zk.sessionId.toString(16)}` };
  const faults: string[] = [];
  let [refusedCount, allowedCount, n] = [0, 0, 0];
  for (const [name, row] of Object.entries(RIGHTS)) {
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
        if (isExpected) return;
        const found = `${answer.status} ${JSON.stringify(answer.json)}`;
        faults.push(`${name} for ${requester.name}: ${found}, not ${expected}`);
      };
      if (refusal === undefined) allowed.push(go);
      else await go();
    }
    const after = await contentOf(zk);
    if (after !== before) faults.push(`${name}: those that were refused changed ${before} to ${after}`);
    for (const go of allowed) await go();
    allowedCount += allowed.length;
    refusedCount += requesters.length - allowed.length;
  }
  return { faults, refusedCount, allowedCount };
}

/** All nodes with their versions, and that this session is there. */
async function contentOf(zk: Client): Promise<string> {
  const lines: string[] = [zk.state.kind];
  for (const path of ["/", ...(await zk.children("/")).names.map((name) => `/${name}`).sort()]) {
    const { stat } = await zk.get(path);
    lines.push(`${path} ${stat.mzxid} ${stat.aversion} ${stat.cversion}`);
  }
  return lines.join(", ");
}
