import {
  type Children,
  type Client,
  type Created,
  isZkError,
  type Payload,
  type Stat,
  type Watched,
} from "@zooid/client";
import { orNull } from "./refusals.ts";

export interface NamedNode {
  readonly path: string;
  readonly data: Payload;
  readonly mode: "persistent" | "ephemeral" | "container";
  readonly signal?: AbortSignal | undefined;
}

/**
 * Creates a node of a fixed name, and its ancestors as containers. An existing node counts as
 * taken, unless it is ephemeral and of this session after a lost answer.
 *
 * @returns null where the name is taken
 */
export async function makeNamed(zk: Client, { path, data, mode, signal }: NamedNode): Promise<Created | null> {
  let isInDoubt = false;
  for (;;) {
    try {
      return await zk.create(path, data, { mode, parents: "container", signal });
    } catch (error) {
      if (!isZkError(error)) throw error;
      if (error.code === "NODE_EXISTS") {
        const stat = isInDoubt && mode === "ephemeral" ? await zk.exists(path, { signal }) : null;
        return stat !== null && stat.ephemeralOwner === zk.sessionId ? { path, stat } : null;
      }
      // The repeated request waits for the next connection.
      if (error.code !== "CONNECTION_LOSS" || error.outcome !== "unknown") throw error;
      isInDoubt = true;
    }
  }
}

/** Writes a node unconditionally, or creates it. */
export async function put(zk: Client, path: string, data: Payload, signal?: AbortSignal): Promise<Stat> {
  for (;;) {
    const stat = await orNull(zk.set(path, data, { signal }), "NO_NODE");
    if (stat !== null) return stat;
    const made = await makeNamed(zk, { path, data, mode: "persistent", signal });
    if (made !== null) return made.stat;
  }
}

/** The names of the children, in order; none if the node does not exist. */
export async function namesBelow(zk: Client, path: string, signal?: AbortSignal): Promise<readonly string[]> {
  const listing = await orNull(zk.children(path, { signal }), "NO_NODE");
  return listing?.names.sort() ?? [];
}

/**
 * The children, with a watch on them. The parent is removed after it was empty for a while, and
 * created again.
 */
export async function watchedChildren(zk: Client, path: string, signal: AbortSignal): Promise<Children & Watched> {
  for (;;) {
    const listing = await orNull(zk.children(path, { watch: true, signal }), "NO_NODE");
    if (listing !== null) return listing;
    await makeNamed(zk, { path, data: "", mode: "container", signal });
  }
}
