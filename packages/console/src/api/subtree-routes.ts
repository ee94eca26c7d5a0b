/**
 * A subtree is exported and imported by pages: the requester has the progress, can stop, and can
 * continue by the cursor.
 */

import { z } from "zod";
import { refuse } from "../http/problem.ts";
import { BODY_LIMITS } from "../http/request-body.ts";
import { exportSubtree } from "../nodes/subtree-export.ts";
import { importNodes } from "../nodes/subtree-import.ts";
import { wholeNumber } from "./query-shapes.ts";
import { type Route, route } from "./route.ts";
import { path } from "./shapes.ts";
import { exportPage, importRequest, importResult } from "./subtree-shapes.ts";

const PAGE_NODES = 500;

const exportRoute = route({
  ...{
    method: "GET",
    path: "/export",
    role: "viewer",
    summary: "A node and its descendants in pages, with access lists",
  },
  query: z.object({
    path,
    after: path.optional().meta({ description: "`next` of the page before" }),
    limit: wholeNumber(1, PAGE_NODES).default(PAGE_NODES),
    reveal: z
      .enum(["true", "false"])
      .optional()
      .meta({ description: "Has data that is masked by its name, too; for editors" }),
  }),
  reply: exportPage,
  async handle({ client, query, signal, role }) {
    const isRevealed = query.reveal === "true";
    if (isRevealed && role === "viewer") throw refuse(403, "ROLE", "Masked data is shown to editors only");
    const { after } = query;
    const prefix = query.path === "/" ? "/" : `${query.path}/`;
    if (after !== undefined && after !== query.path && !after.startsWith(prefix)) {
      const detail = `query.after: expected ${query.path} or a path below it, found ${after}`;
      throw refuse(400, "BAD_ARGUMENTS", "The cursor is not below the path", { detail });
    }
    const options = { path: query.path, after, countMax: query.limit, isRevealed, signal };
    return { body: await exportSubtree(client, options) };
  },
});

const importRoute = route({
  ...{
    method: "POST",
    path: "/import",
    role: "editor",
    summary: "Creates and replaces nodes of a subtree, or answers what it would do. Repeated, it finds the same nodes",
  },
  query: z.object({}),
  body: importRequest,
  // Each node has a path, data, and a list of entries.
  bodyLimits: { ...BODY_LIMITS, valuesMax: 100_000 },
  reply: importResult,
  handle: async ({ client, body, user, signal }) => ({
    body: await importNodes(client, { request: body, identities: user.identities, signal }),
  }),
});

export const SUBTREE_ROUTES: readonly Route[] = [exportRoute, importRoute];
