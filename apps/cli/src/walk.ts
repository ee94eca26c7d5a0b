/**
 * Walks a subtree of any size: parents before their children, siblings in the order of their
 * names, and in memory one page of children for each level.
 */
import { type ChildrenPage, type Client, isZkError } from "@zooid/client";
import { counted, joinPath, type Stat } from "@zooid/model";
import type { Output } from "./output.ts";

export interface WalkedNode {
  readonly path: string;
  /** The levels below the node where the walk began, which has 0. */
  readonly depth: number;
  /** Null where the access list does not permit a read: then nothing below is visited. */
  readonly stat: Stat | null;
  /** Null for a node without data, and in a walk that asks for Stats only. */
  readonly data: Uint8Array | null;
}

export interface WalkOptions {
  readonly detail: "stats" | "data";
  readonly signal: AbortSignal;
  /** Levels to visit below the first node; default all. */
  readonly depthMax?: number;
}

/** First pages requested ahead, for the siblings with children that come next. */
const AHEAD_MAX = 16;
/**
 * Children on a page with data, for servers without pages: each of them is one read of up to 1 MiB.
 */
const DATA_PAGE_SIZE = 100;

/**
 * Nodes that are deleted while the walk is under way are left out.
 *
 * @throws NO_NODE and NO_AUTH for the first node only
 */
export async function* walk(
  client: Client,
  path: string,
  options: WalkOptions,
): AsyncGenerator<WalkedNode, void, undefined> {
  const { signal, depthMax = Number.POSITIVE_INFINITY } = options;
  const { data, stat } = await client.get(path, { signal });
  yield { path, depth: 0, stat, data };
  if (depthMax > 0 && stat.numChildren > 0) yield* walkBelow(new Children(client, path, options), 1, options);
}

async function* walkBelow(
  level: Children,
  depth: number,
  options: WalkOptions,
): AsyncGenerator<WalkedNode, void, undefined> {
  const { depthMax = Number.POSITIVE_INFINITY } = options;
  for (;;) {
    const page = await level.next();
    if (page === undefined) return;
    const nodes = page.children.map(({ name, stat, data }) => ({
      path: joinPath(level.path, name),
      depth,
      stat,
      data,
    }));
    const parents = depth < depthMax ? nodes.filter(({ stat }) => stat !== null && stat.numChildren > 0) : [];
    const ahead: Children[] = [];
    let started = 0;
    for (const node of nodes) {
      yield node;
      if (parents[started - ahead.length] !== node) continue;
      for (const next of parents.slice(started, started + AHEAD_MAX - ahead.length)) {
        ahead.push(new Children(level.client, next.path, options));
        started++;
      }
      const below = ahead.shift();
      if (below !== undefined) yield* walkBelow(below, depth + 1, options);
    }
  }
}

/** The pages of one node, the first of them requested at once. */
class Children {
  readonly client: Client;
  readonly path: string;
  readonly #pages: AsyncGenerator<ChildrenPage, void, undefined>;
  #first: Promise<IteratorResult<ChildrenPage, void>> | undefined;

  constructor(client: Client, path: string, { detail, signal }: WalkOptions) {
    this.client = client;
    this.path = path;
    this.#pages = client.childPages(path, { detail, signal, ...(detail === "data" && { pageSize: DATA_PAGE_SIZE }) });
    this.#first = this.#pages.next();
    // It is reported when its turn comes, if it comes.
    this.#first.catch(() => undefined);
  }

  /**
   * Undefined after the last one, and for a node that was deleted or may not be listed any more.
   */
  async next(): Promise<ChildrenPage | undefined> {
    try {
      const result = await (this.#first ?? this.#pages.next());
      return result.done === true ? undefined : result.value;
    } catch (error) {
      if (isZkError(error, "NO_NODE") || isZkError(error, "NO_AUTH")) return undefined;
      throw error;
    } finally {
      this.#first = undefined;
    }
  }
}

/** The order of a walk: a parent before its children, siblings by their names. */
export function comparePaths(a: string, b: string): number {
  if (a === b) return 0;
  // A slash is less than any letter of a name here, though not in its code.
  const key = (path: string): string => path.replaceAll("/", "\0");
  return key(a) < key(b) ? -1 : 1;
}

/** The last part of a path; empty for the root. */
export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** A path of one subtree, in another: `/a/x` under `/b` instead of `/a` is `/b/x`. */
export function movedPath(path: string, from: string, to: string): string {
  const below = path.slice(from === "/" ? 0 : from.length);
  if (below === "" || below === "/") return to;
  return to === "/" ? below : `${to}${below}`;
}

/** Says how many nodes a walk could not read, and what that means for one and for several. */
export function noteForbidden(output: Output, count: number, [one, several]: readonly [string, string]): void {
  if (count > 0) output.note(`${counted(count, "node")} may not be read${count === 1 ? one : several}`);
}
