/**
 * A subtree in pages, each node behind its parent and siblings by name. The cursor is the last node
 * of a page, so a page needs nothing of those before it.
 */
import { type Client, isZkError, type ListedChild } from "@zooid/client";
import { joinPath, parentPath } from "@zooid/model";
import { aclJson } from "@zooid/model/subtree-file";
import { maskedData } from "../api/masking.ts";
import type { ExportedNodeJson, ExportPageJson } from "../api/subtree-shapes.ts";

/** The servers' own nodes, which no export of the whole tree has. */
const RESERVED = "/zookeeper";
const LISTED = 50;
const PAGE_BYTES_MAX = 4 * 1024 * 1024;

export interface ExportOptions {
  readonly path: string;
  /** The cursor of the page before. */
  readonly after: string | undefined;
  readonly countMax: number;
  readonly isRevealed: boolean;
  readonly signal: AbortSignal;
}

interface Found {
  readonly path: string;
  readonly data: Uint8Array | null;
}

/** Nodes that are left out. */
interface Left {
  ephemeralCount: number;
  unreadableCount: number;
}

export async function exportSubtree(client: Client, options: ExportOptions): Promise<ExportPageJson> {
  const { path, after, countMax, isRevealed, signal } = options;
  const left: Left = { ephemeralCount: 0, unreadableCount: 0 };
  const found: Found[] = [];
  let sizeBytes = 0;
  let next: string | null = null;
  let counted: Readonly<Left> = left;
  for await (const node of walk(client, options, left)) {
    if (found.length >= countMax || (found.length > 0 && sizeBytes + (node.data?.length ?? 0) > PAGE_BYTES_MAX)) {
      next = found.at(-1)?.path ?? null;
      break;
    }
    found.push(node);
    // The next page counts those behind this node once more.
    counted = { ...left };
    sizeBytes += node.data?.length ?? 0;
  }
  const total = after === undefined ? await countOf(client, path, signal) : null;
  const nodes = await Promise.all(
    found.map(async ({ path: at, data }): Promise<ExportedNodeJson> => {
      const acl = await aclOf(client, at, signal);
      return { path: relative(path, at), ...maskedData(at, data, isRevealed), acl };
    }),
  );
  return { path, nodes, next, total, ...(next === null ? left : counted) };
}

async function* walk(
  client: Client,
  { path, after, signal }: ExportOptions,
  left: Left,
): AsyncGenerator<Found, void, undefined> {
  const listing: Listing = { client, signal, left };
  if (after === undefined) {
    yield { path, data: (await client.get(path, { signal })).data };
    yield* below(listing, path, undefined);
    return;
  }
  // What is left below the cursor, then behind it, then behind each of its ancestors.
  yield* below(listing, after, undefined);
  for (let at = after; at !== path; at = parentPath(at)) {
    yield* below(listing, parentPath(at), at.slice(at.lastIndexOf("/") + 1));
  }
}

interface Listing {
  readonly client: Client;
  readonly signal: AbortSignal;
  readonly left: Left;
}

async function* below(
  listing: Listing,
  path: string,
  after: string | undefined,
): AsyncGenerator<Found, void, undefined> {
  for await (const child of childrenOf(listing, path, after)) {
    const at = joinPath(path, child.name);
    if (at === RESERVED) continue;
    if (child.stat === null) listing.left.unreadableCount++;
    else if (child.stat.ephemeralOwner !== 0n) listing.left.ephemeralCount++;
    else {
      yield { path: at, data: child.data };
      if (child.stat.numChildren > 0) yield* below(listing, at, undefined);
    }
  }
}

/**
 * A node that goes meanwhile has no children, and one whose children the user may not list neither.
 */
async function* childrenOf(
  { client, signal, left }: Listing,
  path: string,
  after: string | undefined,
): AsyncGenerator<ListedChild, void, undefined> {
  const options = { detail: "data", pageSize: LISTED, signal, ...(after === undefined ? {} : { after }) } as const;
  try {
    for await (const { children } of client.childPages(path, options)) yield* children;
  } catch (error) {
    if (isZkError(error, "NO_AUTH")) left.unreadableCount++;
    else if (!isZkError(error, "NO_NODE")) throw error;
  }
}

async function aclOf(client: Client, path: string, signal: AbortSignal) {
  try {
    const { acl } = await client.getAcl(path, { signal });
    return acl.length === 0 ? null : aclJson(acl);
  } catch (error) {
    if (isZkError(error, "NO_AUTH") || isZkError(error, "NO_NODE")) return null;
    throw error;
  }
}

/** With the node itself. */
async function countOf(client: Client, path: string, signal: AbortSignal): Promise<number | null> {
  try {
    return 1 + (await client.getAllChildrenNumber(path, { signal }));
  } catch (error) {
    // Servers before 3.6 do not have the request.
    if (isZkError(error, "UNIMPLEMENTED") || isZkError(error, "NO_AUTH")) return null;
    throw error;
  }
}

function relative(root: string, path: string): string {
  return root === "/" ? (path === "/" ? "" : path) : path.slice(root.length);
}
