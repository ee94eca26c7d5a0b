/**
 * Walks below a node as zkCli walks, with listings of the next siblings asked for ahead of their
 * turn.
 */
import { type Children, type Client, isZkError, type NodeData, type Watched } from "@zooid/client";
import { joinPath } from "@zooid/model";
import type { Watches } from "./connection/watches.ts";

/** Listings in flight for the children of one node. */
const AHEAD_MAX = 32;

/** Names as zkCli prints them: by UTF-16 code units, as Java compares text. */
export function inOrder(names: readonly string[]): string[] {
  return names.toSorted();
}

export interface Visit {
  readonly signal: AbortSignal;
  /** Leaves a watch on the data of the first node and on the children of each. */
  readonly watches?: Watches;
  /** Called for each node, and awaited before the walk continues. */
  visit(path: string): Promise<void> | void;
}

/**
 * Visits a node, then its children in order, then what lies below the first child, and so on.
 *
 * @throws NO_NODE for the first node only: one that goes while the walk is under way is passed over
 */
export async function visitDepthFirst(client: Client, path: string, visit: Visit): Promise<void> {
  const { signal, watches } = visit;
  const found: NodeData & Partial<Watched> = await (watches === undefined
    ? client.get(path, { signal })
    : client.get(path, { watch: true, signal }));
  watches?.addOneShot("data", path, found.watch);
  await visit.visit(path);
  await visitBelow({ client, path, names: await list(client, path, visit) }, visit);
}

interface Listed {
  readonly client: Client;
  readonly path: string;
  readonly names: readonly string[];
}

async function visitBelow({ client, path, names }: Listed, visit: Visit): Promise<void> {
  const children = names.map((name) => joinPath(path, name));
  for (const child of children) await visit.visit(child);
  const ahead: Promise<readonly string[]>[] = [];
  for (const [index, child] of children.entries()) {
    while (ahead.length < AHEAD_MAX && index + ahead.length < children.length) {
      const listing = list(client, children[index + ahead.length] ?? child, visit);
      // The first error in order is reported; the others are dropped.
      listing.catch(() => undefined);
      ahead.push(listing);
    }
    await visitBelow({ client, path: child, names: (await ahead.shift()) ?? [] }, visit);
  }
}

async function list(client: Client, path: string, { signal, watches }: Visit): Promise<readonly string[]> {
  try {
    const found: Children & Partial<Watched> = await (watches === undefined
      ? client.children(path, { signal })
      : client.children(path, { watch: true, signal }));
    watches?.addOneShot("child", path, found.watch);
    return inOrder(found.names);
  } catch (error) {
    if (isZkError(error, "NO_NODE")) return [];
    throw error;
  }
}

/** A node and everything below it, each before its children. */
export async function listBreadthFirst(client: Client, path: string, signal: AbortSignal): Promise<readonly string[]> {
  const paths = [path];
  const { names } = await client.children(path, { signal });
  let level = inOrder(names).map((name) => joinPath(path, name));
  while (level.length > 0) {
    const next: string[] = [];
    for (let at = 0; at < level.length; at += AHEAD_MAX) {
      const parents = level.slice(at, at + AHEAD_MAX);
      const listings = await Promise.all(
        parents.map((parent) => list(client, parent, { signal, visit: () => undefined })),
      );
      // One by one: a spread of a million arguments does not fit on the stack.
      listings.forEach((children, index) => {
        for (const name of children) next.push(joinPath(parents[index] ?? "", name));
      });
    }
    for (const parent of level) paths.push(parent);
    level = next;
  }
  return paths;
}
