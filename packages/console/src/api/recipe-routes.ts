import { z } from "zod";
import { refuse } from "../http/problem.ts";
import { walkRecipes } from "../recipes/recipe-walk.ts";
import { recipePart, recipes } from "./recipe-shapes.ts";
import { type Route, route } from "./route.ts";
import { path, yesNo } from "./shapes.ts";

const listRecipes = route({
  ...{ method: "GET", path: "/recipes", role: "viewer", summary: "Locks, elections, queues and groups in use" },
  query: z.object({ path: path.default("/") }),
  reply: recipes,
  handle: async ({ client, query, scans, stopping }) => ({ body: await scans.read(client, query.path, stopping) }),
});

const readPart = route({
  ...{
    method: "GET",
    path: "/recipes/part",
    role: "viewer",
    summary: "Recipes in one part of a tree of any size; requests follow each other by `next`",
  },
  query: z.object({
    path: path.default("/"),
    from: path.optional().meta({ description: "`next.path` of the part before" }),
    isVisited: yesNo.meta({ description: "`next.isVisited` of the part before" }),
  }),
  reply: recipePart,
  async handle({ client, query, signal }) {
    const { path: root, from } = query;
    if (from !== undefined && from !== root && !from.startsWith(root === "/" ? "/" : `${root}/`)) {
      const detail = `query.from: expected ${root} or a path below it, found ${from}`;
      throw refuse(400, "BAD_ARGUMENTS", "The cursor is not below the path", { detail });
    }
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
