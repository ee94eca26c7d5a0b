import { z } from "zod";
import { recipes } from "./recipe-shapes.ts";
import { type Route, route } from "./route.ts";
import { path } from "./shapes.ts";

const listRecipes = route({
  ...{ method: "GET", path: "/recipes", role: "viewer", summary: "Locks, elections, queues and groups in use" },
  query: z.object({ path: path.default("/") }),
  reply: recipes,
  handle: async ({ client, query, scans, stopping }) => ({ body: await scans.read(client, query.path, stopping) }),
});

export const RECIPE_ROUTES: readonly Route[] = [listRecipes];
