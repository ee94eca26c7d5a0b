/** Deletes a node and its descendants in one transaction, if the node has the expected version. */
import { type Client, isZkError } from "@zooid/client";
import { joinPath } from "@zooid/model";
import { refuse } from "../http/problem.ts";

/** Descendants of one subtree. */
export const DELETED_MAX = 10_000;
/** Listings at a time. */
const LISTED = 64;
/** Transactions, each after other clients have changed the subtree since it was listed. */
const ATTEMPTS_MAX = 8;

export interface SubtreeDeletion {
  /** Expected version of the subtree's root; -1 for any. */
  readonly version: number;
  readonly signal: AbortSignal;
}

/**
 * The version is compared first, so that a stale request costs one read, and once more within the
 * transaction.
 *
 * @returns the number of deleted nodes
 * @throws ProblemError BAD_VERSION, TOO_MANY_NODES, SUBTREE_CHANGES; ZkError such as NO_NODE and
 *   NO_AUTH; in all these cases nothing is deleted
 */
export async function deleteSubtree(
  client: Client,
  path: string,
  { version, signal }: SubtreeDeletion,
): Promise<number> {
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    await demandVersion(client, path, { version, signal });
    const count = await client.getAllChildrenNumber(path, { signal });
    if (count > DELETED_MAX) {
      const detail = `it has ${count} descendants; zooid-cli deleteall takes any number`;
      throw refuse(422, "TOO_MANY_NODES", `At most ${DELETED_MAX} nodes are deleted at once`, { detail });
    }
    if (version === -1) return await client.deleteTree(path, { atomic: true, signal });
    const below = await descendants(client, path, signal);
    const all = client.transaction();
    for (const node of below.reverse()) all.delete(node);
    all.delete(path, { version });
    try {
      await all.commit({ signal });
      return below.length + 1;
    } catch (error) {
      if (isZkError(error, "BAD_VERSION")) throw badVersion(path, version);
      if (!isZkError(error, "NOT_EMPTY") && !isZkError(error, "NO_NODE")) throw error;
    }
  }
  const detail = `${ATTEMPTS_MAX} times another client created or deleted nodes below ${path} meanwhile`;
  throw refuse(409, "SUBTREE_CHANGES", "The subtree changes all the time", { detail, path, outcome: "rejected" });
}

async function demandVersion(client: Client, path: string, { version, signal }: SubtreeDeletion): Promise<void> {
  if (version === -1) return;
  const stat = await client.exists(path, { signal });
  // A node that is not there is the error of the next request.
  if (stat !== null && stat.version !== version) throw badVersion(path, version);
}

function badVersion(path: string, version: number): Error {
  const detail = `the node's version is not ${version}: read it again`;
  return refuse(412, "BAD_VERSION", "Bad version", { detail, errno: -103, path, outcome: "rejected" });
}

/** Each behind its parent, without the root. */
async function descendants(client: Client, root: string, signal: AbortSignal): Promise<string[]> {
  const found = [root];
  for (let at = 0; at < found.length; ) {
    const listed = found.slice(at, at + LISTED);
    at += listed.length;
    const names = await Promise.all(listed.map((path) => namesBelow(client, path, signal)));
    listed.forEach((path, i) => {
      for (const name of names[i] ?? []) found.push(joinPath(path, name));
    });
  }
  return found.slice(1);
}

async function namesBelow(client: Client, path: string, signal: AbortSignal): Promise<readonly string[]> {
  try {
    return (await client.children(path, { signal })).names;
  } catch (error) {
    // Deleted meanwhile.
    if (isZkError(error, "NO_NODE")) return [];
    throw error;
  }
}
