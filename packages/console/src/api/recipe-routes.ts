import { z } from "zod";
import { walkRecipes } from "../recipes/recipe-walk.ts";
import { checkCursor } from "./query-shapes.ts";
import { recipePart, recipes } from "./recipe-shapes.ts";
import { type Route, viewerRoute } from "./route.ts";
import { path, yesNo } from "./shapes.ts";

const listRecipes = viewerRoute("GET /recipes", {
  summary: "Locks, elections, queues and groups in use",
  query: z.object({ path: path.default("/") }),
  reply: recipes,
  handle: async ({ client, query, scans, stopping }) => ({ body: await scans.read(client, query.path, stopping) }),
});

const readPart = viewerRoute("GET /recipes/part", {
  summary: "Recipes in one part of a tree of any size; requests follow each other by `next`",
  query: z.object({
    path: path.default("/"),
    from: path.optional().meta({ description: "`next.path` of the part before" }),
    isVisited: yesNo.meta({ description: "`next.isVisited` of the part before" }),
  }),
  reply: recipePart,
  async handle({ client, query, signal }) {
    const { path: root, from } = query;
    checkCursor(root, "query.from", from);
    const place = from === undefined ? null : { path: from, isVisited: query.isVisited === "true" };
    const [part, total] = await Promise.all([
      walkRecipes(client, { path: root, from: place }, signal),
      // Servers before 3.6 do not count.
      from === undefined ? client.getAllChildrenNumber(root, { signal }).catch(() => null) : null,
    ]);
    return { body: { ...part, total } };
  },
});

export const RECIPE_ROUTES: readonly Route[] = [listRecipes, readPart];
