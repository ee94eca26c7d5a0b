import type { Client } from "@zooid/client";
import type { RecipeJson, RecipesJson } from "../api/recipe-shapes.ts";
import { listOf, parentPathOf, recipeAt } from "./recipe-at.ts";
import { type Queue, waitGraph } from "./wait-graph.ts";

const NODES_MAX = 3_000;
const PARENTS_MAX = 300;
const RECIPES_MAX = 100;
/** Kinds whose waiting contenders do no other work. A candidate of an election does. */
const BLOCKING: ReadonlySet<RecipeJson["kind"]> = new Set(["lock", "read-write lock"]);

/** Looks at a node and its descendants, level by level, for recipes that are in use. */
export async function scanRecipes(
  client: Client,
  path: string,
  signal: AbortSignal,
): Promise<Omit<RecipesJson, "intervalMs">> {
  const recipes: RecipeJson[] = [];
  const queues: Queue[] = [];
  const waiting = [path];
  let [scannedCount, parentCount, isCut] = [0, 0, false];
  for (let at = waiting.shift(); at !== undefined; at = waiting.shift()) {
    if (scannedCount >= NODES_MAX || ++parentCount > PARENTS_MAX || recipes.length >= RECIPES_MAX) {
      isCut = true;
      break;
    }
    const { children, hasMore } = await listOf(client, at, signal);
    scannedCount += children.length;
    isCut ||= hasMore;
    const found = recipeAt(at, children, hasMore);
    if (found !== undefined) {
      const { recipe, contenders } = found;
      recipes.push(recipe);
      if (BLOCKING.has(recipe.kind)) queues.push({ path: at, contenders });
    }
    // Below the contenders of a recipe there is nothing to find.
    else waiting.push(...children.flatMap((child) => parentPathOf(at, child)));
  }
  const { waits, cycles, isCut: areWaitsCut } = waitGraph(queues);
  return { recipes, waits: [...waits], cycles: [...cycles], scannedCount, isCut: isCut || areWaitsCut };
}
