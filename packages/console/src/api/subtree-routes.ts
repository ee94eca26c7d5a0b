/**
 * A subtree is exported and imported by pages: the requester has the progress, can stop, and can
 * continue by the cursor.
 */

import { z } from "zod";
import { BODY_LIMITS } from "../http/request-body.ts";
import { exportSubtree } from "../nodes/subtree-export.ts";
import { importNodes } from "../nodes/subtree-import.ts";
import { isRevealedTo } from "./masking.ts";
import { checkCursor, wholeNumber } from "./query-shapes.ts";
import { editorRoute, type Route, viewerRoute } from "./route.ts";
import { path, yesNo } from "./shapes.ts";
import { exportPage, importRequest, importResult } from "./subtree-shapes.ts";

const PAGE_NODES = 500;

const exportRoute = viewerRoute("GET /export", {
  summary: "A node and its descendants in pages, with access lists",
  query: z.object({
    path,
    after: path.optional().meta({ description: "`next` of the page before" }),
    limit: wholeNumber(1, PAGE_NODES).default(PAGE_NODES),
    reveal: yesNo.meta({ description: "Has data that is masked by its name, too; for editors" }),
  }),
  reply: exportPage,
  async handle({ client, query, signal, role }) {
    const { path: root, after, limit: countMax } = query;
    const isRevealed = isRevealedTo(role, query.reveal);
    checkCursor(root, "query.after", after);
    return { body: await exportSubtree(client, { path: root, after, countMax, isRevealed, signal }) };
  },
});

const importRoute = editorRoute("POST /import", {
  summary: "Creates and replaces nodes of a subtree, or answers what it would do. Repeated, it finds the same nodes",
  body: importRequest,
  // Each node has a path, data, and a list of entries.
  bodyLimits: { ...BODY_LIMITS, valuesMax: 100_000 },
  reply: importResult,
  handle: async ({ client, body, user, signal }) => ({
    body: await importNodes(client, { request: body, identities: user.identities, signal }),
  }),
});

export const SUBTREE_ROUTES: readonly Route[] = [exportRoute, importRoute];
