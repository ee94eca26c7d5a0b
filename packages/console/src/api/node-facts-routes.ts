/** Facts of a node beside its data: the rights of the user, and the quota that holds for it. */
import { z } from "zod";
import { readRights } from "../nodes/effective-rights.ts";
import { readQuota } from "../nodes/quota.ts";
import { quota, rights } from "./node-fact-shapes.ts";
import { type Route, viewerRoute } from "./route.ts";
import { path } from "./shapes.ts";

const readRightsOf = viewerRoute("GET /rights", {
  summary: "What the user may do with a node, by access lists",
  query: z.object({ path }),
  reply: rights,
  handle: async ({ client, query, user, signal }) => ({
    body: await readRights(client, query.path, user, signal),
  }),
});

const readQuotaOf = viewerRoute("GET /quota", {
  summary: "The quota that holds for a node: its use and limits",
  query: z.object({ path }),
  reply: quota,
  handle: async ({ client, query, signal }) => ({ body: await readQuota(client, query.path, signal) }),
});

export const NODE_FACTS_ROUTES: readonly Route[] = [readRightsOf, readQuotaOf];
