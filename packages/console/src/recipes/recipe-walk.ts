import { type ChildrenPage, type Client, isZkError } from "@zooid/client";
import { baseName, joinPath, parentPath } from "@zooid/model";
import type { RecipePartJson } from "../api/recipe-shapes.ts";
import { type Listing, listOf, parentPathOf, recipeAt } from "./recipe-at.ts";

/** Limits of one part. */
const NODES_MAX = 3_000;
const PARENTS_MAX = 300;
const RECIPES_MAX = 100;
const PAGE_SIZE = 1_000;

export interface RecipeWalkPlace {
  readonly path: string;
  /** Where the part before has ended. */
  readonly from: RecipePartJson["next"];
}

/** The children of one node on the way down that are not visited yet. */
interface Level {
  readonly path: string;
  /** Those that have children, of the pages that are read. */
  readonly parents: string[];
  /** The last child that is read. */
  last: string | undefined;
  pages: AsyncGenerator<ChildrenPage, void, undefined> | undefined;
  isRead: boolean;
}

/**
 * Looks at one part of a node's descendants for recipes that are in use: parents before their
 * children, in the order of their names. The place where it ends is enough to continue, also after
 * changes of the tree, so nothing is kept between two parts.
 */
export async function walkRecipes(
  client: Client,
  { path, from }: RecipeWalkPlace,
  signal: AbortSignal,
): Promise<Omit<RecipePartJson, "total">> {
  const recipes: RecipePartJson["recipes"] = [];
  const levels = from === null ? [] : levelsAbove(path, from.path);
  let [scannedCount, parentCount] = [0, 0];
  const isFull = (): boolean =>
    scannedCount >= NODES_MAX || parentCount >= PARENTS_MAX || recipes.length >= RECIPES_MAX;
  let next: string | undefined = from === null ? path : from.isVisited ? undefined : from.path;
  for (;;) {
    if (next !== undefined) {
      if (isFull()) return { recipes, scannedCount, next: { path: next, isVisited: false } };
      const listing = await listOf(client, next, signal);
      parentCount++;
      scannedCount += listing.children.length;
      const found = recipeAt(next, listing.children, listing.hasMore);
      if (found !== undefined) recipes.push(found.recipe);
      // Below the contenders of a recipe there is nothing to find.
      else levels.push(levelOf(next, listing));
    }
    const level = levels.at(-1);
    if (level === undefined) return { recipes, scannedCount, next: null };
    next = level.parents.shift();
    if (next !== undefined) continue;
    if (level.isRead) levels.pop();
    else if (isFull() && level.last !== undefined) {
      return { recipes, scannedCount, next: { path: joinPath(level.path, level.last), isVisited: true } };
    } else scannedCount += await readPage(client, level, signal);
  }
}

/** The way down to a node, each level behind the child on that way. */
function levelsAbove(path: string, from: string): Level[] {
  const levels: Level[] = [];
  for (let at = from; at !== path && at !== "/"; at = parentPath(at)) {
    levels.unshift({ path: parentPath(at), parents: [], last: baseName(at), pages: undefined, isRead: false });
  }
  return levels;
}

function levelOf(path: string, { children, hasMore }: Listing): Level {
  const parents = children.flatMap((child) => parentPathOf(path, child));
  return { path, parents, last: children.at(-1)?.name, pages: undefined, isRead: !hasMore };
}

/**
 * @returns how many children it has. A node that is gone, or that the user may not list, has none
 */
async function readPage(client: Client, level: Level, signal: AbortSignal): Promise<number> {
  const { path, last } = level;
  level.pages ??= client.childPages(path, {
    pageSize: PAGE_SIZE,
    signal,
    ...(last === undefined ? {} : { after: last }),
  });
  try {
    const { value } = await level.pages.next();
    if (value !== undefined) {
      level.parents.push(...value.children.flatMap((child) => parentPathOf(path, child)));
      level.last = value.children.at(-1)?.name ?? last;
      return value.children.length;
    }
  } catch (error) {
    if (!isZkError(error, "NO_NODE") && !isZkError(error, "NO_AUTH")) throw error;
  }
  level.isRead = true;
  return 0;
}
