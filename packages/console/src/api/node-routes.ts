/** Nodes: read, list, create, change, delete, and several of these as one transaction. */
import type { Client, CreateOptions, Stat, Transaction } from "@zooid/client";
import { assertNever, found as shown } from "@zooid/model";
import { aclJson, aclOf } from "@zooid/model/subtree-file";
import { z } from "zod";
import { refuse } from "../http/problem.ts";
import { DELETED_MAX, deleteSubtree } from "../nodes/delete-subtree.ts";
import { dataBytes, statJson } from "./json.ts";
import { isRevealedTo, maskedData } from "./masking.ts";
import { wholeNumber } from "./query-shapes.ts";
import { editorRoute, type Route, viewerRoute } from "./route.ts";
import {
  acl,
  type ChildJson,
  children,
  created,
  multi,
  type multiOp,
  multiResult,
  newNode,
  node,
  path,
  stat,
  writtenAcl,
  writtenData,
  yesNo,
} from "./shapes.ts";

const PAGE_SIZE = 200;
const PAGE_SIZE_MAX = 1000;
/**
 * Maximum number of children that one filtered request examines; the next request continues by the
 * cursor.
 */
const FILTERED_MAX = 20_000;

const atPath = z.object({ path });

const readNode = viewerRoute("GET /node", {
  summary: "A node's data and Stat",
  query: atPath.extend({ reveal: yesNo.meta({ description: "Shows data that is masked by its name; for editors" }) }),
  reply: node,
  async handle({ client, query, signal, role }) {
    const isRevealed = isRevealedTo(role, query.reveal);
    const { data, stat: found } = await client.get(query.path, { signal });
    const body = { path: query.path, stat: statJson(found), ...maskedData(query.path, data, isRevealed) };
    return { body, version: found.version };
  },
});

const listChildren = viewerRoute("GET /children", {
  summary: "A node's children in pages, by name",
  query: atPath.extend({
    after: z.string().max(1_000_000).optional().meta({ description: "`next` of the page before" }),
    limit: wholeNumber(1, PAGE_SIZE_MAX).default(PAGE_SIZE),
    filter: z.string().max(256).optional().meta({ description: "Part of the name, in any case" }),
  }),
  reply: children,
  async handle({ client, query, signal }) {
    const { after, limit } = query;
    const filter = query.filter?.toLowerCase() ?? "";
    const options = { detail: "stats", pageSize: filter === "" ? limit : PAGE_SIZE_MAX, signal } as const;
    const found: ChildJson[] = [];
    let parent: Stat | undefined;
    let seenCount = 0;
    for await (const page of client.childPages(query.path, after === undefined ? options : { ...options, after })) {
      parent = page.stat;
      for (const { name, stat: known } of page.children) {
        seenCount++;
        if (name.toLowerCase().includes(filter)) {
          found.push(known === null ? { name } : { name, stat: statJson(known) });
        }
        if (found.length < limit && seenCount < FILTERED_MAX) continue;
        return { body: { path: query.path, stat: statJson(parent), children: found, next: name } };
      }
    }
    if (parent === undefined) throw refuse(404, "NO_NODE", "No node", { errno: -101, path: query.path });
    return { body: { path: query.path, stat: statJson(parent), children: found, next: null } };
  },
});

const createNode = editorRoute("POST /node", {
  summary: "Creates a node",
  status: 201,
  body: newNode,
  reply: created,
  async handle({ client, body, signal }) {
    const { mode, ttlMs } = body;
    if ((mode === "ttl") !== (ttlMs !== undefined)) {
      const expected = mode === "ttl" ? "a time, for the mode ttl" : `nothing, for the mode ${mode}`;
      const detail = `body.ttlMs: expected ${expected}, found ${shown(ttlMs)}`;
      throw refuse(400, "BAD_ARGUMENTS", "A node with mode ttl has ttlMs, and no other has", { detail });
    }
    const life: CreateOptions =
      mode === "ttl" && ttlMs !== undefined
        ? { mode: "persistent-with-ttl", ttlMs }
        : { mode: mode === "ttl" ? "persistent" : mode };
    const made = await client.create(body.path, body.data === undefined ? "" : dataBytes(body.data), {
      ...life,
      signal,
      ...(body.acl === undefined ? {} : { acl: aclOf(body.acl) }),
      ...(body.parents ? { parents: "persistent" as const } : {}),
    });
    return { body: { path: made.path, stat: statJson(made.stat) }, version: made.stat.version };
  },
});

const setNode = editorRoute("PUT /node", {
  summary: "Replaces a node's data",
  takesVersion: true,
  query: atPath,
  body: z.strictObject({ data: writtenData }),
  reply: z.object({ path, stat }),
  async handle({ client, query, body, ifMatch, signal }) {
    const version = neededVersion(ifMatch);
    const written = await client.set(query.path, dataBytes(body.data), { version, signal });
    return { body: { path: query.path, stat: statJson(written) }, version: written.version };
  },
});

const deleteNode = editorRoute("DELETE /node", {
  summary: "Deletes a node",
  takesVersion: true,
  query: atPath.extend({
    recursive: yesNo.meta({ description: `With its descendants, at most ${DELETED_MAX}; in one transaction` }),
  }),
  reply: z.object({ path, deletedCount: z.int() }),
  async handle({ client, query, ifMatch, signal }) {
    const version = neededVersion(ifMatch);
    if (query.recursive !== "true") {
      await client.delete(query.path, { version, signal });
      return { body: { path: query.path, deletedCount: 1 } };
    }
    const deletedCount = await deleteSubtree(client, query.path, { version, signal });
    return { body: { path: query.path, deletedCount } };
  },
});

const readAcl = viewerRoute("GET /acl", {
  summary: "A node's access list",
  query: atPath,
  reply: z.object({ path, acl, stat }),
  async handle({ client, query, signal }) {
    const found = await client.getAcl(query.path, { signal });
    return {
      body: { path: query.path, acl: aclJson(found.acl), stat: statJson(found.stat) },
      version: found.stat.aversion,
    };
  },
});

const setAcl = editorRoute("PUT /acl", {
  summary: "Replaces a node's access list",
  takesVersion: true,
  query: atPath,
  body: z.strictObject({ acl: writtenAcl }),
  reply: z.object({ path, stat }),
  async handle({ client, query, body, ifMatch, signal }) {
    const written = await client.setAcl(query.path, aclOf(body.acl), { version: neededVersion(ifMatch), signal });
    return { body: { path: query.path, stat: statJson(written) }, version: written.aversion };
  },
});

const transact = editorRoute("POST /multi", {
  summary: "Several writes as one transaction",
  body: multi,
  reply: multiResult,
  async handle({ client, body, signal }) {
    const { ops } = body;
    const results = await transactionOf(client, ops).commit({ signal });
    return {
      body: {
        results: ops.map(({ op, path: at }, i) => {
          const result = results[i];
          if (result === undefined) return { op, path: at };
          return "stat" in result
            ? { op, path: result.path, stat: statJson(result.stat) }
            : { op, path: at, stat: statJson(result) };
        }),
      },
    };
  },
});

export const NODE_ROUTES: readonly Route[] = [
  readNode,
  listChildren,
  createNode,
  setNode,
  deleteNode,
  readAcl,
  setAcl,
  transact,
];

type Results = readonly (Awaited<ReturnType<Client["create"]>> | Awaited<ReturnType<Client["set"]>> | undefined)[];

function transactionOf(client: Client, ops: readonly z.infer<typeof multiOp>[]): Transaction<Results[number][]> {
  let all = client.transaction() as unknown as Transaction<Results[number][]>;
  for (const op of ops) {
    switch (op.op) {
      case "check":
        all = all.check(op.path, op.version) as unknown as typeof all;
        break;
      case "create": {
        const options = op.acl === undefined ? {} : { acl: aclOf(op.acl) };
        const bytes = op.data === undefined ? "" : dataBytes(op.data);
        all = all.create(op.path, bytes, { mode: op.mode, ...options }) as unknown as typeof all;
        break;
      }
      case "set":
        all = all.set(op.path, dataBytes(op.data), { version: op.version ?? -1 }) as unknown as typeof all;
        break;
      case "delete":
        all = all.delete(op.path, { version: op.version ?? -1 }) as unknown as typeof all;
        break;
      default:
        assertNever(op);
    }
  }
  return all;
}

/** A change names the version that it replaces, or `*` for any. */
function neededVersion(ifMatch: number | undefined): number {
  if (ifMatch !== undefined) return ifMatch;
  const detail = "If-Match has the version that was read, in quotes; * replaces any version";
  throw refuse(428, "IF_MATCH_MISSING", "The request has no If-Match", { detail });
}
