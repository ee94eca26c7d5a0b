import { joinPath } from "@zooid/model";
import type { CallOptions } from "../calls/call.ts";
import type { RetryPolicy } from "../calls/retry.ts";
import { isZkError, zkError } from "../errors.ts";
import { deleteOnce, isLost } from "./idempotent.ts";
import type { NodeOperations } from "./node-operations.ts";
import type { ChildPagesOptions, DeleteTreeOptions } from "./node-options.ts";
import type { Transaction } from "./transaction.ts";

const BATCH = 200;
/** Names are short; a small page fits any limit on answers. */
const PAGE_SIZE = 100;

interface ChildReader {
  eachChild(path: string, options: ChildPagesOptions): AsyncIterable<{ readonly name: string }>;
}

/** Deletes the descendants of a node, and the node: see `Client.deleteTree`. */
export async function deleteTree(
  client: { readonly nodes: NodeOperations; readonly transaction: () => Transaction } & ChildReader,
  path: string,
  options: DeleteTreeOptions,
  policy: RetryPolicy,
): Promise<number> {
  const { nodes } = client;
  const { batch = BATCH, childrenOnly = false, atomic = false, signal, retry, timeoutMs } = options;
  if (!Number.isInteger(batch) || batch < 1) throw new RangeError(`batch is a whole number from 1 on, found ${batch}`);
  const isWholeTree = nodes.root === "/" && path === "/";
  if (isWholeTree && !childrenOnly) {
    const message = "deleteTree: the root cannot be deleted; childrenOnly takes what is below it";
    throw zkError({ code: "BAD_ARGUMENTS", op: "deleteTree", path, outcome: "not-sent", message });
  }
  const endMs = timeoutMs === undefined ? undefined : performance.now() + timeoutMs;
  // The limit applies to the whole operation.
  const limits = (): CallOptions => ({
    signal,
    retry,
    ...(endMs === undefined ? {} : { timeoutMs: Math.max(0, endMs - performance.now()) }),
  });
  const reads = (): CallOptions & { readonly sync: true } => ({ ...limits(), sync: true });
  let count = 0;

  /** One transaction, repeated as often as other clients changed the tree after it was listed. */
  async function deleteAtOnce(): Promise<void> {
    const startMs = performance.now();
    for (let attempt = 1; ; attempt++) {
      const found = (await listLevels(path)).flat().slice(childrenOnly ? 1 : 0);
      if (found.length === 0 || (!childrenOnly && (await nodes.exists(path, limits())) === null)) return;
      const all = client.transaction();
      for (const node of found.reverse()) all.delete(node);
      count = found.length;
      try {
        await all.commit(limits());
        return;
      } catch (error) {
        if (isZkError(error, "NOT_EMPTY") || isZkError(error, "NO_NODE")) {
          count = 0;
          continue;
        }
        // The next listing shows whether it was carried out.
        const elapsedMs = performance.now() - startMs;
        if (!isLost(error) || policy({ count: attempt, elapsedMs, error }) === false) throw error;
      }
    }
  }

  async function deleteNode(node: string): Promise<void> {
    for (;;) {
      try {
        await deleteOnce(nodes, { path: node, policy }, limits());
        count++;
        return;
      } catch (error) {
        if (isZkError(error, "NO_NODE")) return;
        if (!isZkError(error, "NOT_EMPTY")) throw error;
      }
      // Another client has created a child meanwhile.
      await deleteChildren(node);
    }
  }

  /** Lists all descendants from the top down, then deletes them from the bottom up. */
  async function deleteChildren(root: string): Promise<void> {
    for (const level of (await listLevels(root)).slice(1).reverse()) await inBatches(level, batch, deleteNode);
  }

  async function listLevels(root: string): Promise<readonly string[][]> {
    const levels: string[][] = [[root]];
    for (let level = levels[0] ?? []; level.length > 0; level = levels.at(-1) ?? []) {
      const below: string[] = [];
      await inBatches(level, batch, async (node) => {
        for (const name of await namesBelow(node)) {
          // The server's own nodes stay.
          if (!(isWholeTree && node === "/" && name === "zookeeper")) below.push(joinPath(node, name));
        }
      });
      levels.push(below);
    }
    return levels;
  }

  async function namesBelow(node: string): Promise<readonly string[]> {
    try {
      return (await nodes.children(node, node === path ? reads() : limits())).names;
    } catch (error) {
      if (isZkError(error, "NO_NODE")) return [];
      // A listing that is too long for the server or this client is read in pages.
      if (!isZkError(error, "PACKET_TOO_LARGE") && !isZkError(error, "MARSHALLING_ERROR")) throw error;
    }
    const names: string[] = [];
    for await (const { name } of client.eachChild(node, { ...limits(), detail: "names", pageSize: PAGE_SIZE }))
      names.push(name);
    return names;
  }

  if (atomic) {
    await deleteAtOnce();
    return count;
  }
  await deleteChildren(path);
  if (!childrenOnly) await deleteNode(path);
  return count;
}

async function inBatches<T>(items: readonly T[], size: number, work: (item: T) => Promise<void>): Promise<void> {
  for (let at = 0; at < items.length; at += size) await Promise.all(items.slice(at, at + size).map(work));
}
