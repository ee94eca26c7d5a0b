import { z } from "zod";
import { scanRecipes } from "../recipes/recipe-scan.ts";
import { type Route, route } from "./route.ts";
import { path, recipes } from "./shapes.ts";

const listRecipes = route({
  ...{ method: "GET", path: "/recipes", role: "viewer", summary: "Locks, elections, queues and groups in use" },
  query: z.object({ path: path.default("/") }),
  reply: recipes,
  handle: async ({ client, query, signal }) => ({ body: await scanRecipes(client, query.path, signal) }),
});

export const RECIPE_ROUTES: readonly Route[] = [listRecipes];
