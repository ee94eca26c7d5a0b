import { type Client, isZkError, type ListedChild } from "@zooid/client";
import { statJson } from "../api/json.ts";
import { looksSecret } from "../api/masking.ts";
import type { ContenderJson, RecipeJson, RecipesJson } from "../api/recipe-shapes.ts";
import { recognise } from "./recognise.ts";
import { type Queue, waitGraph } from "./wait-graph.ts";

const NODES_MAX = 3_000;
const PARENTS_MAX = 300;
const CHILDREN_MAX = 200;
const SHOWN_MAX = 50;
const RECIPES_MAX = 100;
const TEXT_CHARS_MAX = 120;
/** A candidate of an election goes on with other work. */
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

interface Found {
  readonly recipe: RecipeJson;
  /** All of them, also beyond those that the recipe lists. */
  readonly contenders: readonly ContenderJson[];
}

interface Listing {
  readonly children: readonly ListedChild[];
  readonly hasMore: boolean;
}

/** A node that is gone, or that the user may not list, has no children to look at. */
async function listOf(client: Client, path: string, signal: AbortSignal): Promise<Listing> {
  try {
    for await (const { children, stat } of client.childPages(path, {
      detail: "data",
      pageSize: CHILDREN_MAX,
      signal,
    })) {
      return { children, hasMore: stat.numChildren > children.length };
    }
  } catch (error) {
    if (!isZkError(error, "NO_NODE") && !isZkError(error, "NO_AUTH")) throw error;
  }
  return { children: [], hasMore: false };
}

function recipeAt(path: string, children: readonly ListedChild[], hasMore: boolean): Found | undefined {
  const texts = new Map(children.map((child) => [child.name, textOf(path, child)]));
  const found = recognise(
    children.map(({ name, stat }) => ({
      name,
      isEphemeral: stat !== null && stat.ephemeralOwner !== 0n,
      hasChildren: (stat?.numChildren ?? 0) > 0,
      text: texts.get(name) ?? null,
    })),
  );
  if (found === undefined) return undefined;
  const stats = new Map(children.map(({ name, stat }) => [name, stat]));
  const { kind, library, contenders } = found;
  const all = contenders.map(({ name, sequence, state, mode }): ContenderJson => {
    const stat = stats.get(name) ?? undefined;
    const json = stat === undefined ? undefined : statJson(stat);
    return {
      ...{ name, path: path === "/" ? `/${name}` : `${path}/${name}`, sequence, state, kind: mode },
      owner: json?.ephemeralOwner ?? null,
      since: json?.ctime ?? "0",
      text: texts.get(name) ?? null,
    };
  });
  const holderCount = all.filter(({ state }) => state === "holds").length;
  const recipe: RecipeJson = {
    ...{ path, kind, library, holderCount, waitingCount: all.length - holderCount },
    contenders: all.slice(0, SHOWN_MAX),
    isCut: hasMore || all.length > SHOWN_MAX,
  };
  return { recipe, contenders: all };
}

function parentPathOf(path: string, { name, stat }: ListedChild): readonly string[] {
  const own = path === "/" ? `/${name}` : `${path}/${name}`;
  return (stat?.numChildren ?? 0) > 0 && own !== "/zookeeper" ? [own] : [];
}

function textOf(path: string, { name, data }: ListedChild): string | null {
  if (data === null || data.length === 0 || looksSecret(name) || looksSecret(path)) return null;
  const text = Buffer.from(data).toString();
  // Bytes that are no text decode to this character.
  return text.includes("\ufffd") ? null : text.slice(0, TEXT_CHARS_MAX * 4);
}
