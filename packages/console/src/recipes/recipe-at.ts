/** The recipe at one node, as its children show it. */
import { type Client, isZkError, type ListedChild } from "@zooid/client";
import { statJson } from "../api/json.ts";
import { looksSecret } from "../api/masking.ts";
import type { ContenderJson, RecipeJson } from "../api/recipe-shapes.ts";
import { recognise } from "./recognise.ts";

/** Children of a node that a recipe is recognised by. */
const CHILDREN_MAX = 200;
const SHOWN_MAX = 50;
const TEXT_CHARS_MAX = 120;

export interface Found {
  readonly recipe: RecipeJson;
  /** All of them, also beyond those that the recipe lists. */
  readonly contenders: readonly ContenderJson[];
}

export interface Listing {
  readonly children: readonly ListedChild[];
  readonly hasMore: boolean;
}

/** A node that is gone, or that the user may not list, has no children to look at. */
export async function listOf(client: Client, path: string, signal: AbortSignal): Promise<Listing> {
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

export function recipeAt(path: string, children: readonly ListedChild[], hasMore: boolean): Found | undefined {
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
      name,
      path: path === "/" ? `/${name}` : `${path}/${name}`,
      sequence,
      state,
      kind: mode,
      owner: json?.ephemeralOwner ?? null,
      since: json?.ctime ?? "0",
      text: texts.get(name) ?? null,
    };
  });
  const holderCount = all.filter(({ state }) => state === "holds").length;
  const recipe: RecipeJson = {
    path,
    kind,
    library,
    holderCount,
    waitingCount: all.length - holderCount,
    contenders: all.slice(0, SHOWN_MAX),
    isCut: hasMore || all.length > SHOWN_MAX,
  };
  return { recipe, contenders: all };
}

/** The path of a child that has children itself, as a list of one or none. */
export function parentPathOf(path: string, { name, stat }: ListedChild): readonly string[] {
  const own = path === "/" ? `/${name}` : `${path}/${name}`;
  return (stat?.numChildren ?? 0) > 0 && own !== "/zookeeper" ? [own] : [];
}

function textOf(path: string, { name, data }: ListedChild): string | null {
  if (data === null || data.length === 0 || looksSecret(name) || looksSecret(path)) return null;
  const text = Buffer.from(data).toString();
  // Bytes that are no text decode to this character.
  return text.includes("\ufffd") ? null : text.slice(0, TEXT_CHARS_MAX * 4);
}
